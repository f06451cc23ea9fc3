#include "runtime/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "tensor/storage.h"

namespace mycel::runtime {

size_t place_buffers(std::vector<BufferLife>& buffers) {
  auto rounded = [](size_t bytes) {
    return (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  };
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<size_t> placed;  // sorted by offset
  size_t total = 0;
  for (size_t i : order) {
    BufferLife& b = buffers[i];
    size_t at = 0;
    for (size_t p : placed) {
      const BufferLife& other = buffers[p];
      if (other.last < b.first || b.last < other.first) continue;
      if (at + rounded(b.bytes) <= other.offset) break;
      at = std::max(at, other.offset + rounded(other.bytes));
    }
    b.offset = at;
    total = std::max(total, at + rounded(b.bytes));
    auto by_offset = [&](size_t x, size_t y) { return buffers[x].offset < buffers[y].offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i, by_offset), i);
  }
  return total;
}

}  // namespace mycel::runtime
