// What the builders of all families use: Mycel's ops as C++ functions, and short forms for numbers
// of the dtype that is at hand.
#pragma once

#include <algorithm>
#include <numeric>

#include <mycel/ops.h>

#include "interop/onnx/record.h"
#include "interop/onnx/scope.h"
#include "interop/onnx/tensors.h"

namespace mycel::interop::onnx {

namespace ops = mycel::ops;

inline Tensor number(double v, DType d) { return Tensor::scalar(d, v); }
inline Tensor number_like(double v, const Tensor& x) { return Tensor::scalar(x.dtype(), v); }
inline Tensor ints_tensor(const Ints& v) {
  return Tensor::from(v, Shape{static_cast<int64_t>(v.size())});
}
inline Values one(Tensor t) { return {Value(std::move(t))}; }
inline Values many(Tensors ts) {
  Values out;
  for (Tensor& t : ts) out.emplace_back(std::move(t));
  return out;
}
inline Tensor as(const Tensor& x, DType d) { return x.dtype() == d ? x : ops::cast(x, d); }
// float32 for floats of 16 bits, which lose too much on the way; others unchanged.
inline Tensor widened(const Tensor& x) {
  bool narrow = x.dtype() == DType::kFloat16 || x.dtype() == DType::kBFloat16;
  return narrow ? ops::cast(x, DType::kFloat32) : x;
}

inline int axis_of(const Call& c, int64_t axis, int rank) {
  if (axis < -rank || axis >= std::max(rank, 1))
    c.fail("axis {} of a tensor with {} dims", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
inline Ints axes_of(const Call& c, Ints axes, int rank) {
  for (int64_t& a : axes) a = axis_of(c, a, rank);
  return axes;
}
inline Ints counted(int64_t n) {
  Ints v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

}  // namespace mycel::interop::onnx
