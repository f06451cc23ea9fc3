// Records: colours at random.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/vision/colour.h"
#include "data/vision/vision.h"

namespace mycel::data::vision {
namespace {

using Range = std::pair<double, double>;

// With probability `prob`.
template <typename F>
std::shared_ptr<Transform> perhaps(const Options& o, F f) {
  return random_image_transform([p = probability(o, "prob"), f](const Tensor& t, Philox& draw) {
    return draw.uniform() < p ? f(t) : t;
  });
}

Range positive_range(const Options& o, const char* name) { return o.range(name, 0, 1 << 24); }

const TransformDef kRandomColor{
    .name = "vision.RandomColor",
    .doc = "AdjustSaturation by a factor drawn evenly from `degrees`.",
    .args = {"degrees: numbers = (0.1, 1.9)"},
    .make =
        [](const Options& o) {
          return random_image_transform(
              [r = positive_range(o, "degrees")](const Tensor& t, Philox& draw) {
                return adjust_saturation(t, between(draw, r.first, r.second));
              });
        },
};

const TransformDef kRandomSharpness{
    .name = "vision.RandomSharpness",
    .doc = "AdjustSharpness by a factor drawn evenly from `degrees`.",
    .args = {"degrees: numbers = (0.1, 1.9)"},
    .make =
        [](const Options& o) {
          return random_image_transform(
              [r = positive_range(o, "degrees")](const Tensor& t, Philox& draw) {
                return adjust_sharpness(t, between(draw, r.first, r.second));
              });
        },
};

const TransformDef kRandomAdjustSharpness{
    .name = "vision.RandomAdjustSharpness",
    .doc = "AdjustSharpness by `degree` with probability `prob`.",
    .args = {"degree: number", "prob: number = 0.5"},
    .make =
        [](const Options& o) {
          return perhaps(o, [f = o.within("degree", 0, 1 << 24)](const Tensor& t) {
            return adjust_sharpness(t, f);
          });
        },
};

// One number d: [middle - d, middle + d], not below `least`; two: from, to.
Range around(const Options& o, const char* name, double middle, double least, double most) {
  const std::vector<double> v = o.reals(name);
  if (v.size() != 1) return o.range(name, least, most);
  const Range r{std::max(least, middle - v[0]), middle + v[0]};
  if (v[0] < 0 || r.second > most)
    o.fail(name, "must be in [0, {}], got {}", most - middle, o[name].str());
  return r;
}

const TransformDef kRandomColorAdjust{
    .name = "vision.RandomColorAdjust",
    .doc =
        "Brightness, contrast, saturation and hue, each adjusted by a factor drawn evenly from its "
        "range, in a random order. One number d stands for [max(0, 1 - d), 1 + d] (hue: [-d, d], "
        "at most 0.5). What has the range (1, 1), hue (0, 0), is left out. uint8 [..., h, w, 3]; "
        "float32 as well without hue.",
    .args = {"brightness: numbers = (1, 1)", "contrast: numbers = (1, 1)",
             "saturation: numbers = (1, 1)", "hue: numbers = (0, 0)"},
    .make =
        [](const Options& o) {
          struct Step {
            Tensor (*run)(const Tensor&, double);
            Range range;
          };
          constexpr double kMost = 1 << 24;
          std::vector<Step> steps;
          const auto add = [&](Tensor (*run)(const Tensor&, double), const Range& r, double none) {
            if (r.first != none || r.second != none) steps.push_back({run, r});
          };
          add(adjust_brightness, around(o, "brightness", 1, 0, kMost), 1);
          add(adjust_contrast, around(o, "contrast", 1, 0, kMost), 1);
          add(adjust_saturation, around(o, "saturation", 1, 0, kMost), 1);
          add(adjust_hue, around(o, "hue", 0, -0.5, 0.5), 0);
          return random_image_transform([steps](const Tensor& t, Philox& draw) {
            std::vector<Step> order = steps;
            Tensor out = t;
            for (size_t left = order.size(); left > 0; --left) {
              std::swap(order[left - 1], order[draw.below(left)]);
              const Step& s = order[left - 1];
              out = s.run(out, between(draw, s.range.first, s.range.second));
            }
            return out;
          });
        },
};

const TransformDef kRandomInvert{
    .name = "vision.RandomInvert",
    .doc = "Invert with probability `prob`.",
    .args = {"prob: number = 0.5"},
    .make = [](const Options& o) { return perhaps(o, invert); },
};

const TransformDef kRandomGrayscale{
    .name = "vision.RandomGrayscale",
    .doc = "Grayscale, with as many channels as the image, with probability `prob`.",
    .args = {"prob: number = 0.1"},
    .make =
        [](const Options& o) {
          return perhaps(o, [](const Tensor& t) {
            const Extent e = extent_of(t);
            return e.c == 1 ? t : greyed(t, true);
          });
        },
};

const TransformDef kRandomPosterize{
    .name = "vision.RandomPosterize",
    .doc = "Posterize to a number of bits drawn evenly from `bits`, two in [1, 8] or one for both.",
    .args = {"bits: ints = (8, 8)"},
    .make =
        [](const Options& o) {
          const std::vector<int64_t> v = o.ints("bits");
          const bool good =
              (v.size() == 1 || v.size() == 2) && v[0] >= 1 && v[0] <= v.back() && v.back() <= 8;
          if (!good)
            o.fail("bits", "must be one or two ints in order in [1, 8], got {}", o["bits"].str());
          return random_image_transform(
              [low = v[0], high = v.back()](const Tensor& t, Philox& draw) {
                extent_of(t);
                return posterize(t, static_cast<int>(whole_between(draw, low, high)));
              });
        },
};

const TransformDef kRandomSolarize{
    .name = "vision.RandomSolarize",
    .doc =
        "Solarize between two thresholds, each drawn evenly from the whole numbers of "
        "`threshold`, both in [0, 255].",
    .args = {"threshold: ints = (0, 255)"},
    .make =
        [](const Options& o) {
          const auto [low, high] = o.range("threshold", 0, 255);
          return random_image_transform(
              [low = static_cast<int64_t>(low), high = static_cast<int64_t>(high)](const Tensor& t,
                                                                                   Philox& draw) {
                extent_of(t);
                const auto a = static_cast<double>(whole_between(draw, low, high));
                const auto b = static_cast<double>(whole_between(draw, low, high));
                return solarize(t, std::min(a, b), std::max(a, b));
              });
        },
};

const TransformDef kRandomLighting{
    .name = "vision.RandomLighting",
    .doc =
        "Noise along the principal components of ImageNet's colours: three normal numbers of "
        "deviation `alpha`, times the components and their size, added to the channels (A. "
        "Krizhevsky et al., \"ImageNet classification with deep convolutional neural networks\", "
        "2012). uint8 [..., h, w, 3].",
    .args = {"alpha: number = 0.05"},
    .make =
        [](const Options& o) {
          return random_image_transform([alpha = o.within("alpha", 0, 1 << 24)](const Tensor& t,
                                                                                Philox& draw) {
            constexpr double kSize[3] = {55.46, 4.794, 1.148};
            constexpr double kComponent[3][3] = {
                {-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};
            const Extent e = colour_extent(t);
            double n[3];
            for (double& v : n) v = alpha * draw.normal();
            Tensor out = Tensor::empty(DType::kUInt8, t.shape());
            const uint8_t* in = bytes_of(t);
            auto* to = static_cast<uint8_t*>(out.mutable_raw());
            for (int k = 0; k < 3; ++k) {
              double shift = 0;
              for (int j = 0; j < 3; ++j) shift += kSize[j] * kComponent[k][j] * n[j];
              Table table;
              for (int v = 0; v < 256; ++v)
                table[v] = static_cast<uint8_t>(std::clamp(std::nearbyint(v + shift), 0.0, 255.0));
              for (int64_t i = k; i < e.h * e.w * 3; i += 3) to[i] = table[in[i]];
            }
            return out;
          });
        },
};

}  // namespace

TransformDefs random_colour_transforms() {
  return {&kRandomColor,       &kRandomSharpness, &kRandomAdjustSharpness,
          &kRandomColorAdjust, &kRandomInvert,    &kRandomGrayscale,
          &kRandomPosterize,   &kRandomSolarize,  &kRandomLighting};
}

}  // namespace mycel::data::vision
