// oneDNN's matrix products against loops in double written here.
#include "backend/cpu/onednn/matmul.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace mycel::cpu::onednn {
namespace {

// Records of this test's own, so that it needs no room of ops.
constexpr ir::OpDef kProduct = {.name = "product",
                                .in = {"a: any", "b: any"},
                                .attr = {"transpose_a: bool = False", "transpose_b: bool = False"}};
constexpr ir::OpDef kLayer = {.name = "layer", .in = {"x: any", "w: any", "b?: any"}};

Tensor random(DType dtype, const Shape& shape, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Tensor t = Tensor::empty(dtype, shape);
  for (int64_t i = 0; i < t.size(); ++i) set_element(t.mutable_raw(), dtype, i, uniform(generator));
  return t;
}

double at(const Tensor& t, int64_t i) { return element_as_double(t.raw(), t.dtype(), i); }

struct Case {
  Shape a, b, y;
  bool ta = false, tb = false;
};

// Offset of a batch of the result in an operand whose batch dims broadcast.
int64_t batch_offset(int64_t batch, const Shape& y, int y_matrix, const Shape& s) {
  if (s.rank() <= 2) return 0;
  int64_t out = 0, stride = s[-1] * s[-2];
  for (int d = 0; d < y.rank() - y_matrix; ++d) {
    int from_end = d, y_dim = y.rank() - y_matrix - 1 - d, s_dim = s.rank() - 3 - from_end;
    int64_t i = batch % y[y_dim];
    batch /= y[y_dim];
    if (s_dim < 0) continue;
    if (s[s_dim] != 1) out += i * stride;
    stride *= s[s_dim];
  }
  return out;
}

void check(const Case& c, DType dtype, double tolerance) {
  SCOPED_TRACE(c.a.str() + " x " + c.b.str());
  ir::Op op(kProduct, 0);
  ir::Type ta(dtype, c.a), tb(dtype, c.b);
  ir::Types ty = {ir::Type(dtype, c.y)};
  const ir::Type* in[] = {&ta, &tb};
  ir::Attrs attrs = {c.ta, c.tb};
  Problem p{op, in, ty, attrs};
  ASSERT_EQ(matmul_refuses(p), "");
  std::unique_ptr<Prepared> kernel = matmul(p);
  EXPECT_EQ(std::string(kernel->implementation()).find("ref"), std::string::npos)
      << kernel->implementation();
  Tensor a = random(dtype, c.a, 1), b = random(dtype, c.b, 2), y = Tensor::empty(dtype, c.y);
  void* buffers[] = {a.mutable_raw(), b.mutable_raw(), y.mutable_raw()};
  kernel->run(buffers);

  int64_t k = c.ta ? c.a[-2] : c.a[-1];
  int64_t m = c.a.rank() == 1 ? 1 : c.ta ? c.a[-1] : c.a[-2];
  int64_t n = c.b.rank() == 1 ? 1 : c.tb ? c.b[-2] : c.b[-1];
  int y_matrix = (c.a.rank() > 1) + (c.b.rank() > 1);
  double worst = 0;
  for (int64_t e = 0; e < y.size(); ++e) {
    int64_t j = e % n, i = e / n % m, batch = e / (m * n);
    int64_t a0 = batch_offset(batch, c.y, y_matrix, c.a),
            b0 = batch_offset(batch, c.y, y_matrix, c.b);
    double sum = 0;
    for (int64_t q = 0; q < k; ++q) {
      sum +=
          at(a, a0 + (c.ta ? q * m + i : i * k + q)) * at(b, b0 + (c.tb ? j * k + q : q * n + j));
    }
    worst = std::max(worst, std::abs(sum - at(y, e)) / std::sqrt(static_cast<double>(k)));
  }
  EXPECT_LT(worst, tolerance);
}

const Case kCases[] = {
    {{7, 5}, {5, 3}, {7, 3}},
    {{64, 129}, {129, 65}, {64, 65}},
    {{5, 7}, {5, 3}, {7, 3}, true, false},
    {{7, 5}, {3, 5}, {7, 3}, false, true},
    {{5, 7}, {3, 5}, {7, 3}, true, true},
    {{1, 33}, {33, 1}, {1, 1}},
    {{33}, {33}, {}},
    {{33}, {33, 4}, {4}},
    {{4, 33}, {33}, {4}},
    {{2, 3, 4, 5}, {5, 6}, {2, 3, 4, 6}},
    {{2, 3, 5, 4}, {5, 6}, {2, 3, 4, 6}, true, false},
    {{2, 3, 4, 5}, {2, 3, 6, 5}, {2, 3, 4, 6}, false, true},
    {{2, 1, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}},
    {{4, 5}, {3, 5, 6}, {3, 4, 6}},
    {{3, 4, 5}, {5}, {3, 4}},
    {{5}, {3, 5, 6}, {3, 6}},
};

TEST(OneDnnMatmul, AgreesWithLoopsInDouble) {
  for (const Case& c : kCases) check(c, DType::kFloat32, 1e-6);
}

// Large enough for the packing gemm and for a reordered right side, odd extents included.
const Case kLargeCases[] = {
    {{65, 129}, {129, 70}, {65, 70}},
    {{130, 64}, {130, 96}, {64, 96}, true, false},
    {{1, 1, 65, 130}, {130, 3072}, {1, 1, 65, 3072}},
    {{70, 2048}, {70, 65}, {2048, 65}, true, false},
    {{129, 67}, {71, 129}, {67, 71}, true, true},
};

TEST(OneDnnMatmul, LargeProductsAgreeWithLoopsInDouble) {
  for (const Case& c : kLargeCases) check(c, DType::kFloat32, 2e-6);
}

TEST(OneDnnMatmul, DenseAddsItsBias) {
  ir::Op op(kLayer, 0);
  for (const Shape& xs : {Shape{7}, Shape{5, 7}, Shape{2, 3, 7}}) {
    for (bool bias : {false, true}) {
      Shape ys = xs;
      ys.set(-1, 4);
      ir::Type tx(DType::kFloat32, xs), tw(DType::kFloat32, {4, 7}), tb(DType::kFloat32, {4});
      ir::Types ty = {ir::Type(DType::kFloat32, ys)};
      const ir::Type* in[] = {&tx, &tw, bias ? &tb : nullptr};
      ir::Attrs attrs;
      Problem p{op, in, ty, attrs};
      ASSERT_EQ(dense_refuses(p), "");
      Tensor x = random(DType::kFloat32, xs, 1), w = random(DType::kFloat32, {4, 7}, 2);
      Tensor b = random(DType::kFloat32, {4}, 3), y = Tensor::empty(DType::kFloat32, ys);
      void* buffers[] = {x.mutable_raw(), w.mutable_raw(), bias ? b.mutable_raw() : nullptr,
                         y.mutable_raw()};
      dense(p)->run(buffers);
      for (int64_t e = 0; e < y.size(); ++e) {
        double sum = bias ? at(b, e % 4) : 0;
        for (int64_t q = 0; q < 7; ++q) sum += at(x, e / 4 * 7 + q) * at(w, e % 4 * 7 + q);
        EXPECT_NEAR(at(y, e), sum, 1e-5);
      }
    }
  }
}

TEST(OneDnnMatmul, SaysWhyItRefuses) {
  ir::Op op(kProduct, 0);
  ir::Type a(DType::kFloat64, {2, 3}), b(DType::kFloat64, {3, 2});
  ir::Types y = {ir::Type(DType::kFloat64, {2, 2})};
  const ir::Type* in[] = {&a, &b};
  ir::Attrs attrs = {false, false};
  EXPECT_EQ(matmul_refuses(Problem{op, in, y, attrs}),
            "dtype float64 (takes float32, bfloat16, float16)");
}

}  // namespace
}  // namespace mycel::cpu::onednn
