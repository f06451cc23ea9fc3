#include "tensor/allocator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/memory_limit.h"
#include "tensor/size_class.h"
#include "tensor/storage.h"

namespace mycel {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCache = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kCache = false;
#else
constexpr bool kCache = true;
#endif
#else
constexpr bool kCache = true;
#endif

constexpr size_t kThreadLimit = size_t{16} << 20;   // bytes that one thread may keep
constexpr size_t kSharedLimit = size_t{256} << 20;  // bytes in the shared lists of small blocks
constexpr int64_t kFlushAt = 64 << 10;              // statistics a thread may hold back
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kAskSystemAbove = size_t{64}
                                   << 20;  // where the question about free memory is worth it

struct FreeBlock {
  FreeBlock* next;
};

struct List {
  FreeBlock* head = nullptr;
  uint32_t count = 0;

  void push(FreeBlock* b) {
    b->next = head;
    head = b;
    ++count;
  }
  FreeBlock* pop() {
    FreeBlock* b = head;
    if (b) {
      head = b->next;
      --count;
    }
    return b;
  }
};

struct ThreadCache {
  std::array<List, kClasses> lists;
  size_t bytes = 0;
  uint64_t epoch = 0;  // release_cached_memory calls seen
  // Written by the owner only (plain load and store), read by allocator_stats.
  std::atomic<int64_t> delta{0};  // in_use not yet added to the shared count
  std::atomic<int64_t> high{0};   // highest delta since it was last added
};

struct BigBlock {
  void* data;
  uint64_t stamp;  // when it was freed
};

// What all threads share. Never destroyed: tensors in static variables go after it would.
struct Shared {
  std::mutex mutex;  // guards everything down to `threads`
  std::array<List, kClasses> lists;
  size_t small_bytes = 0;
  std::map<size_t, std::deque<BigBlock>> big;  // by capacity, oldest first
  size_t big_bytes = 0;
  uint64_t clock = 0;
  std::vector<ThreadCache*> threads;
  std::atomic<uint64_t> epoch{0};
  std::atomic<int64_t> in_use{0};
  std::atomic<int64_t> peak{0};
  std::atomic<size_t> system_calls{0};
};

Shared& make_shared_state() {
  static Shared* const state = [] {
    auto* s = new Shared;
    // A child of fork must not inherit a mutex that another thread holds.
    pthread_atfork([] { make_shared_state().mutex.lock(); },
                   [] { make_shared_state().mutex.unlock(); },
                   [] { make_shared_state().mutex.unlock(); });
    return s;
  }();
  return *state;
}

Shared& shared() {
  static Shared& state = make_shared_state();
  return state;
}

// ---- The system ----

void* map_big(size_t capacity) {
  // Aligned to a huge page, so that the kernel can back the block with them: fewer faults and
  // misses.
  const size_t length = capacity + kHugePage;
  void* raw = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = (start + kHugePage - 1) & ~(kHugePage - 1);
  if (aligned != start) munmap(raw, aligned - start);
  const size_t tail = start + length - (aligned + capacity);
  if (tail != 0) munmap(reinterpret_cast<void*>(aligned + capacity), tail);
  auto* block = reinterpret_cast<void*>(aligned);
  if (capacity >= 2 * kHugePage) madvise(block, capacity, MADV_HUGEPAGE);
  return block;
}

void* system_allocate(size_t capacity) {
  shared().system_calls.fetch_add(1, std::memory_order_relaxed);
  return kCache && capacity > kSmallLimit ? map_big(capacity)
                                          : std::aligned_alloc(kAlignment, capacity);
}

void system_free(void* block, size_t capacity) noexcept {
  if (kCache && capacity > kSmallLimit) {
    munmap(block, capacity);
  } else {
    std::free(block);
  }
}

int64_t in_use_now();

// True when a block of this length would make the process larger than the machine: Linux would
// promise it and kill the process later. Memory handed out but not yet touched counts as used.
bool too_large(size_t bytes) {
  if (bytes > static_cast<size_t>(INT64_MAX)) return true;
  const double used = static_cast<double>(std::max<int64_t>(in_use_now(), 0));
  if (used + static_cast<double>(bytes) > static_cast<double>(memory_limit())) return true;
  return bytes >= kAskSystemAbove && bytes > memory_available();
}

[[noreturn]] void refuse(size_t bytes) {
  fail(ErrorKind::kMemory, "out of memory: {} asked; tensors hold {}, the limit is {}, {} are free",
       human_bytes(static_cast<double>(bytes)), human_bytes(static_cast<double>(in_use_now())),
       human_bytes(static_cast<double>(memory_limit())),
       human_bytes(static_cast<double>(memory_available())));
}

void* system_allocate_or_refuse(size_t capacity) {
  if (!too_large(capacity)) {
    if (void* block = system_allocate(capacity)) return block;
  }
  release_cached_memory();
  if (!too_large(capacity)) {
    if (void* block = system_allocate(capacity)) return block;
  }
  refuse(capacity);
}

// ---- Per-thread lists ----

// One pointer, reached without a call even from a shared library.
thread_local constinit ThreadCache* t_cache __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local constinit bool t_gone __attribute__((tls_model("initial-exec"))) = false;

void flush_statistics(ThreadCache& t) {
  Shared& s = shared();
  const int64_t before = s.in_use.fetch_add(t.delta.load(std::memory_order_relaxed));
  const int64_t high = before + t.high.load(std::memory_order_relaxed);
  int64_t peak = s.peak.load();
  while (high > peak && !s.peak.compare_exchange_weak(peak, high)) {
  }
  t.delta.store(0, std::memory_order_relaxed);
  t.high.store(0, std::memory_order_relaxed);
}

// Moves all but `keep` blocks of a class to the shared list, or to the system when that is full.
void spill(ThreadCache& t, int c, uint32_t keep) noexcept {
  Shared& s = shared();
  List surplus;
  {
    std::lock_guard lock(s.mutex);
    while (t.lists[c].count > keep) {
      FreeBlock* b = t.lists[c].pop();
      t.bytes -= kClassSize[c];
      if (s.small_bytes < kSharedLimit) {
        s.lists[c].push(b);
        s.small_bytes += kClassSize[c];
      } else {
        surplus.push(b);
      }
    }
  }
  while (FreeBlock* b = surplus.pop()) system_free(b, kClassSize[c]);
}

void release_thread_cache(ThreadCache& t) noexcept {
  for (int c = 0; c < kClasses; ++c) {
    while (FreeBlock* b = t.lists[c].pop()) system_free(b, kClassSize[c]);
  }
  t.bytes = 0;
}

// Hands a thread's blocks on when it ends.
struct ThreadEnd {
  ~ThreadEnd() {
    ThreadCache* t = t_cache;
    t_cache = nullptr;
    t_gone = true;
    if (!t) return;
    for (int c = 0; c < kClasses; ++c) spill(*t, c, 0);
    Shared& s = shared();
    {
      std::lock_guard lock(s.mutex);
      std::erase(s.threads, t);
      flush_statistics(*t);
    }
    delete t;
  }
};

// Null once the thread's own storage is being torn down, and when there is no memory for the lists.
ThreadCache* make_thread_cache() noexcept try {
  if (t_gone) return nullptr;
  static thread_local ThreadEnd end;
  (void)end;
  auto t = std::make_unique<ThreadCache>();
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  s.threads.push_back(t.get());
  t->epoch = s.epoch.load(std::memory_order_relaxed);
  return t_cache = t.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

ThreadCache* thread_cache() {
  if (ThreadCache* t = t_cache) [[likely]]
    return t;
  return make_thread_cache();
}

// The thread's list is empty: fetch a batch from the shared list, else one block from the system.
void* refill(ThreadCache* t, int c) {
  Shared& s = shared();
  {
    std::lock_guard lock(s.mutex);
    FreeBlock* first = s.lists[c].pop();
    if (first) {
      s.small_bytes -= kClassSize[c];
      for (uint32_t n = t ? kLongest[c] / 2 : 0; n > 0; --n) {
        FreeBlock* b = s.lists[c].pop();
        if (!b) break;
        s.small_bytes -= kClassSize[c];
        t->lists[c].push(b);
        t->bytes += kClassSize[c];
      }
      return first;
    }
  }
  return system_allocate_or_refuse(kClassSize[c]);
}

void give_to_shared(void* block, int c) noexcept {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  s.lists[c].push(static_cast<FreeBlock*>(block));
  s.small_bytes += kClassSize[c];
}

// ---- Large blocks ----

size_t big_cache_limit() {
  static const size_t limit = memory_limit() / 4;
  return limit;
}

void* take_big(size_t capacity) {
  {
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    auto it = s.big.find(capacity);
    if (it != s.big.end() && !it->second.empty()) {
      void* block = it->second.back().data;  // the one freed last is the warmest
      it->second.pop_back();
      s.big_bytes -= capacity;
      return block;
    }
  }
  return system_allocate_or_refuse(capacity);
}

// Removes the block that has waited longest; the mutex is held.
BigBlock pop_oldest(Shared& s, size_t* capacity) {
  auto oldest = s.big.end();
  for (auto it = s.big.begin(); it != s.big.end(); ++it) {
    if (it->second.empty()) continue;
    if (oldest == s.big.end() || it->second.front().stamp < oldest->second.front().stamp)
      oldest = it;
  }
  const BigBlock b = oldest->second.front();
  oldest->second.pop_front();
  *capacity = oldest->first;
  s.big_bytes -= oldest->first;
  return b;
}

void give_big(void* block, size_t capacity) noexcept try {
  Shared& s = shared();
  if (capacity > big_cache_limit()) return system_free(block, capacity);
  {
    std::lock_guard lock(s.mutex);
    s.big[capacity].push_back({block, ++s.clock});
    s.big_bytes += capacity;
  }
  for (;;) {  // unmapping takes long: one block at a time, outside the lock
    size_t length = 0;
    BigBlock b{};
    {
      std::lock_guard lock(s.mutex);
      if (s.big_bytes <= big_cache_limit()) return;
      b = pop_oldest(s, &length);
    }
    system_free(b.data, length);
  }
} catch (const std::bad_alloc&) {
  system_free(block, capacity);  // no memory to remember it by
}

int64_t in_use_now() {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  int64_t sum = s.in_use.load();
  for (const ThreadCache* t : s.threads) sum += t->delta.load(std::memory_order_relaxed);
  return sum;
}

void release_own_when_asked(ThreadCache& t) noexcept {
  t.epoch = shared().epoch.load(std::memory_order_relaxed);
  release_thread_cache(t);
}

}  // namespace

size_t block_capacity(size_t bytes) {
  return bytes <= kSmallLimit ? kClassSize[class_of(bytes)] : big_capacity(bytes);
}

void* take_block(size_t bytes, size_t* capacity) {
  if (bytes > kSmallLimit) {
    if (bytes > static_cast<size_t>(INT64_MAX)) refuse(bytes);
    *capacity = big_capacity(bytes);
    return kCache ? take_big(*capacity) : system_allocate_or_refuse(*capacity);
  }
  const int c = class_of(bytes);
  *capacity = kClassSize[c];
  if (!kCache) return system_allocate_or_refuse((std::max<size_t>(bytes, 1) + 63) & ~size_t{63});
  ThreadCache* t = thread_cache();
  if (t) [[likely]] {
    if (FreeBlock* b = t->lists[c].pop()) [[likely]] {
      t->bytes -= kClassSize[c];
      return b;
    }
  }
  return refill(t, c);
}

void give_block(void* block, size_t capacity) noexcept {
  if (!kCache) return system_free(block, capacity);
  if (capacity > kSmallLimit) return give_big(block, capacity);
  const int c = class_of(capacity);
  ThreadCache* t = thread_cache();
  if (!t) return give_to_shared(block, c);
  t->lists[c].push(static_cast<FreeBlock*>(block));
  t->bytes += capacity;
  if (t->lists[c].count > kLongest[c] || t->bytes > kThreadLimit) [[unlikely]] {
    spill(*t, c, t->lists[c].count / 2);
  }
  if (t->epoch != shared().epoch.load(std::memory_order_relaxed)) [[unlikely]] {
    release_own_when_asked(*t);
  }
}

void account_bytes(int64_t bytes) noexcept {
  ThreadCache* t = thread_cache();
  if (!t) {
    shared().in_use.fetch_add(bytes);
    return;
  }
  const int64_t delta = t->delta.load(std::memory_order_relaxed) + bytes;
  t->delta.store(delta, std::memory_order_relaxed);
  if (delta > t->high.load(std::memory_order_relaxed)) {
    t->high.store(delta, std::memory_order_relaxed);
  }
  if (delta > kFlushAt || delta < -kFlushAt) [[unlikely]]
    flush_statistics(*t);
}

void* PooledObject::operator new(size_t bytes) {
  size_t capacity = 0;
  return take_block(bytes, &capacity);
}

void PooledObject::operator delete(void* object, size_t bytes) noexcept {
  give_block(object, block_capacity(bytes));
}

AllocatorStats allocator_stats() {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  int64_t in_use = s.in_use.load();
  int64_t high = in_use;
  size_t cached = s.small_bytes + s.big_bytes;
  for (const ThreadCache* t : s.threads) {
    in_use += t->delta.load(std::memory_order_relaxed);
    high += t->high.load(std::memory_order_relaxed);
  }
  if (t_cache) cached += t_cache->bytes;  // other threads' lists change under our eyes: left out
  AllocatorStats stats;
  stats.in_use = static_cast<size_t>(std::max<int64_t>(in_use, 0));
  stats.peak = static_cast<size_t>(std::max({s.peak.load(), high, in_use, int64_t{0}}));
  stats.cached = cached;
  stats.system_calls = s.system_calls.load(std::memory_order_relaxed);
  return stats;
}

void reset_allocator_peak() {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  int64_t in_use = s.in_use.load();
  for (ThreadCache* t : s.threads) {
    const int64_t delta = t->delta.load(std::memory_order_relaxed);
    t->high.store(delta, std::memory_order_relaxed);
    in_use += delta;
  }
  s.peak.store(in_use);
}

void release_cached_memory() {
  Shared& s = shared();
  std::array<List, kClasses> lists;
  std::map<size_t, std::deque<BigBlock>> big;
  {
    std::lock_guard lock(s.mutex);
    std::swap(lists, s.lists);
    std::swap(big, s.big);
    s.small_bytes = s.big_bytes = 0;
    s.epoch.fetch_add(1);
  }
  for (int c = 0; c < kClasses; ++c) {
    while (FreeBlock* b = lists[c].pop()) system_free(b, kClassSize[c]);
  }
  for (auto& [capacity, blocks] : big) {
    for (const BigBlock& b : blocks) system_free(b.data, capacity);
  }
  if (t_cache) release_own_when_asked(*t_cache);
}

}  // namespace mycel
