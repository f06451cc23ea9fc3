// The random room: published known-answer vectors, statistics with fixed keys, independence of
// threads.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/threads.h"
#include "loops/interpret.h"
#include "ops/random/philox.h"
#include "runtime/op_calls.h"

namespace mycel {
namespace {

using namespace op_calls;  // NOLINT

Tensor key(uint32_t a, uint32_t b) { return of<uint32_t>({a, b}); }

// kat_vectors of the Random123 distribution: "philox4x32 10".
TEST(Philox, KnownAnswers) {
  struct Vector {
    uint32_t counter[4], key[2], words[4];
  };
  const Vector vectors[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  loops::Nest nest("philox");
  loops::Buf in = nest.input(DType::kUInt32), out = nest.output(DType::kUInt32);
  nest.parallel(1, 1, [&](loops::Val) {
    loops::Val words[4], w[6];
    for (int i = 0; i < 6; ++i) w[i] = nest.load(in, nest.index(i));
    ops::philox(w, w[4], w[5], words);
    for (int i = 0; i < 4; ++i) nest.store(out, nest.index(i), words[i]);
  });
  for (const Vector& v : vectors) {
    uint32_t given[6], got[4];
    std::copy_n(v.counter, 4, given);
    std::copy_n(v.key, 2, given + 4);
    void* buffers[] = {given, got};
    loops::interpret(nest, buffers);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got[i], v.words[i]);
  }
}

// Block 0 of key 0 is the first vector; its four words lie 256 elements apart in a full segment.
TEST(Philox, LayoutOfBits) {
  Tensor bits = run1("keyed_bits", {key(0, 0)}, {Ints{1024}});
  EXPECT_EQ(bits.data<uint32_t>()[0], 0x6627e8d5u);
  EXPECT_EQ(bits.data<uint32_t>()[256], 0xe169c58du);
  EXPECT_EQ(bits.data<uint32_t>()[512], 0xbc57ac4cu);
  EXPECT_EQ(bits.data<uint32_t>()[768], 0x9b00dbd8u);
}

TEST(Philox, BitsDependOnNeitherThreadsNorLength) {
  int before = thread_count();
  set_thread_count(1);
  auto all = list<uint32_t>(run1("keyed_bits", {key(7, 9)}, {Ints{70001}}));
  set_thread_count(4);
  EXPECT_EQ(list<uint32_t>(run1("keyed_bits", {key(7, 9)}, {Ints{70001}})), all);
  set_thread_count(before);
  for (int64_t n : {1, 300, 1024, 5000}) {
    auto part = list<uint32_t>(run1("keyed_bits", {key(7, 9)}, {Ints{n}}));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin())) << n;
  }
  EXPECT_NE(list<uint32_t>(run1("keyed_bits", {key(8, 9)}, {Ints{4}})),
            (std::vector<uint32_t>(all.begin(), all.begin() + 4)));
}

struct Moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0, least = 0, most = 0;
};
Moments moments(const Tensor& t) {
  std::vector<double> v = reals(t);
  Moments m;
  double n = static_cast<double>(v.size());
  m.mean = std::accumulate(v.begin(), v.end(), 0.0) / n;
  for (double x : v) {
    double d = x - m.mean;
    m.variance += d * d / n;
    m.skew += d * d * d / n;
    m.kurtosis += d * d * d * d / n;
  }
  m.skew /= std::pow(m.variance, 1.5);
  m.kurtosis /= m.variance * m.variance;
  auto [low, high] = std::minmax_element(v.begin(), v.end());
  m.least = *low;
  m.most = *high;
  return m;
}

constexpr int64_t kMany = 200000;
constexpr double kFar = 5;  // standard errors

TEST(Random, Uniform) {
  for (DType d : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    Moments m = moments(run1("keyed_uniform", {key(1, 2)}, {Ints{kMany}, d}));
    double step = d == DType::kBFloat16 ? 0x1p-8 : 0;
    EXPECT_NEAR(m.mean, 0.5 - step / 2, kFar * std::sqrt(1.0 / 12 / kMany)) << name_of(d);
    EXPECT_NEAR(m.variance, 1.0 / 12, 1e-3);
    EXPECT_GE(m.least, 0);
    EXPECT_LT(m.most, 1);
  }
  Moments m =
      moments(run1("keyed_uniform", {key(1, 2)}, {Ints{kMany}, DType::kFloat32, -3.0, 5.0}));
  EXPECT_NEAR(m.mean, 1, 0.03);
  EXPECT_GE(m.least, -3);
  EXPECT_LT(m.most, 5);
}

TEST(Random, Normal) {
  for (DType d : {DType::kFloat32, DType::kFloat64}) {
    Moments m = moments(run1("keyed_normal", {key(3, 4)}, {Ints{kMany}, d}));
    EXPECT_NEAR(m.mean, 0, kFar / std::sqrt(kMany));
    EXPECT_NEAR(m.variance, 1, kFar * std::sqrt(2.0 / kMany));
    EXPECT_NEAR(m.skew, 0, kFar * std::sqrt(6.0 / kMany));
    EXPECT_NEAR(m.kurtosis, 3, kFar * std::sqrt(24.0 / kMany));
    EXPECT_GT(m.most, 4);
  }
  Moments m = moments(run1("keyed_truncated_normal", {key(3, 4)}, {Ints{kMany}}));
  EXPECT_GE(m.least, -2);
  EXPECT_LE(m.most, 2);
  EXPECT_NEAR(m.variance, 0.7737413, 0.01);  // scipy.stats.truncnorm(-2, 2).var()
}

TEST(Random, Integers) {
  Tensor t = run1("keyed_randint", {key(5, 6)}, {Ints{kMany}, -3, 4});
  std::vector<int64_t> count(7);
  for (int64_t v : ints(t)) ++count.at(static_cast<size_t>(v + 3));
  double chi2 = 0, expected = kMany / 7.0;
  for (int64_t c : count)
    chi2 += (static_cast<double>(c) - expected) * (static_cast<double>(c) - expected) / expected;
  EXPECT_LT(chi2, 30);  // 6 degrees of freedom
  EXPECT_NE(error_of("keyed_randint", {key(5, 6)}, {Ints{2}, 4, 4}), "");
}

TEST(Random, GammaAndPoissonMoments) {
  for (double a : {0.3, 1.0, 4.5}) {
    Moments m =
        moments(run1("keyed_gamma", {key(1, 1), Tensor::full(DType::kFloat64, {kMany}, a)}));
    EXPECT_NEAR(m.mean, a, kFar * std::sqrt(a / kMany)) << a;
    EXPECT_NEAR(m.variance, a, 0.05 * a) << a;
    EXPECT_NEAR(m.skew, 2 / std::sqrt(a), 0.15 * 2 / std::sqrt(a)) << a;
    EXPECT_GT(m.least, -1e-300);
  }
  for (double rate : {0.0, 0.7, 9.0, 40.0}) {
    Moments m =
        moments(run1("keyed_poisson", {key(1, 1), Tensor::full(DType::kFloat32, {kMany}, rate)}));
    EXPECT_NEAR(m.mean, rate, kFar * std::sqrt(rate / kMany) + 1e-12) << rate;
    EXPECT_NEAR(m.variance, rate, 0.03 * rate + 1e-12) << rate;
    if (rate > 0) {
      EXPECT_NEAR(m.skew, 1 / std::sqrt(rate), 0.1) << rate;
    }
  }
  EXPECT_TRUE(std::isnan(run1("keyed_poisson", {key(1, 1), of<float>({-1})}).data<float>()[0]));
}

TEST(Random, Choices) {
  Tensor p = of<float>({1, 0, 3});
  std::vector<double> count(3);
  for (int64_t v : ints(run1("keyed_multinomial", {key(2, 2), p}, {static_cast<int64_t>(kMany)})))
    ++count.at(static_cast<size_t>(v));
  EXPECT_EQ(count[1], 0);
  EXPECT_NEAR(count[2] / kMany, 0.75, 0.01);
  auto two = ints(run1("keyed_multinomial", {key(2, 2), p}, {2, false}));
  std::sort(two.begin(), two.end());
  EXPECT_EQ(two, (std::vector<int64_t>{0, 2}));
  auto order = ints(run1("keyed_permutation", {key(2, 2)}, {1000}));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Dropout, KeepsTheMeanAndRedrawsItsMask) {
  Tensor x = Tensor::full(DType::kFloat32, {kMany}, 1);
  Tensor y = run1("keyed_dropout", {x, key(4, 4)}, {0.3});
  EXPECT_NEAR(moments(y).mean, 1, 0.01);
  std::vector<double> values = reals(y);
  double dropped = static_cast<double>(std::count(values.begin(), values.end(), 0.0)) / kMany;
  EXPECT_NEAR(dropped, 0.3, 0.006);
  // y is linear in x with the mask as its slope, so the gradient of ones is y itself.
  EXPECT_EQ(reals(gradient("keyed_dropout", {x, key(4, 4)}, {0.3}, 0, x)), values);
  EXPECT_EQ(reals(run1("keyed_dropout", {x, key(4, 4)}, {0.0})), reals(x));
  EXPECT_EQ(moments(run1("keyed_dropout", {x, key(4, 4)}, {1.0})).most, 0);
}

}  // namespace
}  // namespace mycel
