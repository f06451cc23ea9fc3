#include "interop/tensorflow/ops/fixed_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mycel::interop::tensorflow {
namespace {

// x 2^n, saturated.
int32_t shifted_left(int32_t x, int n) {
  const int64_t v = static_cast<int64_t>(x) << n;
  return static_cast<int32_t>(std::clamp<int64_t>(v, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

// e^x on [-1/4, 0), both with 31 bits behind the point: the Taylor polynomial around -1/8.
int32_t exp_near_zero(int32_t a) {
  constexpr int32_t kExpOfMinusEighth = 1895147668, kThird = 715827883;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = doubled_high_half(x, x), x3 = doubled_high_half(x2, x);
  const int32_t x4_4 = rounding_shift(doubled_high_half(x2, x2), 2);
  const int32_t tail = rounding_shift(doubled_high_half(x4_4 + x3, kThird) + x2, 1);
  return kExpOfMinusEighth + doubled_high_half(kExpOfMinusEighth, x + tail);
}

}  // namespace

Multiplier multiplier_of(double real) {
  if (!(real > 0) || !std::isfinite(real)) return {};
  int shift = 0;
  const double fraction = std::frexp(real, &shift);
  auto value = static_cast<int64_t>(std::round(fraction * (int64_t{1} << 31)));
  if (value == int64_t{1} << 31) value /= 2, ++shift;
  if (shift < -31) return {};
  return {static_cast<int32_t>(value), shift};
}

int32_t doubled_high_half(int32_t x, int32_t y) {
  if (x == y && x == std::numeric_limits<int32_t>::min())
    return std::numeric_limits<int32_t>::max();
  const int64_t product = static_cast<int64_t>(x) * y;
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

int32_t rounding_shift(int32_t x, int exponent) {
  const auto mask = static_cast<int32_t>((int64_t{1} << exponent) - 1);
  const int32_t rest = x & mask, threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (rest > threshold ? 1 : 0);
}

int32_t multiplied(int32_t x, Multiplier m) {
  const int left = std::max(m.shift, 0), right = std::max(-m.shift, 0);
  const auto wide = static_cast<int32_t>(static_cast<uint32_t>(x) << left);
  return rounding_shift(doubled_high_half(wide, m.value), right);
}

int32_t fixed_exp(int32_t x) {
  if (x == 0) return std::numeric_limits<int32_t>::max();
  constexpr int32_t kQuarter = 1 << 24;
  const int32_t below = (x & (kQuarter - 1)) - kQuarter;  // in [-1/4, 0)
  int32_t y = exp_near_zero(shifted_left(below, 5));
  const int32_t rest = below - x;
  // e^-(2^k) for k = -2 … 4.
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
  for (int k = 0; k < 7; ++k) {
    if (rest & (1 << (24 + k))) y = doubled_high_half(y, kFactors[k]);
  }
  return y;
}

int32_t rounded(float x) {
  const float r = std::round(x);
  if (!(r > -2147483648.0f)) return std::numeric_limits<int32_t>::min();
  if (r >= 2147483648.0f) return std::numeric_limits<int32_t>::max();
  return static_cast<int32_t>(r);
}

}  // namespace mycel::interop::tensorflow
