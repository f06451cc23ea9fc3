// Records: rectangles of an image overwritten.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "data/vision/crop.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

// Where channel, row and column lie: channels last, or first.
struct Layout {
  int64_t h, w, c, pixel, row, channel;
};
Layout layout_of(const Tensor& t, bool hwc) {
  const Extent e = extent_of(t);
  if (e.flat) value_error("expected an image with channels, got {}", t.describe());
  if (hwc) return {e.h, e.w, e.c, e.c, e.w * e.c, 1};
  return {e.w, e.c, e.h, 1, e.c, e.w * e.c};
}

Tensor copy(const Tensor& t) {
  Tensor out = Tensor::empty(t.dtype(), t.shape());
  std::memcpy(out.mutable_raw(), t.raw(), t.bytes());
  return out;
}

// The part of `r` inside the image gets value(channel).
template <typename F>
void fill(Tensor* t, const Layout& l, const Crop& r, F&& value) {
  const int64_t bottom = std::min(l.h, r.top + r.h), right = std::min(l.w, r.left + r.w);
  for (int64_t k = 0; k < l.c; ++k)
    for (int64_t y = std::max<int64_t>(0, r.top); y < bottom; ++y)
      for (int64_t x = std::max<int64_t>(0, r.left); x < right; ++x)
        set_element(t->mutable_raw(), t->dtype(), y * l.row + x * l.pixel + k * l.channel,
                    value(k));
}

const TransformDef kErase{
    .name = "vision.Erase",
    .doc =
        "The rectangle of height x width pixels at row `top`, column `left` filled with `value`, "
        "one int for all channels or one for each of three. ValueError when it is larger than "
        "the image. Channels last, any dtype. The input is left as it is: `inplace` saves "
        "nothing here, as tensors are values.",
    .args = {"top: int", "left: int", "height: int", "width: int", "value: ints = 0",
             "inplace: bool = False"},
    .make =
        [](const Options& o) {
          const Crop r = rectangle_option(o);
          return image_transform([r, f = fill_option(o, "value")](const Tensor& t) {
            const Layout l = layout_of(t, true);
            if (r.h > l.h || r.w > l.w)
              value_error("a rectangle of {} x {} pixels in an image of {} x {}", r.h, r.w, l.h,
                          l.w);
            if (l.c > 4) value_error("expected at most 4 channels, got {}", t.describe());
            Tensor out = copy(t);
            fill(&out, l, r, [&](int64_t k) { return static_cast<int64_t>(f.value[k]); });
            return out;
          });
        },
};

const TransformDef kCutOut{
    .name = "vision.CutOut",
    .doc =
        "`num_patches` squares of `length` pixels at random places become 0; they may reach over "
        "the border (T. DeVries, G. W. Taylor, \"Improved regularization of convolutional neural "
        "networks with cutout\", 2017). Channels last, or first with is_hwc=False; any dtype. "
        "ValueError when a square is larger than the image.",
    .args = {"length: int", "num_patches: int = 1", "is_hwc: bool = True"},
    .make =
        [](const Options& o) {
          return random_image_transform([length = o.positive("length"),
                                         n = o.positive("num_patches"),
                                         hwc = o.boolean("is_hwc")](const Tensor& t, Philox& draw) {
            const Layout l = layout_of(t, hwc);
            if (length > l.h || length > l.w)
              value_error("squares of {} pixels in an image of {} x {}", length, l.h, l.w);
            Tensor out = copy(t);
            for (int64_t i = 0; i < n; ++i) {
              const int64_t top = whole_between(draw, -length, l.h);
              const int64_t left = whole_between(draw, -length, l.w);
              fill(&out, l, {top, left, length, length}, [](int64_t) { return int64_t{0}; });
            }
            return out;
          });
        },
};

struct Values {
  std::vector<double> fixed;  // empty: normal numbers
};
Values values_of(const Options& o) {
  const Option& v = o["value"];
  Values out;
  if (v.is_number()) {
    out.fixed = {v.real()};
  } else if (v.is<Option::List>()) {
    for (const Option& e : v.get<Option::List>()) {
      if (e.is_number()) out.fixed.push_back(e.real());
    }
  }
  const bool normal = v.is<std::string>() && v.get<std::string>() == "random";
  if (!normal && out.fixed.size() != 1 &&
      (out.fixed.size() != 3 || v.get<Option::List>().size() != 3))
    o.fail("value", "must be a number, three numbers or 'random', got {}", v.str());
  return out;
}

const TransformDef kRandomErasing{
    .name = "vision.RandomErasing",
    .doc =
        "With probability `prob` a rectangle whose part of the area is drawn evenly from `scale` "
        "and whose width over height from `ratio`, at a random place, is filled with `value`: a "
        "number, one for each of three channels, or 'random', a normal number for each element. "
        "After `max_attempts` that do not fit the image stays (Z. Zhong et al., \"Random erasing "
        "data augmentation\", 2017). [..., c, h, w], any dtype; `inplace` changes nothing.",
    .args = {"prob: number = 0.5", "scale: numbers = (0.02, 0.33)", "ratio: numbers = (0.3, 3.3)",
             "value: any = 0", "inplace: bool = False", "max_attempts: int = 10"},
    .make =
        [](const Options& o) {
          return random_image_transform([p = probability(o, "prob"), area = RandomArea(o),
                                         v = values_of(o)](const Tensor& t, Philox& draw) {
            if (!(draw.uniform() < p)) return t;
            const Layout l = layout_of(t, false);
            if (v.fixed.size() == 3 && l.c != 3)
              value_error("'value' has 3 numbers, the image {} channels", l.c);
            const double pixels = static_cast<double>(l.h) * static_cast<double>(l.w);
            for (int64_t i = 0; i < area.attempts; ++i) {
              const double part = between(draw, area.scale.first, area.scale.second) * pixels;
              const double sides = between(draw, area.ratio.first, area.ratio.second);
              const int64_t w = std::lround(std::sqrt(part * sides));
              const int64_t h = std::lround(static_cast<double>(w) / sides);
              if (h < 1 || w < 1 || h >= l.h || w >= l.w) continue;
              const int64_t top = whole_between(draw, 0, l.h - h);
              const Crop r{top, whole_between(draw, 0, l.w - w), h, w};
              Tensor out = copy(t);
              fill(&out, l, r, [&](int64_t k) {
                return v.fixed.empty() ? draw.normal() : v.fixed[v.fixed.size() == 1 ? 0 : k];
              });
              return out;
            }
            return t;
          });
        },
};

}  // namespace

TransformDefs erase_transforms() { return {&kErase, &kCutOut, &kRandomErasing}; }

}  // namespace mycel::data::vision
