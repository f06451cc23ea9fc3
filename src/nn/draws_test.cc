// Draws give the elements of Philox as its paper and Box-Muller define them, whichever part of a
// stream is asked for, and initializers the same bits at every thread count.
#include "nn/draws.h"

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/threads.h"
#include "nn/init.h"
#include "runtime/random_state.h"

namespace mycel::nn {
namespace {

struct Pair {
  double u, v;
};

Pair pair_of(const Tensor& key, uint64_t i) {
  auto k = key.data<uint32_t>();
  uint32x4 w =
      philox({k[0], k[1]}, {static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), 0, 0});
  auto unit = [](uint64_t high, uint64_t low) {
    return static_cast<double>((high << 21) ^ (low >> 11)) / 9007199254740992.0;  // 2^53
  };
  return {unit(w[0], w[1]), unit(w[2], w[3])};
}

TEST(Draws, AreTheNumbersOfThePaper) {
  for (int64_t first : {int64_t{0}, int64_t{17}, (int64_t{1} << 32) - 5}) {
    runtime::set_seed(7);
    Tensor key = runtime::next_key();
    runtime::set_seed(7);
    Draws d;
    std::vector<double> u(150), z(150), t(150);
    d.uniform(first, u);
    d.normal(first, z);
    d.truncated_normal(first, t);
    for (size_t i = 0; i < u.size(); ++i) {
      Pair p = pair_of(key, static_cast<uint64_t>(first) + i);
      EXPECT_EQ(u[i], p.u);
      EXPECT_NEAR(z[i], std::sqrt(-2 * std::log(1 - p.u)) * std::cos(2 * std::numbers::pi * p.v),
                  1e-14);
      // The distribution function of the normal cut at two deviations.
      double below = std::erf(t[i] / std::numbers::sqrt2) / std::erf(std::numbers::sqrt2);
      EXPECT_NEAR((below + 1) / 2, p.u, 1e-14);
    }
  }
}

TEST(Draws, InitializersGiveTheSameBitsAtAnyThreadCount) {
  const int before = thread_count();
  for (const char* name : {"Normal", "Uniform", "TruncatedNormal", "HeUniform", "Orthogonal"}) {
    for (DType dtype : {DType::kFloat32, DType::kFloat16, DType::kFloat64}) {
      std::vector<Tensor> made;
      for (int threads : {1, 2, 3}) {
        set_thread_count(threads);
        runtime::set_seed(3);
        made.push_back(Init(name).make({65, 97}, dtype));
      }
      for (const Tensor& t : made)
        EXPECT_EQ(std::memcmp(t.raw(), made[0].raw(), t.bytes()), 0) << name;
    }
  }
  set_thread_count(before);
}

}  // namespace
}  // namespace mycel::nn
