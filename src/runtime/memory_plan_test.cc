// Buffers that live at the same time never share a byte, and the arena is close to the least that
// is possible: the memory alive at one time.
#include "runtime/memory_plan.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace mycel::runtime {
namespace {

size_t rounded(size_t bytes) { return (std::max<size_t>(bytes, 1) + 63) / 64 * 64; }

size_t most_alive(const std::vector<BufferLife>& buffers, int steps) {
  size_t most = 0;
  for (int t = 0; t < steps; ++t) {
    size_t alive = 0;
    for (const BufferLife& b : buffers) alive += b.first <= t && t <= b.last ? rounded(b.bytes) : 0;
    most = std::max(most, alive);
  }
  return most;
}

void expect_apart(const std::vector<BufferLife>& buffers, size_t total) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferLife& a = buffers[i];
    ASSERT_EQ(a.offset % 64, 0u);
    ASSERT_LE(a.offset + a.bytes, total);
    for (size_t j = 0; j < i; ++j) {
      const BufferLife& b = buffers[j];
      bool meet = a.first <= b.last && b.first <= a.last;
      bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      ASSERT_FALSE(meet && overlap) << i << " and " << j;
    }
  }
}

TEST(MemoryPlan, RandomLivesNeverMeet) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Philox draw(seed);
    std::vector<BufferLife> buffers;
    int n = 1 + static_cast<int>(draw.below(300)), steps = 1 + static_cast<int>(draw.below(200));
    for (int i = 0; i < n; ++i) {
      int first = static_cast<int>(draw.below(steps));
      int last = first + static_cast<int>(draw.below(static_cast<uint64_t>(steps - first)));
      buffers.push_back({draw.below(uint64_t{1} << (1 + draw.below(16))), first, last, 0});
    }
    size_t total = place_buffers(buffers), alive = most_alive(buffers, steps);
    expect_apart(buffers, total);
    EXPECT_GE(total, alive);
    EXPECT_LE(total, alive * 3 / 2 + 64) << "seed " << seed;
  }
}

// Forward values wait for the gradient in reverse order; temporaries live for a step or two. The
// sizes halve from stage to stage, as in a network: nothing need be lost.
TEST(MemoryPlan, TrainingStepsTakeWhatIsAlive) {
  constexpr int kLayers = 400;
  std::vector<BufferLife> buffers;
  for (int i = 0; i < kLayers; ++i) {
    size_t bytes = size_t{1} << (20 - i / 100);
    buffers.push_back({bytes, i, 2 * kLayers - i, 0});
    buffers.push_back({bytes / 2, i, i + 1, 0});
    buffers.push_back({bytes, 2 * kLayers - i, 2 * kLayers - i + 1, 0});
  }
  size_t total = place_buffers(buffers);
  expect_apart(buffers, total);
  EXPECT_EQ(total, most_alive(buffers, 2 * kLayers + 2));
}

TEST(MemoryPlan, NothingAndEmptyBuffers) {
  std::vector<BufferLife> none, empty{{0, 0, 0, 0}, {0, 0, 0, 0}};
  EXPECT_EQ(place_buffers(none), 0u);
  EXPECT_EQ(place_buffers(empty), 128u);
  EXPECT_NE(empty[0].offset, empty[1].offset);
}

}  // namespace
}  // namespace mycel::runtime
