// Elementwise ops against the C++ standard library: special functions on grids, integer arithmetic
// on all pairs of int8, and the corner cases of the generic runner's blind spots.
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "ir/op.h"
#include "runtime/dispatch.h"
#include "tensor/tensor.h"

namespace mycel {
namespace {

Tensor call(const char* op, std::vector<Tensor> in, const ir::Attrs& attrs = {}) {
  return runtime::call1(ir::op_named(op), in, attrs);
}

struct Curve {
  const char* op;
  double low, high;
  std::function<double(double)> reference;
  double tolerance;  // relative to max(1, |value|)
};

const Curve kCurves[] = {
    {"bessel_j0", 0, 60, [](double x) { return std::cyl_bessel_j(0, x); }, 1e-13},
    {"bessel_j1", 0, 60, [](double x) { return std::cyl_bessel_j(1, x); }, 1e-13},
    {"bessel_y0", 0.05, 60, [](double x) { return std::cyl_neumann(0, x); }, 1e-13},
    {"bessel_y1", 0.05, 60, [](double x) { return std::cyl_neumann(1, x); }, 1e-13},
    {"bessel_i0", 0, 40, [](double x) { return std::cyl_bessel_i(0, x); }, 1e-13},
    {"bessel_i1", 0, 40, [](double x) { return std::cyl_bessel_i(1, x); }, 1e-13},
    {"bessel_k0", 0.01, 40, [](double x) { return std::cyl_bessel_k(0, x); }, 1e-13},
    {"bessel_k1", 0.01, 40, [](double x) { return std::cyl_bessel_k(1, x); }, 1e-13},
    {"lgamma", -5.4, 60, [](double x) { return std::lgamma(x); }, 1e-12},
    {"erf", -6, 6, [](double x) { return std::erf(x); }, 1e-14},
    {"erfc", -6, 27, [](double x) { return std::erfc(x); }, 1e-14},
    {"erfinv", -0.9999, 0.9999, nullptr, 0},
    {"expm1", -20, 20, [](double x) { return std::expm1(x); }, 1e-14},
    {"asinh", -1e3, 1e3, [](double x) { return std::asinh(x); }, 1e-14},
    {"acosh", 1, 1e3, [](double x) { return std::acosh(x); }, 1e-14},
    {"atanh", -0.9999, 0.9999, [](double x) { return std::atanh(x); }, 1e-13},
};

TEST(Elementwise, CurvesMatchTheStandardLibrary) {
  constexpr int kPoints = 997;
  for (const Curve& c : kCurves) {
    std::vector<double> x(kPoints);
    for (int i = 0; i < kPoints; ++i) x[i] = c.low + (c.high - c.low) * i / (kPoints - 1);
    Tensor y = call(c.op, {Tensor::from(x, {kPoints})});
    for (int i = 0; i < kPoints; ++i) {
      double got = y.data<double>()[i];
      if (!c.reference) {  // an inverse: back through erf
        EXPECT_NEAR(std::erf(got), x[i], 1e-15) << c.op << " at " << x[i];
        continue;
      }
      double want = c.reference(x[i]);
      EXPECT_NEAR(got, want, c.tolerance * std::max(1.0, std::fabs(want)))
          << c.op << " at " << x[i];
    }
  }
}

// P(a, x) = 1 - e^-x (1 + x + … ) for whole a; I_x(1, b) = 1 - (1 - x)^b and I_x(a, 1) = x^a.
TEST(Elementwise, IncompleteFunctionsMatchTheirFiniteForms) {
  std::vector<double> a, x, want;
  for (int n = 1; n <= 40; n += 3) {
    for (double v : {0.1, 0.9, 2.0, 7.5, 20.0, 41.0, 80.0}) {
      double term = 1, sum = 1;
      for (int k = 1; k < n; ++k) sum += term *= v / k;
      a.push_back(n);
      x.push_back(v);
      want.push_back(std::exp(-v) * sum);
    }
  }
  auto count = static_cast<int64_t>(a.size());
  Tensor upper = call("igammac", {Tensor::from(a, {count}), Tensor::from(x, {count})});
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(upper.data<double>()[i] / want[i], 1, 1e-11) << "Q(" << a[i] << ", " << x[i] << ")";
  }
  for (double b : {0.3, 1.0, 5.0, 50.0}) {
    for (double v : {0.01, 0.3, 0.7, 0.99}) {
      auto scalar = [](double s) { return Tensor::scalar(DType::kFloat64, s); };
      EXPECT_NEAR(call("betainc", {scalar(1), scalar(b), scalar(v)}).item(), 1 - std::pow(1 - v, b),
                  1e-13);
      EXPECT_NEAR(call("betainc", {scalar(b), scalar(1), scalar(v)}).item(), std::pow(v, b), 1e-13);
    }
  }
}

int floor_div(int x, int y) {
  return y == 0 ? 0 : (x / y) - ((x % y != 0) && ((x < 0) != (y < 0)));
}

TEST(Elementwise, Int8ArithmeticMatchesCppForAllPairs) {
  std::vector<int8_t> x, y;
  for (int i = -128; i < 128; ++i) {
    for (int j = -128; j < 128; ++j) {
      x.push_back(static_cast<int8_t>(i));
      y.push_back(static_cast<int8_t>(j));
    }
  }
  Tensor tx = Tensor::from(x, {256, 256}), ty = Tensor::from(y, {256, 256});
  const struct {
    const char* op;
    std::function<int(int, int)> reference;
  } kOps[] = {
      {"add", [](int a, int b) { return a + b; }},
      {"sub", [](int a, int b) { return a - b; }},
      {"mul", [](int a, int b) { return a * b; }},
      {"floor_div", floor_div},
      {"floor_mod", [](int a, int b) { return b == 0 ? 0 : a - floor_div(a, b) * b; }},
      {"truncate_div", [](int a, int b) { return b == 0 ? 0 : a / b; }},
      {"truncate_mod", [](int a, int b) { return b == 0 ? 0 : a % b; }},
      {"maximum", [](int a, int b) { return std::max(a, b); }},
      {"bitwise_xor", [](int a, int b) { return a ^ b; }},
      {"gcd", [](int a, int b) { return std::gcd(a, b); }},
  };
  for (const auto& [op, reference] : kOps) {
    Tensor got = call(op, {tx, ty});
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(got.data<int8_t>()[i], static_cast<int8_t>(reference(x[i], y[i])))
          << op << " of " << int{x[i]} << " and " << int{y[i]};
    }
  }
}

TEST(Elementwise, FloatRemaindersMatchPython) {
  // From Python: x // y and x % y.
  const struct {
    double x, y, quotient, remainder;
  } kRows[] = {{7, 3, 2, 1},
               {-7, 3, -3, 2},
               {7, -3, -3, -2},
               {-7, -3, 2, -1},
               {1, 0.1, 9, 0.09999999999999995},
               {0.3, 0.1, 2, 0.09999999999999998},
               {-0.5, 2, -1, 1.5},
               {6, 2, 3, 0}};
  for (const auto& r : kRows) {
    Tensor x = Tensor::scalar(DType::kFloat64, r.x), y = Tensor::scalar(DType::kFloat64, r.y);
    EXPECT_EQ(call("floor_div", {x, y}).item(), r.quotient) << r.x << " // " << r.y;
    EXPECT_DOUBLE_EQ(call("floor_mod", {x, y}).item(), r.remainder) << r.x << " % " << r.y;
  }
}

TEST(Elementwise, PromotionFollowsNumpyButKeepsFloat32) {
  Tensor i = Tensor::zeros(DType::kInt64, {2}), f = Tensor::zeros(DType::kFloat32, {2}),
         b = Tensor::zeros(DType::kBool, {2});
  EXPECT_EQ(call("add", {i, f}).dtype(), DType::kFloat32);
  EXPECT_EQ(call("add", {b, b}).dtype(), DType::kBool);
  EXPECT_EQ(call("add", {b, i}).dtype(), DType::kInt64);
  EXPECT_EQ(call("div", {i, i}).dtype(), DType::kFloat32);
  EXPECT_EQ(call("exp", {i}).dtype(), DType::kFloat32);
  EXPECT_EQ(call("less", {i, f}).dtype(), DType::kBool);
  EXPECT_EQ(call("pow", {i, i}).dtype(), DType::kInt64);
}

TEST(Elementwise, LargeArgumentsDoNotOverflow) {
  for (double v : {-1000.0, -89.0, 0.0, 89.0, 1000.0}) {
    for (const char* op :
         {"sigmoid", "softplus", "logsigmoid", "silu", "gelu", "mish", "tanh", "elu", "selu"}) {
      float y = call(op, {Tensor::scalar(DType::kFloat32, v)}).data<float>()[0];
      EXPECT_TRUE(std::isfinite(y)) << op << " of " << v << " is " << y;
    }
  }
}

}  // namespace
}  // namespace mycel
