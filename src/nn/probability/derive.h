// What follows from a distribution's own formulas: prob from log_prob, cdf from survival, and so
// on. Shared by the records and by Python subclasses of Distribution.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace mycel::nn::probability {

// The quantity from `own`, which gives an empty Tensor for what the distribution does not define
// itself. Empty when it follows from nothing.
Tensor derive(std::string_view quantity, const std::function<Tensor(std::string_view)>& own);

}  // namespace mycel::nn::probability
