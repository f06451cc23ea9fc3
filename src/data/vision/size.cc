// Records: resizing.
#include "data/vision/crop.h"
#include "data/vision/resize.h"
#include "data/vision/step.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

// One int: the shorter side, proportions kept; two: (height, width).
std::function<Size(int64_t, int64_t)> target(const Options& o) {
  const Size size = size_option(o, "size");
  if (o.ints("size").size() == 2) return [size](int64_t, int64_t) { return size; };
  return [size](int64_t h, int64_t w) { return keep_ratio(h, w, size.h); };
}

Tensor resized(const Tensor& t, const std::function<Size(int64_t, int64_t)>& target,
               Filter filter) {
  const Extent e = extent_of(t);
  const Size to = target(e.h, e.w);
  return to.h == e.h && to.w == e.w ? t : resize(t, to, filter);
}

const TransformDef kResize{
    .name = "vision.Resize",
    .doc =
        "The image in another size: (height, width), or one int for the shorter side with the "
        "proportions kept. BILINEAR, BICUBIC, NEAREST and AREA sample as OpenCV does, ANTIALIAS "
        "(Lanczos) and PILCUBIC as Pillow does. [..., h, w] or [..., h, w, c] of uint8, int16, "
        "uint16, float32 or float64 (NEAREST: any dtype), same dtype. ValueError: a size of 0, "
        "or more than 1000 times as large.",
    .args = {"size: ints", "interpolation: Inter = BILINEAR"},
    .make =
        [](const Options& o) {
          const auto to = target(o);
          const Filter f = filter_of(o.choice("interpolation"));
          return with_steps(image_transform([to, f](const Tensor& t) { return resized(t, to, f); }),
                            {ResizeStep{to, f}});
        },
};

const TransformDef kRandomResize{
    .name = "vision.RandomResize",
    .doc =
        "Resize with an interpolation drawn from BILINEAR, NEAREST, BICUBIC and AREA, each "
        "equally likely.",
    .args = {"size: ints"},
    .make =
        [](const Options& o) {
          return random_image_transform([to = target(o)](const Tensor& t, Philox& draw) {
            return resized(t, to, any_filter(draw));
          });
        },
};

const TransformDef kResizedCrop{
    .name = "vision.ResizedCrop",
    .doc =
        "The rectangle of `height` x `width` pixels at row `top`, column `left`, resized to "
        "`size`. ValueError when it leaves the image.",
    .args = {"top: int", "left: int", "height: int", "width: int", "size: ints",
             "interpolation: Inter = BILINEAR"},
    .make =
        [](const Options& o) {
          const Crop r = rectangle_option(o);
          return image_transform([r, to = size_option(o, "size"),
                                  f = filter_of(o.choice("interpolation"))](const Tensor& t) {
            return resize(crop(t, r), to, f);
          });
        },
};

const TransformDef kRandomResizedCrop{
    .name = "vision.RandomResizedCrop",
    .doc =
        "A random rectangle, resized to `size`: its area is a part of the image's drawn evenly "
        "from `scale`, its width over its height is drawn evenly in logarithm from `ratio`; "
        "after `max_attempts` that do not fit, the largest fitting one in the middle (C. Szegedy "
        "et al., \"Going deeper with convolutions\", 2015).",
    .args = RandomArea::resized_args(),
    .make =
        [](const Options& o) {
          const RandomArea area(o);
          const Size to = size_option(o, "size");
          const Filter f = filter_of(o.choice("interpolation"));
          return with_steps(random_image_transform([=](const Tensor& t, Philox& draw) {
                              const Extent e = extent_of(t);
                              return resize(t, area.choose(e.h, e.w, draw), to, f);
                            }),
                            area_steps(area, to, f));
        },
};

}  // namespace

TransformDefs size_transforms() {
  return {&kResize, &kRandomResize, &kResizedCrop, &kRandomResizedCrop};
}

}  // namespace mycel::data::vision
