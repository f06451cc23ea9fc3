// Arithmetic on tensors for C++ programs, so that layers and update rules read as on paper. A
// number takes the dtype of the tensor beside it (float32 beside an integer when it has a
// fraction).
#pragma once

#include <cmath>

#include "mycel/ops.h"

namespace mycel {

namespace nn {
// The number as a 0-d tensor for arithmetic with `like`.
inline Tensor number(const Tensor& like, double v) {
  bool keeps = is_float(like.dtype()) || is_complex(like.dtype()) ||
               (is_int(like.dtype()) && v == std::floor(v));
  return Tensor::scalar(keeps ? like.dtype() : DType::kFloat32, v);
}
}  // namespace nn

inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return ops::div(a, b); }
inline Tensor operator-(const Tensor& a) { return ops::neg(a); }
inline Tensor operator+(const Tensor& a, double b) { return ops::add(a, nn::number(a, b)); }
inline Tensor operator-(const Tensor& a, double b) { return ops::sub(a, nn::number(a, b)); }
inline Tensor operator*(const Tensor& a, double b) { return ops::mul(a, nn::number(a, b)); }
inline Tensor operator/(const Tensor& a, double b) { return ops::div(a, nn::number(a, b)); }
inline Tensor operator+(double a, const Tensor& b) { return ops::add(nn::number(b, a), b); }
inline Tensor operator-(double a, const Tensor& b) { return ops::sub(nn::number(b, a), b); }
inline Tensor operator*(double a, const Tensor& b) { return ops::mul(nn::number(b, a), b); }
inline Tensor operator/(double a, const Tensor& b) { return ops::div(nn::number(b, a), b); }
// Element by element, bool tensors; for equality ops::equal.
inline Tensor operator<(const Tensor& a, const Tensor& b) { return ops::less(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return ops::greater(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return ops::less_equal(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ops::greater_equal(a, b); }
inline Tensor operator<(const Tensor& a, double b) { return ops::less(a, nn::number(a, b)); }
inline Tensor operator>(const Tensor& a, double b) { return ops::greater(a, nn::number(a, b)); }
inline Tensor operator<=(const Tensor& a, double b) { return a <= nn::number(a, b); }
inline Tensor operator>=(const Tensor& a, double b) { return a >= nn::number(a, b); }

}  // namespace mycel
