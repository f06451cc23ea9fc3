// Records: mirror images.
#include "data/vision/crop.h"
#include "data/vision/step.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

std::shared_ptr<Transform> maybe_mirrored(const Options& o, bool upside_down) {
  const double p = probability(o, "prob");
  return with_steps(random_image_transform([p, upside_down](const Tensor& t, Philox& draw) {
                      return draw.uniform() < p ? mirrored(t, upside_down) : t;
                    }),
                    {FlipStep{p, true, upside_down}});
}

std::shared_ptr<Transform> always_mirrored(bool upside_down) {
  return with_steps(
      image_transform([upside_down](const Tensor& t) { return mirrored(t, upside_down); }),
      {FlipStep{1, false, upside_down}});
}

const TransformDef kHorizontalFlip{
    .name = "vision.HorizontalFlip",
    .doc = "Left and right exchanged. [..., h, w] or [..., h, w, c], any dtype.",
    .make = [](const Options&) { return always_mirrored(false); },
};

const TransformDef kVerticalFlip{
    .name = "vision.VerticalFlip",
    .doc = "Top and bottom exchanged. [..., h, w] or [..., h, w, c], any dtype.",
    .make = [](const Options&) { return always_mirrored(true); },
};

const TransformDef kRandomHorizontalFlip{
    .name = "vision.RandomHorizontalFlip",
    .doc = "Left and right exchanged with probability `prob`. Any dtype.",
    .args = {"prob: number = 0.5"},
    .make = [](const Options& o) { return maybe_mirrored(o, false); },
};

const TransformDef kRandomVerticalFlip{
    .name = "vision.RandomVerticalFlip",
    .doc = "Top and bottom exchanged with probability `prob`. Any dtype.",
    .args = {"prob: number = 0.5"},
    .make = [](const Options& o) { return maybe_mirrored(o, true); },
};

}  // namespace

TransformDefs flip_transforms() {
  return {&kHorizontalFlip, &kVerticalFlip, &kRandomHorizontalFlip, &kRandomVerticalFlip};
}

}  // namespace mycel::data::vision
