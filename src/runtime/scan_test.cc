// scan against recurrences in plain C++, and its gradient against the recurrence's.
#include "runtime/scan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/jit.h"
#include "runtime/op_calls.h"

namespace mycel::runtime {
namespace {

using op_calls::reals;
using op_calls::run1;

// h = a h + x; gives h * h.
Scanned step(const Tensor& a, std::span<const Tensor> carried, std::span<const Tensor> rows) {
  Tensor h = run1("add", {run1("mul", {carried[0], a}), rows[0]});
  return {{h}, {run1("mul", {h, h})}};
}

const std::vector<double> kRows{0.5, -1.25, 2.0, 0.75, -0.5};
constexpr double kA = 0.7, kStart = 1.5;

Tensor rows() {
  Tensor x = Tensor::empty(DType::kFloat64, {5});
  std::copy(kRows.begin(), kRows.end(), x.mutable_data<double>().begin());
  return x;
}

Tensor f64(double v) { return Tensor::scalar(DType::kFloat64, v); }

TEST(Scan, CarriesAndStacks) {
  Fn f = [](std::span<const Tensor> in) {
    auto body = [&](auto carried, auto x) { return step(in[0], carried, x); };
    Scanned s = scan(body, in.subspan(1, 1), in.subspan(2, 1));
    return Tensors{s.carried[0], s.results[0]};
  };
  Jit compiled(f, "scan");
  Tensors in{f64(kA), f64(kStart), rows()};
  for (const Tensors& out : {f(in), compiled(in), compiled(in)}) {
    ASSERT_EQ(out[1].shape(), Shape({5}));
    std::vector<double> got = reals(out[1]);
    double h = kStart;
    for (size_t i = 0; i < kRows.size(); ++i) {
      h = kA * h + kRows[i];
      EXPECT_DOUBLE_EQ(got[i], h * h);
    }
    EXPECT_DOUBLE_EQ(out[0].item(), h);
  }
}

TEST(Scan, IsDifferentiated) {
  Fn total = [](std::span<const Tensor> in) {
    auto body = [&](auto carried, auto x) { return step(in[0], carried, x); };
    Scanned s = scan(body, in.subspan(1, 1), in.subspan(2, 1));
    return Tensors{run1("sum", {s.results[0]})};
  };
  Fn gradient = [&](std::span<const Tensor> in) {
    GradOptions o;
    o.wrt = {0, 2};
    return value_and_grad(total, in, o).inputs;
  };
  // d/da and d/dx by the recurrence: dh = a dh + (h, e_k).
  double h = kStart, da = 0, dh = 0;
  std::vector<double> dx(5, 0), dhx(5, 0);
  for (size_t i = 0; i < kRows.size(); ++i) {
    dh = kA * dh + h;
    h = kA * h + kRows[i];
    da += 2 * h * dh;
    for (double& d : dhx) d *= kA;
    dhx[i] = 1;
    for (size_t k = 0; k <= i; ++k) dx[k] += 2 * h * dhx[k];
  }
  Jit compiled(gradient, "gradient");
  Tensors in{f64(kA), f64(kStart), rows()};
  for (const Tensors& out : {gradient(in), compiled(in)}) {
    EXPECT_NEAR(out[0].item(), da, 1e-12);
    std::vector<double> got = reals(out[1]);
    for (size_t k = 0; k < 5; ++k) EXPECT_NEAR(got[k], dx[k], 1e-12);
  }
}

TEST(Scan, WithoutRowsAndWithoutSteps) {
  auto twice = [](std::span<const Tensor> c, std::span<const Tensor>) {
    return Scanned{{run1("add", {c[0], c[0]})}, {c[0]}};
  };
  Tensor one = f64(1);
  Scanned s = scan(twice, {&one, 1}, {}, 4);
  EXPECT_EQ(reals(s.results[0]), (std::vector<double>{1, 2, 4, 8}));
  EXPECT_EQ(s.carried[0].item(), 16);
  s = scan(twice, {&one, 1}, {}, 0);
  EXPECT_EQ(s.results[0].shape(), Shape({0}));
  EXPECT_EQ(s.carried[0].item(), 1);
  EXPECT_THROW(scan(twice, {&one, 1}, {}), UserError);
  EXPECT_THROW(scan(twice, {&one, 1}, {&one, 1}), UserError);
}

}  // namespace
}  // namespace mycel::runtime
