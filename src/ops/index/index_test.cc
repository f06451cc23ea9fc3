// The index room against naive loops and numbers from NumPy.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/threads.h"
#include "runtime/op_calls.h"

namespace mycel {
namespace {

using namespace op_calls;  // NOLINT
using List = std::vector<int64_t>;
using Reals = std::vector<double>;

Tensor random_ints(int64_t count, int64_t low, int64_t high, DType dtype, uint32_t seed) {
  std::mt19937 engine(seed);
  Tensor t = Tensor::empty(dtype, {count});
  std::uniform_int_distribution<int64_t> d(low, high);
  for (int64_t i = 0; i < count; ++i) set_element(t.mutable_raw(), dtype, i, d(engine));
  return t;
}
Tensor random_reals(Shape shape, DType dtype, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> d(-2, 2);
  Tensor t = Tensor::empty(dtype, shape);
  for (int64_t i = 0; i < t.size(); ++i) set_element(t.mutable_raw(), dtype, i, d(engine));
  return t;
}

TEST(Gather, EveryAxisByDefinition) {
  Tensor x = counting({3, 4, 5}, DType::kInt16), index = of<int32_t>({-1, 0, 2, 2, 1, -3}, {2, 3});
  List at = ints(index);
  for (int axis = 0; axis < 3; ++axis) {
    Tensor y = run1("gather", {x, index}, {axis});
    int64_t outer = x.shape().size(0, axis), n = x.dim(axis), inner = x.shape().size(axis + 1, 3);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < 6; ++k) {
        int64_t from = at[static_cast<size_t>(k)] < 0 ? at[static_cast<size_t>(k)] + n
                                                      : at[static_cast<size_t>(k)];
        for (int64_t i = 0; i < inner; ++i) {
          ASSERT_EQ(ints(y)[static_cast<size_t>((o * 6 + k) * inner + i)],
                    (o * n + from) * inner + i);
        }
      }
    }
  }
}

TEST(Gather, BatchDims) {
  Tensor x = counting({2, 3, 2}, DType::kInt32), index = of<int64_t>({2, 0, 1, 1}, {2, 2});
  Tensor y = run1("gather", {x, index}, {1, 1});
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(ints(y), (List{4, 5, 0, 1, 8, 9, 8, 9}));
}

TEST(Gather, OutOfRangeIsAnIndexError) {
  Tensor x = counting({3, 2});
  try {
    run1("gather", {x, of<int32_t>({0, 5})}, {0});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kIndex);
    EXPECT_EQ(e.message(), "gather: index 5 (element 1 of the indices) is outside [-3, 2]");
  }
  EXPECT_EQ(reals(run1("gather", {counting({3}), of<int32_t>({-1, 1, 9})}, {0, 0, "skip"})),
            (Reals{0, 1, 0}));
  EXPECT_EQ(reals(run1("take", {counting({3}), of<int32_t>({-1, 1, 9})})), (Reals{0, 1, 2}));
  EXPECT_EQ(reals(run1("take", {counting({3}), of<int32_t>({-1, 4})}, {ir::Attr(), "wrap"})),
            (Reals{2, 1}));
}

TEST(Gather, GradientAddsUpEqualIndices) {
  Tensor x = counting({3, 2}, DType::kFloat64);
  Tensor g = gradient("gather", {x, of<int32_t>({2, 0, 2})}, {0}, 0,
                      of<double>({1, 2, 3, 4, 5, 6}, {3, 2}));
  EXPECT_EQ(reals(g), (Reals{3, 4, 0, 0, 6, 8}));
}

TEST(GatherNd, TuplesAndElements) {
  Tensor x = counting({2, 3}, DType::kInt32);
  EXPECT_EQ(ints(run1("gather_nd", {x, of<int32_t>({0, 2, 1, -1}, {2, 2})})), (List{2, 5}));
  EXPECT_EQ(ints(run1("gather_nd", {x, of<int32_t>({1}, {1, 1})})), (List{3, 4, 5}));
  EXPECT_EQ(ints(run1("gather_d", {x, of<int32_t>({2, 0, 1, -3}, {2, 2})}, {1})),
            (List{2, 0, 4, 3}));
  EXPECT_EQ(ints(run1("gather_d", {x, of<int32_t>({1, 0}, {1, 2})}, {0})), (List{3, 1}));
  EXPECT_EQ(error_of("gather_nd", {x, of<int32_t>({0, 3}, {1, 2})}),
            "gather_nd: index 3 (entry 1 of tuple 0) is outside [-3, 2] of dim 1");
}

TEST(OneHot, OutsideIsOff) {
  Tensor y =
      run1("one_hot", {of<int32_t>({1, 3, -1}), of<float>({5}, {}), of<float>({-1}, {})}, {3});
  EXPECT_EQ(reals(y), (Reals{-1, 5, -1, -1, -1, -1, -1, -1, -1}));
  y = run1("one_hot",
           {of<int32_t>({0, 1, 1, 0}, {2, 2}), of<int32_t>({1}, {}), of<int32_t>({0}, {})}, {2, 1});
  EXPECT_EQ(ints(y), (List{1, 0, 0, 1, 0, 1, 1, 0}));
}

// Many equal indices, sums that round: bitwise the sequential result on any number of threads.
TEST(Scatter, DeterministicOnAnyNumberOfThreads) {
  constexpr int64_t kRows = 50, kCount = 6000;
  int before = thread_count();
  for (int64_t inner : {3, 64, 4096}) {
    int64_t count = inner == 4096 ? 200 : kCount;
    Tensor x = random_reals({kRows, inner}, DType::kFloat32, 1),
           u = random_reals({count, inner}, DType::kFloat32, 2);
    Tensor index = random_ints(count, 0, kRows - 1, DType::kInt32, 3);
    std::vector<float> expected = list<float>(x);
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t i = 0; i < inner; ++i) {
        expected[static_cast<size_t>(index.data<int32_t>()[static_cast<size_t>(k)] * inner + i)] +=
            u.data<float>()[static_cast<size_t>(k * inner + i)];
      }
    }
    for (int threads : {1, 2, 5}) {
      set_thread_count(threads);
      EXPECT_EQ(list<float>(run1("index_add", {x, index, u}, {0})), expected)
          << inner << " on " << threads;
    }
  }
  set_thread_count(before);
}

TEST(Scatter, EachCombination) {
  Tensor x = of<double>({1, 2, 3}), index = of<int32_t>({0, 2, 0}, {3, 1}),
         u = of<double>({2, 4, 3});
  EXPECT_EQ(reals(run1("tensor_scatter_update", {x, index, u})), (Reals{3, 2, 4}));
  EXPECT_EQ(reals(run1("tensor_scatter_add", {x, index, u})), (Reals{6, 2, 7}));
  EXPECT_EQ(reals(run1("tensor_scatter_sub", {x, index, u})), (Reals{-4, 2, -1}));
  EXPECT_EQ(reals(run1("tensor_scatter_mul", {x, index, u})), (Reals{6, 2, 12}));
  EXPECT_EQ(reals(run1("tensor_scatter_div", {x, index, u})), (Reals{1.0 / 2 / 3, 2, 0.75}));
  EXPECT_EQ(reals(run1("tensor_scatter_min", {x, index, u})), (Reals{1, 2, 3}));
  EXPECT_EQ(reals(run1("tensor_scatter_max", {x, index, u})), (Reals{3, 2, 4}));
  EXPECT_EQ(reals(run1("scatter_nd", {index, u}, {Ints{4}})), (Reals{5, 0, 4, 0}));
  EXPECT_TRUE(
      std::isnan(reals(run1("tensor_scatter_max", {x, index, of<double>({NAN, 1, 5})}))[0]));
}

// Of several updates for one place only the last one shows; a zero factor takes the product of the
// others.
TEST(Scatter, GradientsOfEqualIndices) {
  Tensor x = of<double>({1, 2}), index = of<int32_t>({0, 0, 1}, {3, 1}), u = of<double>({3, 4, 5}),
         dy = of<double>({10, 20});
  EXPECT_EQ(reals(gradient("tensor_scatter_update", {x, index, u}, {}, 2, dy)), (Reals{0, 10, 20}));
  EXPECT_EQ(reals(gradient("tensor_scatter_update", {x, index, u}, {}, 0, dy)), (Reals{0, 0}));
  EXPECT_EQ(reals(gradient("tensor_scatter_mul", {x, index, u}, {}, 2, dy)), (Reals{40, 30, 40}));
  EXPECT_EQ(reals(gradient("tensor_scatter_mul", {x, index, of<double>({0, 4, 0})}, {}, 2, dy)),
            (Reals{40, 0, 40}));
  EXPECT_EQ(reals(gradient("tensor_scatter_max", {x, index, of<double>({1, 1, 5})}, {}, 2,
                           of<double>({9, 1}))),
            (Reals{3, 3, 1}));
}

TEST(Masks, FillSelectNonzero) {
  Tensor x = counting({2, 3}, DType::kInt32);
  Tensor mask = Tensor::from(std::vector<uint8_t>{1, 0, 1}, Shape{3});
  mask = run1("cast", {mask}, {DType::kBool});
  EXPECT_EQ(ints(run1("masked_fill", {x, mask, of<float>({-1}, {})})),
            (List{-1, 1, -1, -1, 4, -1}));
  EXPECT_EQ(ints(run1("masked_select", {x, mask})), (List{0, 2, 3, 5}));
  Tensor found = run1("nonzero", {x});
  EXPECT_EQ(found.shape(), (Shape{5, 2}));
  EXPECT_EQ(ints(found), (List{0, 1, 0, 2, 1, 0, 1, 1, 1, 2}));
  EXPECT_EQ(run1("nonzero", {of<float>({2}, {})}).shape(), (Shape{1, 0}));
  Tensor g = gradient("compress_elements",
                      {run1("cast", {of<int32_t>({7, 8, 9})}, {DType::kFloat64}), mask}, {}, 0,
                      of<double>({4, 5}));
  EXPECT_EQ(reals(g), (Reals{4, 0, 5}));
  EXPECT_EQ(ints(run1("index_fill", {x, of<int32_t>({-1, 0}), of<int32_t>({9}, {})}, {1})),
            (List{9, 1, 9, 9, 4, 9}));
}

TEST(Sort, StableAndNaNLast) {
  Tensors s = run("sort", {of<float>({2, NAN, -0.0f, 0.0f, -INFINITY, 2})});
  EXPECT_EQ(ints(s[1]), (List{4, 2, 3, 0, 5, 1}));
  s = run("sort", {of<float>({2, NAN, 1, 2})}, {-1, true});
  EXPECT_EQ(ints(s[1]), (List{1, 0, 3, 2}));
  s = run("sort", {of<int64_t>({INT64_MIN, 0, INT64_MAX, -1})});
  EXPECT_EQ(ints(s[1]), (List{0, 3, 1, 2}));
  s = run("sort", {of<uint64_t>({UINT64_MAX, 0, 1})});
  EXPECT_EQ(ints(s[1]), (List{1, 2, 0}));
}

TEST(Sort, LongLinesAgainstTheStandardLibrary) {
  for (DType dtype :
       {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kInt64}) {
    Tensor x = is_float(dtype) ? random_reals({7, 500, 3}, dtype, 4)
                               : run1("reshape", {random_ints(7 * 500 * 3, -100, 100, dtype, 4)},
                                      {Ints{7, 500, 3}});
    Tensors s = run("sort", {x}, {1});
    for (int64_t line = 0; line < 21; ++line) {
      int64_t base = line / 3 * 1500 + line % 3;
      std::vector<std::pair<double, int64_t>> expected;
      for (int64_t i = 0; i < 500; ++i)
        expected.emplace_back(element_as_double(x.raw(), dtype, base + 3 * i), i);
      std::stable_sort(expected.begin(), expected.end(),
                       [](auto& a, auto& b) { return a.first < b.first; });
      for (int64_t i = 0; i < 500; ++i) {
        ASSERT_EQ(element_as_double(s[0].raw(), dtype, base + 3 * i),
                  expected[static_cast<size_t>(i)].first);
        ASSERT_EQ(element_as_int(s[1].raw(), DType::kInt32, base + 3 * i),
                  expected[static_cast<size_t>(i)].second);
      }
    }
  }
}

TEST(TopK, BothEnds) {
  Tensor x = of<float>({3, 1, 4, 1, 5}, {1, 5});
  Tensors t = run("topk", {x}, {3});
  EXPECT_EQ(reals(t[0]), (Reals{5, 4, 3}));
  EXPECT_EQ(ints(t[1]), (List{4, 2, 0}));
  t = run("topk", {x}, {3, -1, false});
  EXPECT_EQ(ints(t[1]), (List{1, 3, 0}));
  Tensor g = gradient("topk", {of<double>({3, 1, 4})}, {2}, 0, of<double>({10, 20}));
  EXPECT_EQ(reals(g), (Reals{20, 0, 10}));
  EXPECT_NE(error_of("topk", {x}, {6}), "");
}

TEST(Search, AgainstTheStandardLibrary) {
  std::vector<float> line{-1, 0, 0, 2, 2, 2, 7};
  for (float v : {-3.f, -1.f, 0.f, 1.f, 2.f, 7.f, 8.f, NAN}) {
    auto low = std::isnan(v) ? 7 : std::lower_bound(line.begin(), line.end(), v) - line.begin();
    auto high = std::isnan(v) ? 7 : std::upper_bound(line.begin(), line.end(), v) - line.begin();
    EXPECT_EQ(ints(run1("searchsorted", {of(line), of<float>({v})}))[0], low) << v;
    EXPECT_EQ(ints(run1("searchsorted", {of(line), of<float>({v})}, {false, true}))[0], high) << v;
  }
  Tensor rows = of<int32_t>({0, 2, 4, 1, 3, 5}, {2, 3});
  EXPECT_EQ(ints(run1("searchsorted", {rows, of<int32_t>({2, 5, 2, 5}, {2, 2})})),
            (List{1, 3, 1, 2}));
}

TEST(Segments, NegativeIdsAreLeftOut) {
  Tensor x = of<double>({1, 2, 3, 4}), ids = of<int32_t>({1, -1, 1, 3});
  EXPECT_EQ(reals(run1("unsorted_segment_sum", {x, ids}, {4})), (Reals{0, 4, 0, 4}));
  EXPECT_EQ(reals(run1("unsorted_segment_prod", {x, ids}, {4})), (Reals{1, 3, 1, 4}));
  EXPECT_EQ(reals(run1("unsorted_segment_max", {x, ids}, {4}))[1], 3);
  EXPECT_EQ(reals(run1("unsorted_segment_max", {x, ids}, {4}))[0],
            std::numeric_limits<double>::lowest());
  EXPECT_EQ(reals(run1("unsorted_segment_min", {x, ids}, {4}))[1], 1);
  EXPECT_EQ(error_of("unsorted_segment_sum", {x, ids}, {3}),
            "unsorted_segment_sum: index 3 (element 3 of the indices) is outside [-3, 2]");
  Tensor dy = of<double>({9, 10, 9, 20});
  EXPECT_EQ(reals(gradient("unsorted_segment_sum", {x, ids}, {4}, 0, dy)), (Reals{10, 0, 10, 20}));
  EXPECT_EQ(reals(gradient("unsorted_segment_max", {x, ids}, {4}, 0, dy)), (Reals{0, 0, 10, 20}));
  EXPECT_EQ(reals(gradient("unsorted_segment_prod", {x, ids}, {4}, 0, dy)), (Reals{30, 0, 10, 20}));
}

TEST(Dynamic, UniqueBincountHistogram) {
  Tensors u = run("unique", {of<int32_t>({5, 2, 5, 7, 2}, {5})});
  EXPECT_EQ(ints(u[0]), (List{5, 2, 7}));
  EXPECT_EQ(ints(u[1]), (List{0, 1, 0, 2, 1}));
  EXPECT_EQ(run("unique", {of<float>({NAN, 1, NAN, -0.0f, 0.0f})})[0].size(), 3);
  u = run("unique_with_pad", {of<int32_t>({5, 2, 5}), of<int32_t>({-9}, {})});
  EXPECT_EQ(ints(u[0]), (List{5, 2, -9}));
  EXPECT_EQ(ints(run1("bincount", {of<int32_t>({1, 3, 1})}, {6})), (List{0, 2, 0, 1, 0, 0}));
  EXPECT_EQ(reals(run1("bincount", {of<int32_t>({1, 3, 1}), of<double>({0.5, 2, 3})})),
            (Reals{0, 3.5, 0, 2}));
  EXPECT_NE(error_of("bincount", {of<int32_t>({1, -1})}), "");
  // numpy.histogram([1, 2, 1, 3, 0.5], bins=4, range=(0, 3))[0] is [1 2 1 1]
  EXPECT_EQ(ints(run1("histc", {of<float>({1, 2, 1, 3, 0.5})}, {4, 0.0, 3.0})), (List{1, 2, 1, 1}));
  EXPECT_EQ(ints(run1("histc", {of<float>({1, 2, 1})}, {2})), (List{2, 1}));
  EXPECT_EQ(ints(run1("histogram_fixed_width",
                      {of<float>({-1, 0, 1.5, 2, 5, 15}), of<float>({0, 5})}, {5})),
            (List{2, 1, 1, 0, 2}));
}

}  // namespace
}  // namespace mycel
