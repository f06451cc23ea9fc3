// What the builders of all families use: Mycel's ops as C++ functions, and short forms.
#pragma once

#include <algorithm>
#include <numeric>

#include <mycel/ops.h>

#include "interop/tensorflow/record.h"

namespace mycel::interop::tensorflow {

namespace ops = mycel::ops;

inline Tensor number(double v, DType d) { return Tensor::scalar(d, v); }
inline Tensor number_like(double v, const Tensor& x) { return Tensor::scalar(x.dtype(), v); }
inline Tensor as(const Tensor& x, DType d) { return x.dtype() == d ? x : ops::cast(x, d); }
inline Tensor ints_tensor(const Ints& v, DType d = DType::kInt64) {
  return as(Tensor::from(v, Shape{static_cast<int64_t>(v.size())}), d);
}
inline int axis_of(const Call& c, int64_t axis, int rank) {
  if (axis < -rank || axis >= std::max(rank, 1))
    c.fail("axis {} of a tensor with {} dims", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
inline Ints counted(int64_t n) {
  Ints v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

// Zeros (or `value`) around; negative numbers cut off.
Tensor padded(const Tensor& x, const Ints& low, const Ints& high, double value = 0);
// A float operand; TFLite's weights may be stored as integers with a scale beside float
// activations.
Tensor widened_weight(Call& c, int i);

// The activation that TFLite joins to an op, on floats.
Tensor activated(Call& c, const Tensor& y);

// Two spatial numbers of an attribute: TFLite has them alone, GraphDefs between those of batch and
// channels.
Ints spatial(const Call& c, const char* name, size_t rank, Ints otherwise = {});
// Whether the file says that channels stand before the spatial dims (GraphDefs alone).
bool channels_first(const Call& c);

// Padding before and after each spatial dim, as Mycel orders them.
Ints pads_of(const Call& c, const Ints& in, const Ints& kernel, const Ints& stride,
             const Ints& dilation);

}  // namespace mycel::interop::tensorflow
