// Draws that layers make while they run: each takes the next key of runtime/random_state.h.
#pragma once

#include "tensor/tensor.h"

namespace mycel::nn {

// Uniform in [0, 1), float32.
Tensor random_uniform(const Shape& shape);
// Of the shape and dtype of `like`.
Tensor random_uniform(const Tensor& like);

}  // namespace mycel::nn
