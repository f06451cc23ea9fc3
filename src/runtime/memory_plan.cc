#include "runtime/memory_plan.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "tensor/storage.h"

namespace mycel::runtime {
namespace {

size_t rounded_up(size_t bytes, size_t to) {
  return (std::max<size_t>(bytes, 1) + to - 1) / to * to;
}

// Bytes [offset, offset + bytes) that nobody uses in steps [first, last].
struct Gap {
  int first, last;
  size_t offset, bytes;
};

// The gaps that buffers of the size now being placed, or smaller ones, fit into.
class Gaps {
 public:
  explicit Gaps(int steps)
      : leaves_(std::bit_ceil(static_cast<size_t>(steps))),
        starting_(static_cast<size_t>(steps)),
        latest_(2 * leaves_, -1) {}

  void add(const Gap& g) {
    if (g.first > g.last || g.bytes == 0) return;
    if (g.bytes < size_) {
      too_small_.emplace(g.bytes, g);
    } else {
      open(g);
    }
  }

  // From now on buffers have this size at most.
  void shrink_to(size_t bytes) {
    size_ = bytes;
    while (!too_small_.empty() && std::prev(too_small_.end())->first >= bytes) {
      open(std::prev(too_small_.end())->second);
      too_small_.erase(std::prev(too_small_.end()));
    }
  }

  // Takes out the gap around [first, last] that begins last, of those the one that ends first.
  bool take(int first, int last, Gap* out) {
    int start = latest_start(first, last);
    if (start < 0) return false;
    auto& gaps = starting_[static_cast<size_t>(start)];
    auto it = gaps.lower_bound({last, 0, 0});
    *out = {start, std::get<0>(*it), std::get<1>(*it), std::get<2>(*it)};
    gaps.erase(it);
    update(static_cast<size_t>(start));
    return true;
  }

 private:
  void open(const Gap& g) {
    starting_[static_cast<size_t>(g.first)].insert({g.last, g.offset, g.bytes});
    update(static_cast<size_t>(g.first));
  }

  void update(size_t start) {
    const auto& gaps = starting_[start];
    size_t i = start + leaves_;
    latest_[i] = gaps.empty() ? -1 : std::get<0>(*gaps.rbegin());
    for (i /= 2; i >= 1; i /= 2) latest_[i] = std::max(latest_[2 * i], latest_[2 * i + 1]);
  }

  // The last step up to `first` at which a gap begins that reaches `last`, or -1: up the tree to
  // the first left neighbour that has one, and down again.
  int latest_start(int first, int last) const {
    size_t i = static_cast<size_t>(first) + leaves_;
    if (latest_[i] < last) {
      while (i > 1 && (i % 2 == 0 || latest_[i - 1] < last)) i /= 2;
      if (i <= 1) return -1;
      --i;
    }
    while (i < leaves_) i = latest_[2 * i + 1] >= last ? 2 * i + 1 : 2 * i;
    return static_cast<int>(i - leaves_);
  }

  size_t leaves_, size_ = SIZE_MAX;
  std::vector<std::set<std::tuple<int, size_t, size_t>>> starting_;  // last, offset, bytes
  std::vector<int> latest_;  // tree over the steps: the last step that a gap beginning here reaches
  std::multimap<size_t, Gap> too_small_;
};

}  // namespace

size_t place_buffers(std::vector<BufferLife>& buffers, size_t alignment) {
  auto rounded = [&](size_t bytes) { return rounded_up(bytes, alignment); };
  int steps = 1;
  for (const BufferLife& b : buffers) steps = std::max(steps, b.last + 1);
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
    const BufferLife &a = buffers[x], &b = buffers[y];
    size_t m = rounded(a.bytes), n = rounded(b.bytes);
    return m != n ? m > n : a.first < b.first;
  });
  Gaps gaps(steps);
  size_t total = 0;
  for (size_t i : order) {
    BufferLife& b = buffers[i];
    size_t bytes = rounded(b.bytes);
    gaps.shrink_to(bytes);
    Gap g{};
    if (!gaps.take(b.first, b.last, &g)) {
      g = {0, steps - 1, total, bytes};
      total += bytes;
    }
    b.offset = g.offset;
    gaps.add({g.first, b.first - 1, g.offset, bytes});
    gaps.add({b.last + 1, g.last, g.offset, bytes});
    gaps.add({g.first, g.last, g.offset + bytes, g.bytes - bytes});
  }
  return total;
}

}  // namespace mycel::runtime
