// The fixed-point arithmetic of TFLite's reference kernels on single numbers, for what the importer
// computes itself: multipliers, and tables of every value that an 8-bit operand can have. The same
// steps on tensors are the op fixed_multiply.
#pragma once

#include <cstdint>

namespace mycel::interop::tensorflow {

// real = value 2^(shift - 31), value in [2^30, 2^31).
struct Multiplier {
  int32_t value = 0;
  int32_t shift = 0;
};
Multiplier multiplier_of(double real);

// x y / 2^31, half away from zero, saturated.
int32_t doubled_high_half(int32_t x, int32_t y);
// x / 2^exponent, half away from zero.
int32_t rounding_shift(int32_t x, int exponent);
// x m in integers.
int32_t multiplied(int32_t x, Multiplier m);

// e^x for x <= 0 with 26 bits behind the point; the result has 31.
int32_t fixed_exp(int32_t x);

// What TFLite rounds a number to: half away from zero.
int32_t rounded(float x);

}  // namespace mycel::interop::tensorflow
