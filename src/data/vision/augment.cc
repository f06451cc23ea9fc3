// Records: policies that choose among the other transforms: AutoAugment (E. Cubuk et al., 2018),
// RandAugment (2019), TrivialAugmentWide (S. Müller, F. Hutter, 2021), UniformAugment (T. LingChen
// et al., 2020) and a user's own.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "data/vision/colour.h"
#include "data/vision/policies.h"
#include "data/vision/vision.h"
#include "data/vision/warp.h"

namespace mycel::data::vision {
namespace {

// How moved images are sampled, and what stands around them.
struct Look {
  Filter filter;
  Fill fill;
  explicit Look(const Options& o)
      : filter(filter_of(o.choice("interpolation"))), fill(fill_option(o, "fill_value")) {}
};

Tensor apply(const Tensor& t, Change change, double strength, const Look& look) {
  const Extent e = extent_of(t);
  const auto moved = [&](double x, double y, double shear_x, double shear_y) {
    constexpr double kDegrees = 180 / std::numbers::pi;
    return warp(t, affine_map(e.h, e.w, 0, x, y, 1, shear_x * kDegrees, shear_y * kDegrees),
                {e.h, e.w}, look.filter, look.fill);
  };
  switch (change) {
    case Change::kNothing:
      return t;
    case Change::kShearX:
      return moved(0, 0, strength, 0);
    case Change::kShearY:
      return moved(0, 0, 0, strength);
    case Change::kTranslateX:
      return moved(std::trunc(strength), 0, 0, 0);
    case Change::kTranslateY:
      return moved(0, std::trunc(strength), 0, 0);
    case Change::kRotate:
      return rotate(t, {strength, false, {}}, look.filter, look.fill);
    case Change::kBrightness:
      return adjust_brightness(t, 1 + strength);
    case Change::kColor:
      return adjust_saturation(t, 1 + strength);
    case Change::kContrast:
      return adjust_contrast(t, 1 + strength);
    case Change::kSharpness:
      return adjust_sharpness(t, 1 + strength);
    case Change::kPosterize:
      return posterize(t, static_cast<int>(strength));
    case Change::kSolarize:
      return solarize(t, strength, strength);
    case Change::kAutoContrast:
      return auto_contrast(t, 0, {});
    case Change::kEqualize:
      return equalize(t);
    case Change::kInvert:
      break;
  }
  return invert(t);
}

// Strength number `bin` of `bins`; those with a sign get either with equal chance.
struct Strength {
  double most;  // at the last bin; posterize: bits taken away
  bool has_sign;
};

double strength_of(Change change, const Strength& s, int64_t bin, int64_t bins, bool negative) {
  const double part = bins > 1 ? static_cast<double>(bin) / static_cast<double>(bins - 1) : 0;
  if (change == Change::kPosterize) return 8 - std::nearbyint(part * s.most);
  if (change == Change::kSolarize) return 256 * (1 - part);
  return s.has_sign && negative ? -part * s.most : part * s.most;
}

// Of AutoAugment and RandAugment.
Strength usual(Change change, const Extent& e) {
  switch (change) {
    case Change::kShearX:
    case Change::kShearY:
      return {0.3, true};
    case Change::kTranslateX:
      return {150.0 / 331 * static_cast<double>(e.w), true};
    case Change::kTranslateY:
      return {150.0 / 331 * static_cast<double>(e.h), true};
    case Change::kRotate:
      return {30, true};
    case Change::kBrightness:
    case Change::kColor:
    case Change::kContrast:
    case Change::kSharpness:
      return {0.9, true};
    case Change::kPosterize:
      return {4, false};
    default:
      return {0, false};
  }
}

Strength wide(Change change) {
  switch (change) {
    case Change::kShearX:
    case Change::kShearY:
    case Change::kBrightness:
    case Change::kColor:
    case Change::kContrast:
    case Change::kSharpness:
      return {0.99, true};
    case Change::kTranslateX:
    case Change::kTranslateY:
      return {32, true};
    case Change::kRotate:
      return {135, true};
    case Change::kPosterize:
      return {6, false};
    default:
      return {0, false};
  }
}

constexpr Change kSearched[] = {Change::kNothing,      Change::kShearX,     Change::kShearY,
                                Change::kTranslateX,   Change::kTranslateY, Change::kRotate,
                                Change::kBrightness,   Change::kColor,      Change::kContrast,
                                Change::kSharpness,    Change::kPosterize,  Change::kSolarize,
                                Change::kAutoContrast, Change::kEqualize};

const TransformDef kAutoAugment{
    .name = "vision.AutoAugment",
    .doc =
        "One of the 25 pairs of changes that were found to serve a data set best, each change with "
        "its own probability and strength (E. Cubuk et al., \"AutoAugment\", 2018). Moved images "
        "are sampled by `interpolation`, around them stands `fill_value`. uint8 [..., h, w, 3].",
    .args = {"policy: AutoAugmentPolicy = IMAGENET", "interpolation: Inter = NEAREST",
             "fill_value: ints = 0"},
    .make =
        [](const Options& o) {
          return random_image_transform([policy = policy_of(o.choice("policy")), look = Look(o)](
                                            const Tensor& t, Philox& draw) {
            const Extent e = colour_extent(t);
            const auto& pair = policy[draw.below(policy.size())];
            Tensor out = t;
            for (const PolicyStep& step : pair) {
              const bool happens = draw.uniform() < step.probability, negative = draw.below(2) == 0;
              if (!happens) continue;
              out = apply(out, step.change,
                          strength_of(step.change, usual(step.change, e), step.bin, 10, negative),
                          look);
            }
            return out;
          });
        },
};

const TransformDef kRandAugment{
    .name = "vision.RandAugment",
    .doc =
        "`num_ops` changes, each drawn evenly from 14 (none, shears, shifts, rotation, brightness, "
        "saturation, contrast, sharpness, posterize, solarize, auto contrast, equalize), of the "
        "strength `magnitude` of `num_magnitude_bins` (E. Cubuk et al., \"RandAugment\", 2019). "
        "uint8 [..., h, w, 3].",
    .args = {"num_ops: int = 2", "magnitude: int = 9", "num_magnitude_bins: int = 31",
             "interpolation: Inter = NEAREST", "fill_value: ints = 0"},
    .make =
        [](const Options& o) {
          const int64_t bins = o.integer("num_magnitude_bins"), bin = o.integer("magnitude"),
                        n = o.integer("num_ops");
          if (n < 0) o.fail("num_ops", "must not be negative, got {}", n);
          if (bins < 2) o.fail("num_magnitude_bins", "must be at least 2, got {}", bins);
          if (bin < 0 || bin >= bins) o.fail("magnitude", "must be in [0, {}), got {}", bins, bin);
          return random_image_transform([=, look = Look(o)](const Tensor& t, Philox& draw) {
            const Extent e = colour_extent(t);
            Tensor out = t;
            for (int64_t i = 0; i < n; ++i) {
              const Change change = kSearched[draw.below(std::size(kSearched))];
              const bool negative = draw.below(2) == 0;
              out = apply(out, change, strength_of(change, usual(change, e), bin, bins, negative),
                          look);
            }
            return out;
          });
        },
};

const TransformDef kTrivialAugmentWide{
    .name = "vision.TrivialAugmentWide",
    .doc =
        "One change, drawn evenly from the 14 of RandAugment, of a strength drawn evenly from "
        "`num_magnitude_bins`, up to wide ranges (S. Müller, F. Hutter, \"TrivialAugment\", 2021). "
        "uint8 [..., h, w, 3].",
    .args = {"num_magnitude_bins: int = 31", "interpolation: Inter = NEAREST",
             "fill_value: ints = 0"},
    .make =
        [](const Options& o) {
          const int64_t bins = o.integer("num_magnitude_bins");
          if (bins < 2) o.fail("num_magnitude_bins", "must be at least 2, got {}", bins);
          return random_image_transform([=, look = Look(o)](const Tensor& t, Philox& draw) {
            colour_extent(t);
            const Change change = kSearched[draw.below(std::size(kSearched))];
            const int64_t bin = whole_between(draw, 0, bins - 1);
            const bool negative = draw.below(2) == 0;
            return apply(t, change, strength_of(change, wide(change), bin, bins, negative), look);
          });
        },
};

const TransformDef kUniformAugment{
    .name = "vision.UniformAugment",
    .doc =
        "`num_ops` of the transforms, different ones in a random order, each with a probability "
        "that is itself drawn evenly (T. LingChen et al., \"UniformAugment\", 2020). ValueError: "
        "more than there are.",
    .args = {"transforms: transforms", "num_ops: int = 2"},
    .make =
        [](const Options& o) {
          const std::vector<TransformPtr> all = o.transforms("transforms");
          const int64_t n = o.positive("num_ops");
          if (all.empty()) o.fail("transforms", "must not be empty");
          if (n > static_cast<int64_t>(all.size()))
            o.fail("num_ops", "must be at most the number of transforms, {}, got {}", all.size(),
                   n);
          return of_row(
              [all, n](Row* row, Philox& draw) {
                std::vector<TransformPtr> left = all;
                for (int64_t i = 0; i < n; ++i) {
                  const uint64_t k = draw.below(left.size());
                  const TransformPtr chosen = left[k];
                  left.erase(left.begin() + static_cast<int64_t>(k));
                  const double p = draw.uniform();
                  if (draw.uniform() < p) run_all(std::span(&chosen, 1), row, draw);
                }
              },
              true);
        },
};

struct Step {
  TransformPtr transform;
  double probability;
};

std::vector<std::vector<Step>> policy_option(const Options& o) {
  std::vector<std::vector<Step>> out;
  const auto wrong = [&] {
    o.fail("policy",
           "must be a list of lists of (transform, probability in [0, 1]), none empty, got {}",
           o["policy"].str());
  };
  const auto list = [&](const Option& v) -> const Option::List& {
    if (!v.is<Option::List>() || v.get<Option::List>().empty()) wrong();
    return v.get<Option::List>();
  };
  for (const Option& sub : list(o["policy"])) {
    out.emplace_back();
    for (const Option& pair : list(sub)) {
      const Option::List& p = list(pair);
      if (p.size() != 2 || !p[0].is<TransformPtr>() || !p[1].is_number() ||
          !(p[1].real() >= 0 && p[1].real() <= 1))
        wrong();
      out.back().push_back({p[0].get<TransformPtr>(), p[1].real()});
    }
  }
  return out;
}

const TransformDef kRandomSelectSubpolicy{
    .name = "vision.RandomSelectSubpolicy",
    .doc =
        "One of the sub-policies of `policy`, each equally likely: a list of (transform, "
        "probability), each of which happens with its probability, in order.",
    .args = {"policy: any"},
    .make =
        [](const Options& o) {
          return of_row(
              [policy = policy_option(o)](Row* row, Philox& draw) {
                for (const Step& s : policy[draw.below(policy.size())]) {
                  if (draw.uniform() < s.probability)
                    run_all(std::span(&s.transform, 1), row, draw);
                }
              },
              true);
        },
};

}  // namespace

TransformDefs augment_transforms() {
  return {&kAutoAugment, &kRandAugment, &kTrivialAugmentWide, &kUniformAugment,
          &kRandomSelectSubpolicy};
}

}  // namespace mycel::data::vision
