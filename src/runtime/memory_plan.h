// Offline placement of buffers in one arena: each has a size and a lifetime in steps; two may share
// bytes only if their lifetimes do not meet. Largest first, each into the free rectangle of bytes
// and steps that fits its lifetime closest; what is left of the rectangle is cut into three. On the
// plans of networks that is the memory alive at one time, like the quadratic best-fit decreasing
// (Pisarchyk & Lee, "Efficient memory management for deep neural net inference", 2020), in
// O(n log n).
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/storage.h"

namespace mycel::runtime {

struct BufferLife {
  size_t bytes = 0;
  int first = 0, last = 0;  // steps, inclusive
  size_t offset = 0;        // filled in; a multiple of the alignment
};

// Returns the size of the arena.
size_t place_buffers(std::vector<BufferLife>& buffers, size_t alignment = kAlignment);

}  // namespace mycel::runtime
