// Pooling records against plain loops written here.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ir/op.h"
#include "runtime/dispatch.h"

namespace mycel::ops {
namespace {

using Ints = ir::Attr::Ints;

// Distinct values in a scrambled order.
Tensor scrambled(DType dtype, const Shape& shape) {
  Tensor t = Tensor::empty(dtype, shape);
  int64_t n = t.size();
  for (int64_t i = 0; i < n; ++i)
    set_element(t.mutable_raw(), dtype, i, static_cast<double>(i * 7919 % n - n / 2));
  return t;
}

double get(const Tensor& t, int64_t i) { return element_as_double(t.raw(), t.dtype(), i); }

struct Window {
  Ints kernel, stride, dilation, padding;
  bool ceil_mode;
};

const Window kWindows[] = {
    {{2, 2}, {2, 2}, {1, 1}, {0, 0}, false}, {{3, 2}, {2, 1}, {1, 1}, {1, 0}, false},
    {{3, 3}, {2, 2}, {1, 1}, {1, 1}, true},  {{2, 3}, {1, 2}, {2, 1}, {1, 1}, false},
    {{2, 2}, {3, 3}, {1, 1}, {0, 0}, true},
};

int64_t out_size(const Window& w, int d, int64_t in) {
  int64_t room = in + 2 * w.padding[d] - w.dilation[d] * (w.kernel[d] - 1) - 1, s = w.stride[d];
  int64_t out = (w.ceil_mode ? (room + s - 1) / s : room / s) + 1;
  return w.ceil_mode && (out - 1) * s >= in + w.padding[d] ? out - 1 : out;
}

// f(input position in the plane) for one window.
template <typename F>
void each_position(const Window& w, int64_t i, int64_t j, int64_t height, int64_t width, F f) {
  for (int64_t p = 0; p < w.kernel[0]; ++p) {
    for (int64_t q = 0; q < w.kernel[1]; ++q) {
      int64_t h = i * w.stride[0] + p * w.dilation[0] - w.padding[0];
      int64_t v = j * w.stride[1] + q * w.dilation[1] - w.padding[1];
      if (h >= 0 && h < height && v >= 0 && v < width) f(h * width + v);
    }
  }
}

TEST(Pool, MaximaAndTheirPositions) {
  Shape shape = {2, 3, 7, 6};
  for (DType dtype : {DType::kFloat32, DType::kInt32}) {
    Tensor x = scrambled(dtype, shape);
    for (const Window& w : kWindows) {
      Tensor y = runtime::call1(ir::op_named("max_pool2d"), {x},
                                {w.kernel, w.stride, w.padding, w.dilation, w.ceil_mode});
      Tensor in[] = {x};
      Tensors both = runtime::call(ir::op_named("max_pool_with_argmax"), in,
                                   {w.kernel, w.stride, w.padding, w.dilation, w.ceil_mode});
      int64_t oh = out_size(w, 0, 7), ow = out_size(w, 1, 6);
      ASSERT_EQ(y.shape(), (Shape{2, 3, oh, ow}));
      for (int64_t e = 0; e < y.size(); ++e) {
        int64_t plane = e / (oh * ow) * 42, at = -1;
        double best = -1e30;
        each_position(w, e / ow % oh, e % ow, 7, 6, [&](int64_t i) {
          if (get(x, plane + i) > best) best = get(x, plane + i), at = i;
        });
        ASSERT_EQ(get(y, e), best);
        ASSERT_EQ(get(both[0], e), best);
        ASSERT_EQ(get(both[1], e), at);
      }
    }
  }
}

TEST(Pool, NanWinsAndTiesGoToTheFirst) {
  float nan = std::numeric_limits<float>::quiet_NaN(),
        low = -std::numeric_limits<float>::infinity();
  Tensor x = Tensor::from(
      std::vector<float>{1, nan, 2, 2, low, low, 2, 1, low, low, 0, 0, low, low, -1, 0},
      {1, 1, 4, 4});
  Tensor in[] = {x};
  Tensors y = runtime::call(ir::op_named("max_pool_with_argmax"), in,
                            {Ints{2, 2}, ir::Attr(), Ints{0}, Ints{1, 1}});
  EXPECT_TRUE(std::isnan(get(y[0], 0)));
  EXPECT_EQ(get(y[1], 0), 1);
  EXPECT_EQ(get(y[1], 1), 2);  // 2 2 / 2 1
  EXPECT_EQ(get(y[0], 2), low);
  EXPECT_EQ(get(y[1], 2), 8);
  Tensor plain = runtime::call1(ir::op_named("max_pool2d"), {x}, {Ints{2, 2}});
  EXPECT_TRUE(std::isnan(get(plain, 0)));
  EXPECT_EQ(get(plain, 2), low);
}

TEST(Pool, MeansAndTheirDivisors) {
  Shape shape = {2, 3, 7, 6};
  Tensor x = scrambled(DType::kFloat32, shape);
  for (Window w : kWindows) {
    if (w.dilation[0] != 1) continue;
    for (bool count : {false, true}) {
      Tensor y = runtime::call1(ir::op_named("avg_pool2d"), {x},
                                {w.kernel, w.stride, w.padding, w.ceil_mode, count});
      int64_t oh = out_size(w, 0, 7), ow = out_size(w, 1, 6);
      ASSERT_EQ(y.shape(), (Shape{2, 3, oh, ow}));
      for (int64_t e = 0; e < y.size(); ++e) {
        int64_t i = e / ow % oh, j = e % ow, plane = e / (oh * ow) * 42;
        double sum = 0, valid = 0;
        each_position(w, i, j, 7, 6, [&](int64_t at) { sum += get(x, plane + at), valid += 1; });
        // Padding counts, what ceil mode reaches beyond it does not.
        double rows =
            std::min(i * w.stride[0] + w.kernel[0], 7 + 2 * w.padding[0]) - i * w.stride[0];
        double cols =
            std::min(j * w.stride[1] + w.kernel[1], 6 + 2 * w.padding[1]) - j * w.stride[1];
        ASSERT_NEAR(get(y, e), sum / (count ? rows * cols : valid), 1e-4);
      }
    }
  }
}

TEST(Pool, AdaptiveWindowsCoverEverything) {
  Tensor x = scrambled(DType::kFloat64, {1, 2, 7, 5});
  Tensor mean = runtime::call1(ir::op_named("adaptive_avg_pool2d"), {x}, {Ints{3, 4}});
  Tensor top = runtime::call1(ir::op_named("adaptive_max_pool2d"), {x}, {Ints{3, 4}});
  for (int64_t e = 0; e < mean.size(); ++e) {
    int64_t c = e / 12, i = e / 4 % 3, j = e % 4;
    double sum = 0, n = 0, best = -1e30;
    for (int64_t h = i * 7 / 3; h < ((i + 1) * 7 + 2) / 3; ++h) {
      for (int64_t w = j * 5 / 4; w < ((j + 1) * 5 + 3) / 4; ++w) {
        double v = get(x, (c * 7 + h) * 5 + w);
        sum += v, n += 1, best = std::max(best, v);
      }
    }
    EXPECT_NEAR(get(mean, e), sum / n, 1e-12);
    EXPECT_EQ(get(top, e), best);
  }
}

}  // namespace
}  // namespace mycel::ops
