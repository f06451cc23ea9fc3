// Blocks of memory for tensors and their bookkeeping objects. Blocks below 1 MB go through free
// lists that each thread owns (no lock, no atomic read-modify-write); a block freed by another
// thread joins that thread's list, and lists that grow too long spill into a shared one. Larger
// blocks share one bounded cache. Under AddressSanitizer nothing is cached, so that it sees every
// use after free.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mycel {

// A block of at least `bytes`, 64-byte aligned; `capacity` says how long it really is. MemoryError
// naming the size when the machine has not that much or the system refuses.
void* take_block(size_t bytes, size_t* capacity);
// Gives a block back; `capacity` as take_block said.
void give_block(void* block, size_t capacity) noexcept;

// The capacity that take_block gives for `bytes`.
size_t block_capacity(size_t bytes);

// Adds to the statistics in storage.h. Exact with one thread; each further thread may hold back up
// to 64 KB from the peak.
void account_bytes(int64_t bytes) noexcept;

// Class-level operator new and delete for small objects that are made on every eager op.
struct PooledObject {
  static void* operator new(size_t bytes);
  static void operator delete(void* object, size_t bytes) noexcept;
};

}  // namespace mycel
