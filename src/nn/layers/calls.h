// Ops that layers call beside the generated functions: internal ones by name, and forms of several
// ops.
#pragma once

#include "mycel/ops.h"
#include "nn/arith.h"

namespace mycel::nn {

inline Tensor run_op(const char* name, std::initializer_list<Tensor> in,
                     const ir::Attrs& attrs = {}) {
  return runtime::call1(ir::op_named(name), in, attrs);
}
inline Tensors run_ops(const char* name, std::initializer_list<Tensor> in,
                       const ir::Attrs& attrs = {}) {
  return runtime::call(ir::op_named(name), std::span<const Tensor>(in.begin(), in.size()), attrs);
}
// Softmax over several dims at once; one dim is the op.
inline Tensor softmax(const Tensor& x, const std::vector<int64_t>& axes) {
  if (axes.size() == 1) return ops::softmax(x, axes[0]);
  Tensor e = ops::exp(x - ops::stop_gradient(ops::reduce_max(x, axes, true)));
  return e / ops::reduce_sum(e, axes, true);
}

}  // namespace mycel::nn
