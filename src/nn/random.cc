#include "nn/random.h"

#include "nn/layers/calls.h"
#include "runtime/random_state.h"

namespace mycel::nn {

Tensor random_uniform(const Shape& shape, DType dtype) {
  return run_op("keyed_uniform", {runtime::next_key()}, {shape, dtype});
}

Tensor random_dropout(const Tensor& x, double p) {
  return run_op("keyed_dropout", {x, runtime::next_key()}, {p});
}

Tensor random_channel_dropout(const Tensor& x, double p, int64_t dims) {
  return run_op("keyed_dropout_channels", {x, runtime::next_key()}, {p, dims});
}

}  // namespace mycel::nn
