// Normalisation against its definition in double.
#include <cmath>

#include <gtest/gtest.h>

#include "ir/op.h"
#include "runtime/dispatch.h"

namespace mycel::ops {
namespace {

double get(const Tensor& t, int64_t i) { return element_as_double(t.raw(), t.dtype(), i); }

Tensor wave(DType dtype, const Shape& shape, double offset) {
  Tensor t = Tensor::empty(dtype, shape);
  for (int64_t i = 0; i < t.size(); ++i)
    set_element(t.mutable_raw(), dtype, i, offset + std::sin(1.7 * static_cast<double>(i)));
  return t;
}

struct Moments {
  double mean = 0, variance = 0;
};
template <typename List>
Moments moments(const Tensor& x, const List& at) {
  Moments m;
  for (int64_t i : at) m.mean += get(x, i) / static_cast<double>(at.size());
  for (int64_t i : at)
    m.variance += std::pow(get(x, i) - m.mean, 2) / static_cast<double>(at.size());
  return m;
}

TEST(Norm, BatchStatisticsAreThoseOfEachChannel) {
  // 200 rows make several chunks where channels come last.
  for (bool last : {false, true}) {
    Shape shape = last ? Shape{200, 3} : Shape{5, 3, 8, 5};
    int64_t inner = last ? 1 : 40;
    Tensor x = wave(DType::kFloat32, shape, 3), scale = wave(DType::kFloat32, {3}, 1),
           offset = wave(DType::kFloat32, {3}, 0);
    Tensor in[] = {x, scale, offset};
    Tensors y = runtime::call(ir::op_named("batch_norm_train"), in);
    for (int64_t c = 0; c < 3; ++c) {
      std::vector<int64_t> at;
      for (int64_t i = 0; i < x.size(); ++i) {
        if (i / inner % 3 == c) at.push_back(i);
      }
      Moments m = moments(x, at);
      EXPECT_NEAR(get(y[1], c), m.mean, 1e-5);
      EXPECT_NEAR(get(y[2], c), m.variance, 1e-5);
      for (int64_t i : at) {
        double want =
            (get(x, i) - m.mean) / std::sqrt(m.variance + 1e-5) * get(scale, c) + get(offset, c);
        ASSERT_NEAR(get(y[0], i), want, 1e-4);
      }
    }
  }
}

// One sweep: deviations are from a few elements, which here lie far away from the mean too.
TEST(Norm, BatchStatisticsOfLargeOffsetsAndOddRows) {
  for (int64_t rows : {1, 2, 7, 65, 1003}) {
    for (bool last : {false, true}) {
      Tensor x = wave(DType::kFloat32, last ? Shape{rows, 1, 1, 70} : Shape{1, 70, rows, 1}, 3000);
      Tensors m = runtime::call(ir::op_named("batch_moments"), std::vector<Tensor>{x},
                                {ir::Attr(last ? -1 : 1)});
      for (int64_t c = 0; c < 70; ++c) {
        std::vector<int64_t> at;
        for (int64_t r = 0; r < rows; ++r) at.push_back(last ? r * 70 + c : c * rows + r);
        Moments want = moments(x, at);
        ASSERT_NEAR(get(m[0], c), want.mean, 5e-4);
        ASSERT_NEAR(get(m[1], c), want.variance, 1e-5 + 1e-3 * want.variance);
      }
    }
  }
}

TEST(Norm, LargeOffsetsKeepTheirAccuracy) {
  Tensor x = wave(DType::kFloat32, {4, 64}, 1000);
  Tensor in[] = {x, Tensor::full(DType::kFloat32, {64}, 1), Tensor::zeros(DType::kFloat32, {64})};
  Tensors y = runtime::call(ir::op_named("layer_norm"), in);
  for (int64_t r = 0; r < 4; ++r) {
    std::vector<int64_t> at;
    for (int64_t i = 0; i < 64; ++i) at.push_back(64 * r + i);
    Moments m = moments(x, at);
    for (int64_t i : at)
      ASSERT_NEAR(get(y[0], i), (get(x, i) - m.mean) / std::sqrt(m.variance + 1e-7), 2e-3);
  }
}

// The published example: 0.1 / sqrt(1 + 0.1² + 0.3²) and so on.
TEST(Norm, LocalResponse) {
  Tensor x = Tensor::from(std::vector<double>{0.1, 0.2, 0.3, 0.4}, {1, 2, 2, 1});
  Tensor y = runtime::call1(ir::op_named("lrn"), {x});
  EXPECT_NEAR(get(y, 0), 0.1 / std::sqrt(1.1), 1e-12);
  EXPECT_NEAR(get(y, 1), 0.2 / std::sqrt(1.2), 1e-12);
  EXPECT_NEAR(get(y, 2), 0.3 / std::sqrt(1.1), 1e-12);
  EXPECT_NEAR(get(y, 3), 0.4 / std::sqrt(1.2), 1e-12);
}

TEST(Norm, GroupsOfOneChannelAreInstances) {
  Tensor x = wave(DType::kFloat64, {2, 4, 3, 5}, 0.5);
  Tensor a = runtime::call1(ir::op_named("group_norm"), {x}, {4}),
         b = runtime::call1(ir::op_named("instance_norm"), {x});
  for (int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(get(a, i), get(b, i));
  std::vector<int64_t> first;
  for (int64_t i = 0; i < 15; ++i) first.push_back(i);
  EXPECT_NEAR(moments(a, first).mean, 0, 1e-12);
  EXPECT_NEAR(moments(a, first).variance, 1, 1e-3);
}

}  // namespace
}  // namespace mycel::ops
