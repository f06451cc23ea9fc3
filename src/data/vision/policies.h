// The policies of AutoAugment as published (E. Cubuk et al., "AutoAugment: learning augmentation
// strategies from data", 2018, appendix).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace mycel::data::vision {

enum class Change : uint8_t {
  kNothing,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize,
  kInvert
};

struct PolicyStep {
  Change change;
  double probability;
  int bin;  // of ten strengths; 0 where the change has none
};
using Policy = std::vector<std::array<PolicyStep, 2>>;
// Of a member of AutoAugmentPolicy.
const Policy& policy_of(const std::string& member);

}  // namespace mycel::data::vision
