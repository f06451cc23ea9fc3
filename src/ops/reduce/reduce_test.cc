// Reductions, scans and softmax against plain loops in double, over every set of axes of several
// shapes: the loop nests take different paths for each.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/op.h"
#include "runtime/dispatch.h"
#include "tensor/tensor.h"

namespace mycel {
namespace {

using ir::Attr;

Tensor numbers(const Shape& s, int seed) {
  Tensor t = Tensor::empty(DType::kFloat32, s);
  uint32_t state = 12345u + static_cast<uint32_t>(seed);
  for (float& v : t.mutable_data<float>()) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) / 16777216.0f * 2 - 1;
  }
  return t;
}

Tensor run(const char* op, const Tensor& x, const ir::Attrs& attrs) {
  return runtime::call1(ir::op_named(op), {x}, attrs);
}

std::vector<int64_t> coordinates(int64_t i, const Shape& s) {
  std::vector<int64_t> at(s.rank());
  for (int d = s.rank() - 1; d >= 0; --d) {
    at[d] = i % s[d];
    i /= s[d];
  }
  return at;
}

// Groups the elements of x by their kept coordinates and folds each group.
using Folding = std::function<double(const std::vector<double>&)>;
std::vector<double> naive(const Tensor& x, unsigned axes, const Folding& fold) {
  const Shape& s = x.shape();
  int64_t groups = 1;
  for (int d = 0; d < s.rank(); ++d) groups *= axes >> d & 1 ? 1 : s[d];
  std::vector<std::vector<double>> members(groups);
  auto data = x.data<float>();
  for (int64_t i = 0; i < x.size(); ++i) {
    auto at = coordinates(i, s);
    int64_t group = 0;
    for (int d = 0; d < s.rank(); ++d) {
      if (!(axes >> d & 1)) group = group * s[d] + at[d];
    }
    members[group].push_back(data[i]);
  }
  std::vector<double> out;
  for (const auto& m : members) out.push_back(fold(m));
  return out;
}

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), static_cast<int64_t>(want.size())) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    double v = element_as_double(got.raw(), got.dtype(), static_cast<int64_t>(i));
    ASSERT_NEAR(v, want[i], tolerance * std::max(1.0, std::fabs(want[i])))
        << what << " element " << i;
  }
}

double sum(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}
double variance(const std::vector<double>& v) {
  double mean = sum(v) / static_cast<double>(v.size()), s = 0;
  for (double x : v) s += (x - mean) * (x - mean);
  return s / static_cast<double>(v.size());
}

const struct {
  const char* op;
  Folding fold;
} kFoldings[] = {
    {"reduce_sum", sum},
    {"reduce_mean",
     [](const std::vector<double>& v) { return sum(v) / static_cast<double>(v.size()); }},
    {"reduce_max",
     [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }},
    {"reduce_min",
     [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }},
    {"euclidean_norm",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += x * x;
       return std::sqrt(s);
     }},
    {"logsumexp",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += std::exp(x);
       return std::log(s);
     }},
};

// Small and large in every position: one row, many rows, blocks cut across threads, sizes of 1 in
// between.
const Shape kShapes[] = {{7},       {70000},   {3, 5},       {2000, 3},    {3, 2100},
                         {2, 3, 4}, {5, 1, 6}, {40, 50, 60}, {2, 3, 4, 5}, {3, 1, 300, 2, 7}};

TEST(CiReduce, EverySetOfAxesMatchesPlainLoops) {
  for (const Shape& s : kShapes) {
    Tensor x = numbers(s, s.rank());
    for (unsigned axes = 1; axes < 1u << s.rank(); ++axes) {
      Attr::Ints list;
      for (int d = 0; d < s.rank(); ++d) {
        if (axes >> d & 1) list.push_back(d);
      }
      for (const auto& [op, fold] : kFoldings) {
        expect_near(run(op, x, {list, false}), naive(x, axes, fold), 3e-5,
                    fmt::format("{} {} axes {}", op, s.str(), axes));
      }
      expect_near(run("var", x, {list}), naive(x, axes, variance), 3e-5,
                  fmt::format("var {} axes {}", s.str(), axes));
    }
  }
}

// For one axis: what a line of x becomes.
using LineFunction = std::function<std::vector<double>(const std::vector<double>&)>;
std::vector<double> naive_lines(const Tensor& x, int axis, const LineFunction& f) {
  const Shape& s = x.shape();
  int64_t inner = s.size(axis + 1, s.rank()), n = s[axis], outer = s.size(0, axis);
  std::vector<double> out(x.size());
  auto data = x.data<float>();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < inner; ++k) {
      std::vector<double> line;
      for (int64_t i = 0; i < n; ++i) line.push_back(data[(o * n + i) * inner + k]);
      line = f(line);
      for (int64_t i = 0; i < n; ++i) out[(o * n + i) * inner + k] = line[i];
    }
  }
  return out;
}

TEST(CiReduce, ScansAndSoftmaxMatchPlainLoops) {
  LineFunction softmax = [](const std::vector<double>& v) {
    double s = 0;
    std::vector<double> y;
    for (double x : v) s += std::exp(x);
    for (double x : v) y.push_back(std::exp(x) / s);
    return y;
  };
  LineFunction cumsum_back = [](const std::vector<double>& v) {
    std::vector<double> y(v.size());
    double s = 0;
    for (size_t i = v.size(); i-- > 0;) y[i] = s += v[i];
    return y;
  };
  LineFunction cumprod_before = [](const std::vector<double>& v) {
    std::vector<double> y;
    double p = 1;
    for (double x : v) {
      y.push_back(p);
      p *= x;
    }
    return y;
  };
  for (const Shape& s : kShapes) {
    if (s.rank() > 3) continue;
    Tensor x = numbers(s, 3);
    for (int axis = 0; axis < s.rank(); ++axis) {
      std::string what = fmt::format("{} axis {}", s.str(), axis);
      expect_near(run("softmax", x, {axis}), naive_lines(x, axis, softmax), 2e-5,
                  "softmax " + what);
      expect_near(run("cumsum", x, {axis, Attr(), false, true}), naive_lines(x, axis, cumsum_back),
                  1e-3, "cumsum " + what);
      expect_near(run("cumprod", x, {axis, Attr(), true}), naive_lines(x, axis, cumprod_before),
                  2e-5, "cumprod " + what);
    }
  }
}

TEST(Reduce, ArgmaxPrefersTheFirstAndNan) {
  Tensor x = Tensor::from<float>({1, 7, 7, 2, NAN, 7, NAN, 9}, {2, 4});
  Tensor i = run("argmax_axis", x, {-1, DType::kInt64, false});
  EXPECT_EQ(i.data<int64_t>()[0], 1);
  EXPECT_EQ(i.data<int64_t>()[1], 0);
  Tensor j = run("argmax_axis", x, {0, DType::kInt32, false});
  const int32_t want[] = {1, 0, 1, 1};
  for (int k = 0; k < 4; ++k) EXPECT_EQ(j.data<int32_t>()[k], want[k]);
}

TEST(Reduce, EmptySumsAreNeutralAndEmptyExtremesAreErrors) {
  Tensor x = Tensor::empty(DType::kFloat32, {2, 0});
  Tensor s = run("reduce_sum", x, {Attr::Ints{1}});
  EXPECT_EQ(s.shape(), Shape({2}));
  EXPECT_EQ(s.data<float>()[0], 0.0f);
  EXPECT_EQ(run("reduce_prod", x, {Attr::Ints{1}}).data<float>()[1], 1.0f);
  EXPECT_TRUE(std::isnan(run("reduce_mean", x, {Attr::Ints{1}}).data<float>()[0]));
  EXPECT_TRUE(run("reduce_all", x, {}).data<bool>()[0]);
  EXPECT_THROW(run("reduce_max", x, {Attr::Ints{1}}), UserError);
  EXPECT_EQ(run("reduce_max", x, {Attr::Ints{0}}).size(), 0);
}

TEST(Reduce, IntegerExtremesReachTheEndsOfTheirRange) {
  Tensor x = Tensor::from<int64_t>({INT64_MIN, INT64_MIN}, {2});
  EXPECT_EQ(run("reduce_max", x, {}).data<int64_t>()[0], INT64_MIN);
  Tensor y = Tensor::from<uint8_t>({255, 255}, {2});
  EXPECT_EQ(run("reduce_min", y, {}).data<uint8_t>()[0], 255);
}

TEST(Reduce, Float16AccumulatesInFloat32) {
  Tensor x = Tensor::full(DType::kFloat16, {10000}, 1.0);
  Tensor s = run("reduce_sum", x, {});
  EXPECT_EQ(element_as_double(s.raw(), DType::kFloat16, 0), 10000.0);
  Tensor columns =
      run("reduce_sum", Tensor::full(DType::kFloat16, {10000, 3}, 1.0), {Attr::Ints{0}});
  EXPECT_EQ(element_as_double(columns.raw(), DType::kFloat16, 2), 10000.0);
}

}  // namespace
}  // namespace mycel
