// What a transform does to an image, said in a form that fused.cc can join with its neighbours. A
// transform with a step also runs alone.
#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "data/vision/crop.h"
#include "data/vision/numbers.h"
#include "data/vision/resize.h"

namespace mycel::data::vision {

struct DecodeStep {};
// A rectangle of an image of height x width; false: this transform must run alone (a rectangle that
// leaves the image).
struct CropStep {
  std::function<bool(int64_t h, int64_t w, Philox&, Crop*)> choose;
};
struct ResizeStep {
  std::function<Size(int64_t h, int64_t w)> to;
  Filter filter;
};
struct FlipStep {
  double probability = 1;
  bool random = false, upside_down = false;
};
// Numbers times a scale plus a shift; `hwc`: where the channels are when there are several values.
struct AffineStep {
  Affine affine;
  bool hwc = true;
};
// Channels first.
struct PlanesStep {};
using Step = std::variant<DecodeStep, CropStep, ResizeStep, FlipStep, AffineStep, PlanesStep>;
using Steps = std::vector<Step>;

class Stepped final : public Transform {
 public:
  Stepped(std::shared_ptr<Transform> alone, Steps steps)
      : alone_(std::move(alone)), steps_(std::move(steps)) {}
  void run(Row* values, Philox& draw) const override { alone_->run(values, draw); }
  bool random() const override { return alone_->random(); }
  const Steps& steps() const { return steps_; }

 private:
  std::shared_ptr<Transform> alone_;
  Steps steps_;
};

inline std::shared_ptr<Transform> with_steps(std::shared_ptr<Transform> alone, Steps steps) {
  return std::make_shared<Stepped>(std::move(alone), std::move(steps));
}

// A random area, then its size.
inline Steps area_steps(const RandomArea& area, Size to, Filter f) {
  return {CropStep{[area](int64_t h, int64_t w, Philox& draw, Crop* r) {
            *r = area.choose(h, w, draw);
            return true;
          }},
          ResizeStep{[to](int64_t, int64_t) { return to; }, f}};
}

// Joins neighbours: decoding, cropping, resizing, flipping, scaling and the order of dims in one
// pass over the pixels, of which only those needed are decoded. The same draws. Pixels are equal
// before they become floats, and floats within 2e-6 of the largest, except where an image becomes
// at most half as large by the linear filter or by area: then a JPEG is decoded at 1/2, 1/4 or 1/8
// of its size, which averages where the linear filter alone skips pixels; on photographs this
// changes a byte by 1 to 3 on average.
std::vector<TransformPtr> fused_images(std::vector<TransformPtr> transforms);

}  // namespace mycel::data::vision
