// What layers need beside the generated functions.
#pragma once

#include "mycel/ops.h"
#include "nn/arith.h"

namespace mycel::nn {

inline Tensor run_op(const char* name, std::initializer_list<Tensor> in, const ir::Attrs& attrs = {}) {
  return runtime::call1(ir::op_named(name), in, attrs);
}
inline Tensors run_ops(const char* name, std::initializer_list<Tensor> in, const ir::Attrs& attrs = {}) {
  return runtime::call(ir::op_named(name), std::span<const Tensor>(in.begin(), in.size()), attrs);
}
inline Tensor log_softmax(const Tensor& x, int64_t axis) {
  Tensor shifted = x - ops::reduce_max(x, {axis}, true);
  return shifted - ops::log(ops::reduce_sum(ops::exp(shifted), {axis}, true));
}
inline Tensor softmax(const Tensor& x, const std::vector<int64_t>& axes) {
  Tensor e = ops::exp(x - ops::reduce_max(x, axes, true));
  return e / ops::reduce_sum(e, axes, true);
}

}  // namespace mycel::nn
