// Size classes of the allocator: below 1 MB multiples of 64 up to 512, then four to a doubling;
// larger blocks eight to a doubling, so that at most an eighth is wasted. Private to allocator.cc.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace mycel {

constexpr size_t kLinearLimit = 512;
constexpr size_t kSmallLimit = size_t{896} << 10;  // the last small class
constexpr int kClasses = 8 + 4 * 11 - 1;

constexpr int class_of(size_t bytes) {
  if (bytes <= kLinearLimit) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) >> 6);
  const int e = std::bit_width(bytes - 1) - 1;  // 2^e < bytes <= 2^(e+1)
  return 8 + (e - 9) * 4 + static_cast<int>(((bytes - 1) >> (e - 2)) & 3);
}

constexpr size_t size_of_class(int c) {
  if (c < 8) return static_cast<size_t>(c + 1) << 6;
  const int e = (c - 8) / 4 + 9;
  return (size_t{1} << e) + (static_cast<size_t>((c - 8) % 4 + 1) << (e - 2));
}

constexpr auto kClassSize = [] {
  std::array<size_t, kClasses> sizes{};
  for (int c = 0; c < kClasses; ++c) sizes[c] = size_of_class(c);
  return sizes;
}();
static_assert(kClassSize[kClasses - 1] == kSmallLimit);

// Longest list that a thread keeps of a class: about 1 MB, but at least 2 and at most 1024 blocks.
constexpr auto kLongest = [] {
  std::array<uint32_t, kClasses> counts{};
  for (int c = 0; c < kClasses; ++c) {
    const size_t n = (size_t{1} << 20) / kClassSize[c];
    counts[c] = static_cast<uint32_t>(std::clamp<size_t>(n, 2, 1024));
  }
  return counts;
}();

// The capacity of a block above kSmallLimit.
constexpr size_t big_capacity(size_t bytes) {
  const size_t step = std::bit_floor(bytes - 1) >> 3;
  return (bytes + step - 1) / step * step;
}

}  // namespace mycel
