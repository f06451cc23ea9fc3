#include "tensor/provide_pages.h"

#include <atomic>
#include <cstdint>

#include <sys/mman.h>

#include "base/threads.h"

namespace mycel {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20, kWorthwhile = 16 * kHugePage;

bool there(uintptr_t page) {
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(page), 1, &resident) == 0 && (resident & 1);
}

}  // namespace

void provide_pages(void* data, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  // Whole huge pages; the rest comes when it is met.
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const int64_t length = static_cast<int64_t>(begin + bytes - first);
  if (length < kWorthwhile) return;
  const int64_t pages = length / kHugePage;
  // A block that is used again has its pages.
  if (there(first) && there(first + pages / 2 * kHugePage)) return;
  // Page by page in turn: no thread waits for a slow one, and memory nodes share the buffer.
  std::atomic<int64_t> next{0};
  parallel_for(thread_count(), 1, [&](int64_t, int64_t) {
    for (int64_t p = next++; p < pages; p = next++) {
      auto* page = reinterpret_cast<void*>(first + p * kHugePage);
      if (madvise(page, kHugePage, MADV_POPULATE_WRITE) != 0) return;  // an older system
    }
  });
#else
  (void)data, (void)bytes;
#endif
}

}  // namespace mycel
