// Storage: a reference-counted block of memory. Blocks come from a caching allocator (size classes
// with per-thread free lists, 64-byte alignment), so that an eager op reuses memory instead of
// asking the system for it; foreign memory is wrapped with its own release function.
#pragma once

#include <cstddef>
#include <functional>

#include "base/ref.h"
#include "tensor/allocator.h"

namespace mycel {

constexpr size_t kAlignment = 64;

class Storage final : public RefCounted, public PooledObject {
 public:
  // MemoryError naming the size when the system refuses or `bytes` exceeds the machine's memory.
  static Ref<Storage> allocate(size_t bytes);
  static Ref<Storage> wrap(void* data, size_t bytes, std::function<void()> release);
  ~Storage() override;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  bool foreign() const { return static_cast<bool>(release_); }

 private:
  Storage() = default;
  void* data_ = nullptr;
  size_t bytes_ = 0;     // as asked
  size_t capacity_ = 0;  // size class
  std::function<void()> release_;
};

struct AllocatorStats {
  size_t in_use = 0;  // bytes handed out now
  size_t peak = 0;    // highest in_use since start or reset_peak
  size_t cached = 0;  // bytes kept for reuse (of other threads' own lists nothing is known)
  size_t system_calls = 0;
};
AllocatorStats allocator_stats();
void reset_allocator_peak();
// Gives every cached block back to the system; another thread gives up its own list (at most 16 MB)
// when it next frees a block.
void release_cached_memory();

}  // namespace mycel
