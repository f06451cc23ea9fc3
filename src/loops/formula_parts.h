// Building blocks shared by the formula files: multiply-add, polynomials, powers of two, copy of a
// sign. `Real` holds the facts about the float type that a formula is written for. Coefficients
// come from a Remez fit in 50-digit arithmetic, weighted for relative error.
#pragma once

#include <initializer_list>
#include <span>

#include "loops/expr.h"

namespace mycel::loops::formula {

struct Real {
  explicit Real(const Val& x) : wide(x.dtype() == DType::kFloat64) {}
  bool wide;
  DType word() const { return wide ? DType::kUInt64 : DType::kUInt32; }
  DType signed_word() const { return wide ? DType::kInt64 : DType::kInt32; }
  DType type() const { return wide ? DType::kFloat64 : DType::kFloat32; }
  int mantissa() const { return wide ? 52 : 23; }
  int bias() const { return wide ? 1023 : 127; }
  double pick(double f64, double f32) const { return wide ? f64 : f32; }
};

// a * b + c, fused where the machine can.
Val mad(Val a, Val b, Val c);
Val mad(Val a, Val b, double c);
Val mad(Val a, double b, Val c);
// c[0] + c[1] x + ...
Val polynomial(Val x, std::span<const double> c);
template <size_t N, size_t M>
Val polynomial(const Real& real, Val x, const double (&f64)[N], const double (&f32)[M]) {
  return real.wide ? polynomial(x, std::span<const double>(f64))
                   : polynomial(x, std::span<const double>(f32));
}
// The nearest integer of a moderate x, as a float and as an unsigned word (two's complement).
struct Nearest {
  Val real, word;
};
Nearest nearest(Val x);
Nearest nearest_of_product(Val x, double factor);
// 2^i for a word i within the normal exponents; x * 2^i for any i that gives zero to infinity.
Val power_of_two(const Real& real, Val i);
Val scale(const Real& real, Val x, Val i);
// |x| with the sign bit of `sign`.
Val copy_sign(Val magnitude, Val sign);
Val sign_bit(Val x);  // as bool
// x limited to [low, high]; NaN stays.
Val limit(Val x, double low, double high);

// The functions; each takes and gives its float type.
Val exp(Val x);
Val exp_half(Val x);  // exp(x) / 2 without early overflow
Val exp2(Val x);
Val expm1(Val x);
Val log(Val x);
Val log2(Val x);
Val log10(Val x);
Val log1p(Val x);
Val sinh(Val x);
Val cosh(Val x);
Val tanh(Val x);
Val asinh(Val x);
Val acosh(Val x);
Val atanh(Val x);
Val pow32(Val x, Val y);
Val sin32(Val x);
Val cos32(Val x);
Val tan32(Val x);
Val asin(Val x);
Val acos(Val x);
Val atan(Val x);
Val atan2(Val y, Val x);
Val erf(Val x);
Val erfc(Val x);

}  // namespace mycel::loops::formula
