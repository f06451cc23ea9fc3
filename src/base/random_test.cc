#include "base/random.h"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace mycel {
namespace {

// Vectors "philox4x32 10" of the Random123 distribution's kat_vectors.
static_assert(philox({0, 0}, {0, 0, 0, 0}) ==
              uint32x4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}) ==
              uint32x4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
              uint32x4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST(Philox, SequenceIsTheBlocksInOrder) {
  Philox draw(0x299f31d0a4093822u, 0x0370734413198a2eu);
  for (uint32_t block = 0; block < 3; ++block) {
    const uint32x4 want = philox({0xa4093822, 0x299f31d0}, {block, 0, 0x13198a2e, 0x03707344});
    for (uint32_t word : want) EXPECT_EQ(draw.next32(), word);
  }
}

TEST(Philox, UniformHasItsMoments) {
  Philox draw(7);
  double sum = 0, squares = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = draw.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * 0.2887 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.004);
}

TEST(Philox, NormalHasItsMoments) {
  Philox draw(8, 3);
  double moments[5] = {};
  constexpr int kDraws = 400000;
  for (int i = 0; i < kDraws; ++i) {
    const double z = draw.normal();
    for (int k = 1; k <= 4; ++k) moments[k] += std::pow(z, k) / kDraws;
  }
  const double unit = 5 / std::sqrt(kDraws);  // five standard errors
  EXPECT_NEAR(moments[1], 0, unit);
  EXPECT_NEAR(moments[2], 1, unit * std::sqrt(2));
  EXPECT_NEAR(moments[3], 0, unit * std::sqrt(15));
  EXPECT_NEAR(moments[4], 3, unit * std::sqrt(96));
}

TEST(Philox, BelowIsUniformAndInRange) {
  Philox draw(9);
  int counts[6] = {};
  for (int i = 0; i < 60000; ++i) ++counts[draw.below(6)];
  for (int n : counts) EXPECT_NEAR(n, 10000, 5 * std::sqrt(10000 * 5.0 / 6));
  EXPECT_EQ(draw.below(1), 0u);
  const uint64_t large = (uint64_t{1} << 63) + 1;
  for (int i = 0; i < 100; ++i) EXPECT_LT(draw.below(large), large);
}

TEST(Permutation, IsABijectionWithItsInverse) {
  for (uint64_t n : {1u, 2u, 3u, 10u, 16u, 17u, 255u, 256u, 257u, 1000u, 65536u, 65537u}) {
    for (uint64_t seed : {0u, 1u, 12345u}) {
      const Permutation p(n, seed);
      std::vector<bool> seen(n, false);
      for (uint64_t i = 0; i < n; ++i) {
        const uint64_t j = p(i);
        ASSERT_LT(j, n);
        ASSERT_FALSE(seen[j]) << "n " << n << " seed " << seed;
        seen[j] = true;
        ASSERT_EQ(p.inverse(j), i);
      }
    }
  }
}

TEST(Permutation, LargeDomain) {
  for (uint64_t n : {(uint64_t{1} << 40) + 7, (uint64_t{1} << 62) + 1, UINT64_MAX}) {
    const Permutation p(n, 3);
    for (uint64_t i : {uint64_t{0}, uint64_t{1}, n / 2, n - 1}) EXPECT_EQ(p.inverse(p(i)), i);
  }
}

TEST(Permutation, EveryOrderIsAsLikely) {
  std::map<std::vector<uint64_t>, int> orders;
  constexpr int kSeeds = 24000;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Permutation p(4, seed);
    ++orders[{p(0), p(1), p(2), p(3)}];
  }
  ASSERT_EQ(orders.size(), 24u);
  double chi = 0;
  for (const auto& [order, n] : orders) chi += (n - 1000.0) * (n - 1000.0) / 1000.0;
  EXPECT_LT(chi, 60);  // 23 degrees of freedom: exceeded once in 30,000
}

// Pearson's statistic of counts that should be equal.
double chi_square(const std::vector<int>& counts, double want) {
  double chi = 0;
  for (const int n : counts) chi += (n - want) * (n - want) / want;
  return chi;
}

TEST(Permutation, PlacesAndNeighboursAreSpreadEvenly) {
  constexpr int kCells = 256;
  for (uint64_t n : {uint64_t{1} << 17, uint64_t{1'000'003}, uint64_t{100'000'000}}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const Permutation p(n, seed);
      constexpr int kPlaces = 100'000;
      // Of the first places: where they go, and how far neighbours and places with one other bit
      // lie apart.
      std::vector<int> where(kCells), apart(kCells), flipped(kCells);
      const auto cell = [&](uint64_t v) { return static_cast<size_t>(v % n * kCells / n); };
      for (uint64_t i = 0; i < kPlaces; ++i) {
        ++where[cell(p(i))];
        ++apart[cell(n + p(i + 1) - p(i))];
        ++flipped[cell(n + p(i ^ (1 << seed)) - p(i))];
      }
      // 255 degrees of freedom: above 372 once in 400,000; of pairs each is counted twice.
      if (n > kPlaces * 10) {
        EXPECT_LT(chi_square(where, double{kPlaces} / kCells), 372) << n;
      }
      EXPECT_LT(chi_square(apart, double{kPlaces} / kCells), 372) << n << " seed " << seed;
      EXPECT_LT(chi_square(flipped, double{kPlaces} / kCells), 2 * 372) << n << " seed " << seed;
    }
  }
}

TEST(Permutation, DependsOnTheStream) {
  const Permutation a(1000, 5, 0), b(1000, 5, 1);
  int same = 0;
  for (uint64_t i = 0; i < 1000; ++i) same += a(i) == b(i);
  EXPECT_LT(same, 10);
}

}  // namespace
}  // namespace mycel
