#include "data/permuted_run.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "data/order.h"

namespace mycel::data {
namespace {

TEST(PermutedRun, GivesTheNumbersOfSingleLookups) {
  for (const uint64_t n : {1u, 2u, 255u, 257u, 5000u, 65537u, 1u << 16}) {
    const Permutation order(n, 7, 3);
    for (const uint64_t first : {uint64_t{0}, n / 3, n - 1}) {
      std::vector<int64_t> run(static_cast<size_t>(n - first));
      permuted_run(order, first, run);
      for (size_t k = 0; k < run.size(); ++k)
        ASSERT_EQ(run[k], static_cast<int64_t>(order(first + k))) << n << " " << first + k;
    }
  }
}

TEST(PermutedRun, OrdersAreReadInRuns) {
  for (const OrderPtr& order : {random_order(5), random_order(5, true), sequential(3),
                                sharded(3, 1, true, 9), random_subset({5, 2, 9, 4}, 1)}) {
    const int64_t n = order->size(1000);
    std::vector<int64_t> run(static_cast<size_t>(n));
    order->read(2, 1000, 0, run);
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(run[static_cast<size_t>(i)], order->at(2, 1000, i)) << order->describe();
  }
}

}  // namespace
}  // namespace mycel::data
