// Bijectors as records: smooth one-to-one maps with the logarithms of their derivatives, for
// distributions of transformed values.
#pragma once

#include <string_view>
#include <vector>

#include "nn/probability/family.h"

namespace mycel::nn::probability {

struct BijectorDef {
  const char* name = "";
  const char* doc = "";
  ParamDef params[2] = {};
  double defaults[2] = {};
  bool constant_jacobian = false;
  // Parameters are 0-d or broadcast with x and have its dtype. The inverse one is log |dx/dy| at y.
  Family::At forward = nullptr, inverse = nullptr, forward_log_jacobian = nullptr,
             inverse_log_jacobian = nullptr;

  size_t arity() const { return !params[0].name ? 0 : !params[1].name ? 1 : 2; }
  // The map of a name; ValueError when there is none.
  Family::At map(std::string_view which) const;
};

const std::vector<const BijectorDef*>& all_bijectors();
// ValueError when there is none of that name.
const BijectorDef& bijector(std::string_view name);

}  // namespace mycel::nn::probability
