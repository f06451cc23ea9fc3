// Integer arithmetic that wraps around, as NumPy's and the compiled kernels': C++ leaves the
// overflow of signed integers undefined, so it is computed without a sign. Floats, complex numbers
// and bools (or, xor, and of C++'s promotions) are computed as they are.
#pragma once

#include <cstdint>
#include <type_traits>

namespace mycel {

template <typename T>
constexpr auto unsigned_of(T v) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<uint64_t>(v);
  } else {
    return v;
  }
}
template <typename T>
constexpr T wrapping_add(T a, T b) {
  return static_cast<T>(unsigned_of(a) + unsigned_of(b));
}
template <typename T>
constexpr T wrapping_sub(T a, T b) {
  return static_cast<T>(unsigned_of(a) - unsigned_of(b));
}
template <typename T>
constexpr T wrapping_mul(T a, T b) {
  return static_cast<T>(unsigned_of(a) * unsigned_of(b));
}

}  // namespace mycel
