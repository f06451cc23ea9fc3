// Arrays of samples that a transform needs for a moment. Their memory is that of tensors, which is
// kept for the next call: the system's own takes large blocks back each time, and making their
// pages anew costs as much as a Fourier transform of what lies in them.
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/allocator.h"

namespace mycel::data {

template <typename T>
struct KeptMemory {
  using value_type = T;
  KeptMemory() = default;
  template <typename U>
  KeptMemory(const KeptMemory<U>&) {}  // NOLINT(google-explicit-constructor): as allocators do
  T* allocate(size_t n) {
    size_t capacity = 0;
    return static_cast<T*>(take_block(n * sizeof(T), &capacity));
  }
  void deallocate(T* p, size_t n) { give_block(p, block_capacity(n * sizeof(T))); }
  bool operator==(const KeptMemory&) const { return true; }
};
using Samples = std::vector<double, KeptMemory<double>>;

}  // namespace mycel::data
