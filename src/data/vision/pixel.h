// Rounding to pixels in a form that compilers turn into vector code on every processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "data/each_cpu.h"

namespace mycel::data::vision {

// To the nearest whole number, halves to the even one; |v| below 2^22. Beyond 1.5 * 2^23 a float
// has no fraction, so that the addition rounds.
inline float rounded(float v) { return (v + 0x1.8p23F) - 0x1.8p23F; }

inline uint8_t byte_of(float v) {
  return static_cast<uint8_t>(static_cast<int>(rounded(std::min(std::max(v, 0.F), 255.F))));
}

// A number as an element: whole numbers are rounded and clipped.
template <typename T>
T element_of(float v) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return byte_of(v);
  } else if constexpr (std::is_integral_v<T>) {
    static_assert(sizeof(T) <= 2);
    constexpr auto kLow = static_cast<float>(std::numeric_limits<T>::lowest());
    constexpr auto kHigh = static_cast<float>(std::numeric_limits<T>::max());
    return static_cast<T>(static_cast<int>(rounded(std::min(std::max(v, kLow), kHigh))));
  } else {
    return static_cast<T>(v);
  }
}

}  // namespace mycel::data::vision
