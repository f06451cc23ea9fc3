#include "tensor/allocator.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/random.h"
#include "tensor/storage.h"
#include "tensor/tensor.h"

namespace mycel {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCached = false;
#else
constexpr bool kCached = true;
#endif

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % kAlignment == 0; }

TEST(Allocator, CapacityCoversEverySize) {
  for (size_t bytes = 0; bytes < (size_t{3} << 20); bytes += bytes < 5000 ? 1 : 997) {
    const size_t capacity = block_capacity(bytes);
    ASSERT_GE(capacity, bytes);
    ASSERT_EQ(capacity % kAlignment, 0u);
    ASSERT_EQ(block_capacity(capacity), capacity) << bytes;  // what give_block relies on
    if (bytes > 512) {
      ASSERT_LE(static_cast<double>(capacity), 1.25 * static_cast<double>(bytes));
    }
  }
}

TEST(Allocator, BlocksAreAlignedAndReused) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{65}, size_t{4000}, size_t{1} << 20,
                       size_t{5} << 20}) {
    const Ref<Storage> first = Storage::allocate(bytes);
    EXPECT_TRUE(first->data());
    EXPECT_TRUE(aligned(first->data()));
    EXPECT_EQ(first->bytes(), bytes);
    if (bytes) std::memset(first->data(), 0x5A, bytes);
  }
  void* before = Storage::allocate(1000)->data();
  const size_t calls = allocator_stats().system_calls;
  if (kCached) {
    EXPECT_EQ(Storage::allocate(1000)->data(), before);
    EXPECT_EQ(allocator_stats().system_calls, calls);
  }
}

TEST(Allocator, StatisticsCountBytes) {
  const size_t base = allocator_stats().in_use;
  reset_allocator_peak();
  {
    const Ref<Storage> a = Storage::allocate(1000);
    EXPECT_EQ(allocator_stats().in_use, base + 1000);
    const Ref<Storage> b = Storage::allocate(size_t{3} << 20);
    EXPECT_EQ(allocator_stats().in_use, base + 1000 + (size_t{3} << 20));
  }
  EXPECT_EQ(allocator_stats().in_use, base);
  EXPECT_EQ(allocator_stats().peak, base + 1000 + (size_t{3} << 20));
  reset_allocator_peak();
  EXPECT_EQ(allocator_stats().peak, base);
}

TEST(Allocator, ReleaseEmptiesTheCache) {
  {
    const Ref<Storage> big = Storage::allocate(size_t{9} << 20), small = Storage::allocate(100);
  }
  if (kCached) {
    EXPECT_GE(allocator_stats().cached, size_t{9} << 20);
  }
  release_cached_memory();
  // What this very test's bookkeeping freed since may be there again, but no more.
  EXPECT_LT(allocator_stats().cached, size_t{1} << 10);
}

TEST(Allocator, BigCacheIsBounded) {
  const size_t bound = static_cast<size_t>(memory_limit() / 4);
  const size_t one = bound / 3;  // never touched: costs address space only
  try {
    for (int i = 0; i < 8; ++i) {
      {
        const Ref<Storage> s = Storage::allocate(one + static_cast<size_t>(i) * (one / 2));
      }
      EXPECT_LE(allocator_stats().cached, bound + (size_t{1} << 20));
    }
  } catch (const UserError& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kMemory);  // a machine with little memory to spare
  }
  release_cached_memory();
}

TEST(Allocator, TooMuchIsRefusedWithTheSize) {
  try {
    Storage::allocate(size_t{1} << 50);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kMemory);
    EXPECT_NE(std::string(e.what()).find("1.00 PiB asked"), std::string::npos) << e.what();
  }
  EXPECT_THROW(Storage::allocate(SIZE_MAX), UserError);
  EXPECT_THROW(Storage::allocate(static_cast<size_t>(memory_limit()) + 1), UserError);
}

// Many blocks that are each small enough, but not together: Linux would promise them all.
TEST(Allocator, TheSumIsRefusedBeforeTheSystemKills) {
  std::vector<Ref<Storage>> held;
  const size_t part = static_cast<size_t>(memory_limit() / 10);
  bool refused = false;
  for (int i = 0; i < 12 && !refused; ++i) {
    try {
      held.push_back(Storage::allocate(part));
    } catch (const UserError& e) {
      refused = e.kind() == ErrorKind::kMemory;
    }
  }
  EXPECT_TRUE(refused);
  held.clear();
  release_cached_memory();
}

TEST(Allocator, HumanBytes) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1023), "1023 bytes");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(3.2 * 1024 * 1024 * 1024), "3.20 GiB");
  EXPECT_EQ(human_bytes(0x1p70), "1.00 ZiB");
}

// A block's content must stay its owner's: each is filled with a pattern and checked before it
// goes.
void churn(uint64_t seed, int steps) {
  Philox draw(seed);
  struct Held {
    Ref<Storage> storage;
    unsigned char pattern;
  };
  std::vector<Held> held;
  for (int i = 0; i < steps; ++i) {
    if (held.size() < 50 || draw.below(2) == 0) {
      const size_t bytes = draw.below(20) == 0 ? draw.below(2 << 20) : draw.below(3000);
      const auto pattern = static_cast<unsigned char>(draw.next32());
      Ref<Storage> s = Storage::allocate(bytes);
      std::memset(s->data(), pattern, std::min<size_t>(bytes, 4096));
      held.push_back({std::move(s), pattern});
    } else {
      std::swap(held[draw.below(held.size())], held.back());
      const Held& h = held.back();
      const auto* bytes = static_cast<const unsigned char*>(h.storage->data());
      for (size_t k = 0; k < std::min<size_t>(h.storage->bytes(), 4096); ++k) {
        ASSERT_EQ(bytes[k], h.pattern);
      }
      held.pop_back();
    }
  }
}

TEST(Allocator, ThreadsKeepTheirBlocksApart) {
  const size_t before = allocator_stats().in_use;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) threads.emplace_back(churn, i, 5000);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(allocator_stats().in_use, before);
}

// A producer allocates, a consumer frees: blocks must come back to the producer, not pile up.
TEST(Allocator, BlocksFreedElsewhereReturn) {
  constexpr int kBatches = 300, kBatch = 500;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Ref<Storage>> mail;
  bool done = false;
  std::thread consumer([&] {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return !mail.empty() || done; });
      if (mail.empty()) return;
      mail.clear();
      changed.notify_one();
    }
  });
  const size_t calls = allocator_stats().system_calls;
  for (int b = 0; b < kBatches; ++b) {
    std::vector<Ref<Storage>> batch;
    for (int i = 0; i < kBatch; ++i) batch.push_back(Storage::allocate(2048));
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return mail.empty(); });
    mail = std::move(batch);
    changed.notify_one();
  }
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  consumer.join();
  const size_t asked = allocator_stats().system_calls - calls;
  if (kCached) {
    EXPECT_LT(asked, 10u * 2 * kBatch) << "of " << 2 * kBatches * kBatch;
  }
}

TEST(Allocator, TensorsOutliveTheirThread) {
  Tensor t;
  std::thread([&] { t = Tensor::full(DType::kFloat32, {1000}, 2.5); }).join();
  EXPECT_EQ(t.data<float>()[999], 2.5f);
}

// Frees a tensor after the thread's own cache is gone: thread_local objects die in reverse order.
TEST(Allocator, FreeingWhileAThreadEnds) {
  const size_t before = allocator_stats().in_use;
  std::thread([] {
    static thread_local Tensor early;  // constructed before the cache, destroyed after it
    early = Tensor::zeros(DType::kFloat32, {64});
  }).join();
  EXPECT_EQ(allocator_stats().in_use, before);
}

TEST(Allocator, ForeignMemoryIsReleasedOnce) {
  int released = 0;
  float data[4] = {1, 2, 3, 4};
  {
    const Tensor t = Tensor::wrap(data, DType::kFloat32, {4}, [&] { ++released; });
    const Tensor v = t.view({2}, 2);
    EXPECT_EQ(v.data<float>()[0], 3);
    EXPECT_FALSE(t.sole_owner());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  {
    const Tensor borrowed = Tensor::wrap(data, DType::kFloat32, {4}, nullptr);
  }
}

}  // namespace
}  // namespace mycel
