// Functions of float32 that compilers turn into vector code: argument reduction and polynomials
// (Cephes), within 2 ulp of the exact value. Included by each lanes_*.cc.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace mycel::lite {
namespace {

inline float bits_float(int32_t b) { return std::bit_cast<float>(b); }
inline int32_t float_bits(float f) { return std::bit_cast<int32_t>(f); }

// e^x for |x| below 104; results below the smallest normal number keep their digits.
inline float exp_lane(float x) {
  const float bound = x < -104.0f ? -104.0f : (x > 89.0f ? 89.0f : x);
  const float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = bound * 1.44269504088896341f + kMagic;
  const float n = shifted - kMagic;
  float r = bound - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // 2^n in two factors, so that neither leaves the range.
  const int32_t k = float_bits(shifted) - float_bits(kMagic);
  const int32_t half = k >> 1;
  const float y = p * bits_float((half + 127) << 23) * bits_float((k - half + 127) << 23);
  return x != x ? x : y;
}

inline float log_lane(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  int32_t b = float_bits(scaled);
  // The mantissa in [sqrt(1/2), sqrt(2)).
  const int32_t e0 = (b - 0x3f3504f3) >> 23;
  const float m = bits_float(b - e0 * (1 << 23));
  const float e = static_cast<float>(e0) - (tiny ? 23.0f : 0.0f);
  const float r = m - 1.0f;
  const float z = r * r;
  float p = 7.0376836292e-2f;
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  float y = p * r * z;
  y = y + e * -2.12194440e-4f;
  y = y - 0.5f * z;
  y = r + y;
  y = y + e * 0.693359375f;
  const float kInf = bits_float(0x7f800000);
  y = x == kInf ? x : y;
  y = x == 0.0f ? -kInf : y;
  return x < 0.0f || x != x ? bits_float(0x7fc00000) : y;
}

inline float tanh_lane(float x) {
  const float a = x < 0.0f ? -x : x;
  const float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float small = p * z * x + x;
  const float e = exp_lane((a > 44.0f ? 44.0f : a) * 2.0f);
  const float big = 1.0f - 2.0f / (e + 1.0f);
  const float signed_big = x < 0.0f ? -big : big;
  return x != x ? x : (a < 0.625f ? small : signed_big);
}

}  // namespace
}  // namespace mycel::lite
