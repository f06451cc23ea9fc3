// The kernels of attention against its definition in double: blocks, masks that leave columns out,
// both layouts, scores too large to leave anything out.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/threads.h"
#include "ir/op.h"
#include "runtime/dispatch.h"

namespace mycel::ops {
namespace {

struct Sizes {
  int64_t batch, heads, rows, cols, size, width;
  bool heads_last;
};

enum class Mask { kNone, kCausal, kPadding, kWholeRow };

// Element i of a tensor of heads, whatever the layout.
int64_t place(const Sizes& z, int64_t b, int64_t h, int64_t s, int64_t d, int64_t rows,
              int64_t size) {
  return z.heads_last ? ((b * rows + s) * z.heads + h) * size + d
                      : ((b * z.heads + h) * rows + s) * size + d;
}

Tensor wave(const Sizes& z, int64_t rows, int64_t size, double step, double height) {
  Shape shape =
      z.heads_last ? Shape{z.batch, rows, z.heads, size} : Shape{z.batch, z.heads, rows, size};
  Tensor t = Tensor::empty(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.size(); ++i)
    set_element(t.mutable_raw(), DType::kFloat32, i, height * std::sin(step * (i + 1)));
  return t;
}

Tensor mask_of(const Sizes& z, Mask kind) {
  bool padding = kind == Mask::kPadding;
  Shape shape = padding ? Shape{z.batch, 1, 1, z.cols} : Shape{z.rows, z.cols};
  Tensor t = Tensor::empty(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.size(); ++i) {
    int64_t col = i % z.cols, row = i / z.cols;
    bool out = padding ? col >= z.cols / (row + 2) : col > row;
    if (kind == Mask::kWholeRow) out |= row == 1;  // then all its columns are equal again
    set_element(t.mutable_raw(), DType::kFloat32, i, out ? -1e9 : 0.1 * std::sin(i));
  }
  return t;
}

double get(const Tensor& t, int64_t i) { return element_as_double(t.raw(), t.dtype(), i); }

struct Wanted {
  std::vector<double> y, dq, dk, dv;
};

Wanted by_definition(const Sizes& z, const Tensor& q, const Tensor& k, const Tensor& v,
                     const Tensor& dy, const Tensor& mask, double scale) {
  Wanted w{std::vector<double>(dy.size()), std::vector<double>(q.size()),
           std::vector<double>(k.size()), std::vector<double>(v.size())};
  for (int64_t b = 0; b < z.batch; ++b) {
    for (int64_t h = 0; h < z.heads; ++h) {
      auto at_q = [&](int64_t i, int64_t d) { return place(z, b, h, i, d, z.rows, z.size); };
      auto at_k = [&](int64_t j, int64_t d) { return place(z, b, h, j, d, z.cols, z.size); };
      auto at_v = [&](int64_t j, int64_t d) { return place(z, b, h, j, d, z.cols, z.width); };
      auto at_y = [&](int64_t i, int64_t d) { return place(z, b, h, i, d, z.rows, z.width); };
      for (int64_t i = 0; i < z.rows; ++i) {
        std::vector<double> p(z.cols), g(z.cols);
        double top = -HUGE_VAL, sum = 0, mean = 0;
        for (int64_t j = 0; j < z.cols; ++j) {
          for (int64_t d = 0; d < z.size; ++d) p[j] += get(q, at_q(i, d)) * get(k, at_k(j, d));
          p[j] *= scale;
          // As float32 has it: beside -1e9 the score itself is lost.
          if (mask) {
            bool padding = mask.rank() == 4;
            double m = get(mask, padding ? b * z.cols + j : i * z.cols + j);
            p[j] = m < -1e8 ? m : p[j] + m;
          }
          top = std::max(top, p[j]);
        }
        for (double& x : p) sum += x = std::exp(x - top);
        for (double& x : p) x /= sum;
        for (int64_t j = 0; j < z.cols; ++j) {
          for (int64_t d = 0; d < z.width; ++d) {
            w.y[at_y(i, d)] += p[j] * get(v, at_v(j, d));
            g[j] += get(dy, at_y(i, d)) * get(v, at_v(j, d));
            w.dv[at_v(j, d)] += p[j] * get(dy, at_y(i, d));
          }
          mean += p[j] * g[j];
        }
        for (int64_t j = 0; j < z.cols; ++j) {
          double ds = p[j] * (g[j] - mean) * scale;
          for (int64_t d = 0; d < z.size; ++d) {
            w.dq[at_q(i, d)] += ds * get(k, at_k(j, d));
            w.dk[at_k(j, d)] += ds * get(q, at_q(i, d));
          }
        }
      }
    }
  }
  return w;
}

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance) {
  double largest = 0, worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::abs(want[i]));
    double off = std::abs(get(got, static_cast<int64_t>(i)) - want[i]);
    worst = std::isfinite(off) ? std::max(worst, off) : HUGE_VAL;
  }
  EXPECT_LE(worst, tolerance * std::max(largest, 1.0));
}

void check(const Sizes& z, Mask kind, double height, double tolerance) {
  SCOPED_TRACE(testing::Message() << z.rows << " x " << z.cols << ", size " << z.size << ", mask "
                                  << static_cast<int>(kind) << ", heads_last " << z.heads_last);
  Tensor q = wave(z, z.rows, z.size, 0.37, height), k = wave(z, z.cols, z.size, 0.73, height);
  Tensor v = wave(z, z.cols, z.width, 0.91, 1), dy = wave(z, z.rows, z.width, 0.59, 1);
  Tensor mask = kind == Mask::kNone ? Tensor() : mask_of(z, kind);
  double factor = 0.25;
  Tensor scale = Tensor::scalar(DType::kFloat32, factor);
  Wanted want = by_definition(z, q, k, v, dy, mask, factor);
  ir::Attrs attrs = {z.heads_last};
  Tensor in[] = {q, k, v, mask, scale}, in_grad[] = {q, k, v, dy, mask, scale};
  Tensors y = runtime::call(ir::op_named("attention"), in, attrs);
  Tensors g = runtime::call(ir::op_named("attention_grad"), in_grad, attrs);
  expect_near(y[0], want.y, tolerance);
  expect_near(g[0], want.dq, tolerance);
  expect_near(g[1], want.dk, tolerance);
  expect_near(g[2], want.dv, tolerance);
}

TEST(Attention, AgreesWithItsDefinition) {
  for (bool last : {false, true}) {
    for (Mask kind : {Mask::kNone, Mask::kCausal, Mask::kPadding, Mask::kWholeRow}) {
      check({2, 3, 150, 150, 16, 24, last}, kind, 1, 2e-5);
      check({1, 2, 65, 201, 9, 7, last}, kind, 1, 2e-5);
    }
    check({3, 1, 5, 7, 4, 6, last}, Mask::kPadding, 1, 2e-5);
  }
}

// With |scores| near 1e4 a mask of -1e9 still hides, but nothing is left out beforehand.
TEST(Attention, LargeScoresAreComputedInFull) {
  check({1, 2, 130, 130, 16, 8, false}, Mask::kCausal, 50, 1e-2);
}

TEST(Attention, OneAndTwoThreadsAgreeToTheBit) {
  Sizes z{2, 5, 140, 140, 16, 16, true};
  Tensor q = wave(z, 140, 16, 0.37, 1), k = wave(z, 140, 16, 0.73, 1), v = wave(z, 140, 16, 0.9, 1);
  Tensor in[] = {q, k, v, q, mask_of(z, Mask::kCausal), Tensor()};
  int before = thread_count();
  std::vector<Tensors> runs;
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    runs.push_back(runtime::call(ir::op_named("attention_grad"), in, {true}));
  }
  set_thread_count(before);
  for (int r = 0; r < 3; ++r) {
    for (int64_t i = 0; i < runs[0][r].size(); ++i)
      ASSERT_EQ(get(runs[0][r], i), get(runs[1][r], i));
  }
}

}  // namespace
}  // namespace mycel::ops
