// Convolution records against plain loops in double written here, through the dispatcher: whichever
// kernel is chosen, for float32 (oneDNN), float64 and int32 (loop nests).
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/op.h"
#include "runtime/dispatch.h"

namespace mycel::ops {
namespace {

using Ints = ir::Attr::Ints;

Tensor values(DType dtype, const Shape& shape, int seed) {
  Tensor t = Tensor::empty(dtype, shape);
  uint64_t state = 88172645463325252ull + seed;
  for (int64_t i = 0; i < t.size(); ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    int64_t small = static_cast<int64_t>(state % 17) - 8;
    set_element(t.mutable_raw(), dtype, i,
                is_int(dtype) ? static_cast<double>(small) : small / 4.0);
  }
  return t;
}

double get(const Tensor& t, int64_t i) { return element_as_double(t.raw(), t.dtype(), i); }

struct Case {
  Shape x, w;
  Ints stride, dilation, padding;  // padding: top, bottom, left, right
  int64_t groups = 1;
};

const Case kCases[] = {
    {{2, 3, 7, 9}, {4, 3, 3, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 4, 9, 8}, {6, 2, 3, 3}, {2, 3}, {1, 2}, {1, 0, 2, 1}, 2},
    {{2, 5, 6, 7}, {5, 1, 4, 3}, {1, 2}, {2, 1}, {3, 2, 1, 1}, 5},
    {{3, 2, 5, 5}, {3, 2, 1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
};

int64_t out_size(int64_t in, int64_t pad, int64_t k, int64_t stride, int64_t dilation) {
  return (in + pad - dilation * (k - 1) - 1) / stride + 1;
}

// f(x index, w index, y index) for every product.
template <typename F>
void each_product(const Case& c, const Shape& y, F f) {
  int64_t cg = c.w[1], og = c.w[0] / c.groups;
  for (int64_t n = 0; n < c.x[0]; ++n)
    for (int64_t o = 0; o < c.w[0]; ++o)
      for (int64_t i = 0; i < y[2]; ++i)
        for (int64_t j = 0; j < y[3]; ++j)
          for (int64_t ch = 0; ch < cg; ++ch)
            for (int64_t p = 0; p < c.w[2]; ++p)
              for (int64_t q = 0; q < c.w[3]; ++q) {
                int64_t h = i * c.stride[0] + p * c.dilation[0] - c.padding[0];
                int64_t w = j * c.stride[1] + q * c.dilation[1] - c.padding[2];
                if (h < 0 || h >= c.x[2] || w < 0 || w >= c.x[3]) continue;
                f(((n * c.x[1] + o / og * cg + ch) * c.x[2] + h) * c.x[3] + w,
                  ((o * cg + ch) * c.w[2] + p) * c.w[3] + q,
                  ((n * y[1] + o) * y[2] + i) * y[3] + j);
              }
}

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(static_cast<size_t>(got.size()), want.size());
  for (int64_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(get(got, i), want[i], tolerance) << "element " << i;
}

void check(const Case& c, DType dtype) {
  SCOPED_TRACE(c.x.str() + " * " + c.w.str() + " " + std::string(name_of(dtype)));
  Tensor x = values(dtype, c.x, 1), w = values(dtype, c.w, 2), b = values(dtype, {c.w[0]}, 3);
  Shape ys = {c.x[0], c.w[0],
              out_size(c.x[2], c.padding[0] + c.padding[1], c.w[2], c.stride[0], c.dilation[0]),
              out_size(c.x[3], c.padding[2] + c.padding[3], c.w[3], c.stride[1], c.dilation[1])};
  Tensor y = runtime::call1(ir::op_named("conv2d"), {x, w, b},
                            {c.stride, "pad", c.padding, c.dilation, c.groups});
  ASSERT_EQ(y.shape(), ys);
  std::vector<double> want(ys.size());
  int64_t plane = ys[2] * ys[3];
  for (int64_t i = 0; i < ys.size(); ++i) want[i] = get(b, i / plane % c.w[0]);
  each_product(c, ys,
               [&](int64_t xi, int64_t wi, int64_t yi) { want[yi] += get(x, xi) * get(w, wi); });
  expect_near(y, want, 1e-4);

  Tensor dy = values(dtype, ys, 4);
  std::vector<double> dx(c.x.size()), dw(c.w.size());
  each_product(c, ys, [&](int64_t xi, int64_t wi, int64_t yi) {
    dx[xi] += get(dy, yi) * get(w, wi);
    dw[wi] += get(dy, yi) * get(x, xi);
  });
  Ints extra = {
      (c.x[2] + c.padding[0] + c.padding[1] - c.dilation[0] * (c.w[2] - 1) - 1) % c.stride[0],
      (c.x[3] + c.padding[2] + c.padding[3] - c.dilation[1] * (c.w[3] - 1) - 1) % c.stride[1]};
  ir::Attrs steps = {c.stride, "pad", c.padding, c.dilation, c.groups, "channel_first"};
  ir::Attrs dx_attrs = steps, dw_attrs = steps;
  dx_attrs.push_back(extra);
  dw_attrs.push_back(Ints{c.w[2], c.w[3]});
  Tensor got = runtime::call1(ir::op_named("conv_dx"), {dy, w}, dx_attrs);
  ASSERT_EQ(got.shape(), c.x);
  expect_near(got, dx, 1e-4);
  expect_near(runtime::call1(ir::op_named("conv_dw"), {x, dy}, dw_attrs), dw, 2e-4);
}

TEST(Conv, AgreesWithLoopsInDouble) {
  for (const Case& c : kCases) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32}) check(c, dtype);
  }
}

TEST(Conv, SameKeepsTheSizeAndPutsTheOddPaddingBehind) {
  // One dim: x = 1 2 3 4, w = 1 10, one padding behind.
  Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4}, {1, 1, 4});
  Tensor w = Tensor::from(std::vector<double>{1, 10}, {1, 1, 2});
  Tensor y = runtime::call1(ir::op_named("conv1d"), {x, w}, {Ints{1}, "same"});
  expect_near(y, {21, 32, 43, 4}, 0);
}

TEST(Conv, TransposedSizesAreThePublishedOnes) {
  Tensor x = values(DType::kFloat32, {1, 2, 5, 5}, 1), w = values(DType::kFloat32, {2, 3, 3, 3}, 2);
  auto size = [&](const char* mode, int64_t stride, int64_t padding, int64_t more) {
    Tensor y = runtime::call1(
        ir::op_named("conv2d_transpose"), {x, w},
        {mode, Ints{padding}, Ints{stride, stride}, Ints{1, 1}, 1, Ints{more, more}});
    return y.shape()[2];
  };
  EXPECT_EQ(size("same", 2, 0, 0), 10);
  EXPECT_EQ(size("valid", 2, 0, 0), 11);
  EXPECT_EQ(size("valid", 4, 0, 0), 20);
  EXPECT_EQ(size("pad", 2, 1, 0), 9);
  EXPECT_EQ(size("pad", 2, 1, 1), 10);
}

TEST(Conv, ErrorsNameOperandsAndWhatIsAllowed) {
  Tensor x = values(DType::kFloat32, {1, 3, 8, 8}, 1), w = values(DType::kFloat32, {8, 3, 3}, 2);
  try {
    runtime::call1(ir::op_named("conv2d"), {x, w});
    FAIL() << "accepted a weight of 3 dims";
  } catch (const UserError& e) {
    EXPECT_NE(
        e.message().find("the weight [out, in / groups, kernel…] has 3 dims (8, 3, 3); expected 4"),
        std::string::npos)
        << e.message();
  }
}

}  // namespace
}  // namespace mycel::ops
