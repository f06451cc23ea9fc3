// Draws that layers make while they run: each takes the next key of runtime/random_state.h.
#pragma once

#include "tensor/tensor.h"

namespace mycel::nn {

// Uniform in [0, 1).
Tensor random_uniform(const Shape& shape, DType dtype = DType::kFloat32);
// Each element is 0 with probability p, else x / (1 - p).
Tensor random_dropout(const Tensor& x, double p);
// The same with one decision per index of the first `dims` dims.
Tensor random_channel_dropout(const Tensor& x, double p, int64_t dims);

}  // namespace mycel::nn
