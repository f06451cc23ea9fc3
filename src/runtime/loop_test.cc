// Derivatives of loops against closed forms and finite differences, eager and compiled.
#include <cmath>

#include <gtest/gtest.h>

#include "ir/text.h"
#include "runtime/control.h"
#include "runtime/jit.h"
#include "runtime/op_calls.h"
#include "runtime/transforms.h"
#include "tensor/stack.h"
#include "tensor/storage.h"

namespace mycel::runtime {
namespace {

using op_calls::run1;

Tensor f64(double v) { return Tensor::scalar(DType::kFloat64, v); }
Tensor i32(int64_t v) { return Tensor::scalar(DType::kInt32, v); }
Tensor add(const Tensor& a, const Tensor& b) { return run1("add", {a, b}); }
Tensor mul(const Tensor& a, const Tensor& b) { return run1("mul", {a, b}); }
Tensor less(const Tensor& a, const Tensor& b) { return run1("less", {a, b}); }
Tensor sin(const Tensor& a) { return run1("sin", {a}); }
Tensor exp(const Tensor& a) { return run1("exp", {a}); }

using Scalar = std::function<Tensor(const Tensor&)>;

Fn as_fn(const Scalar& f) {
  return [f](std::span<const Tensor> x) { return Tensors{f(x[0])}; };
}

double nth_derivative(Fn f, int order, double at) {
  for (int i = 0; i < order; ++i) {
    f = [f](std::span<const Tensor> x) { return value_and_grad(f, x).inputs; };
  }
  Tensor x = f64(at);
  return f({&x, 1})[0].item();
}

// Derivatives of orders 0.. against `expected`: eager; the function compiled and differentiated;
// the derivative compiled as a whole.
void expect_derivatives(const Scalar& f, double at, const std::vector<double>& expected,
                        double tolerance = 1e-10) {
  for (size_t k = 0; k < expected.size(); ++k) {
    int order = static_cast<int>(k);
    double allowed = tolerance * std::max(1.0, std::abs(expected[k]));
    EXPECT_NEAR(nth_derivative(as_fn(f), order, at), expected[k], allowed) << "eager " << order;
    Jit inner(as_fn(f), "f");
    Fn through = [&](std::span<const Tensor> x) { return inner(x); };
    EXPECT_NEAR(nth_derivative(through, order, at), expected[k], allowed) << "jit f " << order;
    Jit whole(
        [&](std::span<const Tensor> x) {
          Fn g = as_fn(f);
          for (int i = 0; i < order; ++i) {
            g = [g](std::span<const Tensor> v) { return value_and_grad(g, v).inputs; };
          }
          return g(x);
        },
        "derivative");
    Tensor x = f64(at);
    EXPECT_NEAR(whole({&x, 1})[0].item(), expected[k], allowed) << "jit derivative " << order;
  }
}

// c = x; while c < limit: c = c * x. That is x^k, k depending on x.
Tensor power_above(const Tensor& x, double limit) {
  Tensors in{x};
  return while_loop([&](std::span<const Tensor> c) { return Tensors{less(c[0], f64(limit))}; },
                    [&](std::span<const Tensor> c) { return Tensors{mul(c[0], x)}; }, in)[0];
}

TEST(Loop, UnknownNumberOfIterationsToAnyOrder) {
  // 1.5^6 = 11.39 is the first power above 10.
  auto f = [](const Tensor& x) { return power_above(x, 10); };
  double x = 1.5;
  expect_derivatives(
      f, x,
      {std::pow(x, 6), 6 * std::pow(x, 5), 30 * std::pow(x, 4), 120 * std::pow(x, 3), 360 * x * x});
}

TEST(Loop, ZeroIterations) {
  auto f = [](const Tensor& x) { return mul(power_above(x, 1), f64(3)); };
  expect_derivatives(f, 2.0, {6, 3, 0});
}

TEST(Loop, CountedWithTheCounterInside) {
  // sum of sin(i x) for i < 5.
  auto f = [](const Tensor& x) {
    Tensors start{f64(0)};
    return fori_loop(
        0, 5,
        [&](const Tensor& i, std::span<const Tensor> c) {
          Tensor k = run1("cast", {i}, {DType::kFloat64});
          return Tensors{add(c[0], sin(mul(k, x)))};
        },
        start)[0];
  };
  double x = 0.3;
  std::vector<double> d(4, 0);
  for (int i = 0; i < 5; ++i) {
    d[0] += std::sin(i * x);
    d[1] += i * std::cos(i * x);
    d[2] -= i * i * std::sin(i * x);
    d[3] -= i * i * i * std::cos(i * x);
  }
  expect_derivatives(f, x, d);
}

TEST(Loop, NestedLoops) {
  // Three times: c = c * x^2, by an inner loop of two: x^7 from x.
  auto f = [](const Tensor& x) {
    Tensors start{x};
    return fori_loop(
        0, 3,
        [&](const Tensor&, std::span<const Tensor> c) {
          return fori_loop(
              0, 2, [&](const Tensor&, std::span<const Tensor> d) { return Tensors{mul(d[0], x)}; },
              c);
        },
        start)[0];
  };
  double x = 1.3;
  expect_derivatives(
      f, x, {std::pow(x, 7), 7 * std::pow(x, 6), 42 * std::pow(x, 5), 210 * std::pow(x, 4)});
}

TEST(Loop, BranchInsideALoop) {
  // Odd iterations multiply by x, even ones take the sine.
  auto f = [](const Tensor& x) {
    Tensors start{x};
    return fori_loop(
        0, 3,
        [&](const Tensor& i, std::span<const Tensor> c) {
          Tensor odd = run1("equal", {run1("floor_mod", {i, i32(2)}), i32(1)});
          return cond(
              odd, [&](std::span<const Tensor> v) { return Tensors{mul(v[0], x)}; },
              [&](std::span<const Tensor> v) { return Tensors{sin(v[0])}; }, c);
        },
        start)[0];
  };
  double x = 0.8;  // sin(x sin x)
  double u = x * std::sin(x), du = std::sin(x) + x * std::cos(x),
         ddu = 2 * std::cos(x) - x * std::sin(x);
  expect_derivatives(f, x,
                     {std::sin(u), std::cos(u) * du, -std::sin(u) * du * du + std::cos(u) * ddu});
}

TEST(Loop, LoopInsideABranch) {
  auto f = [](const Tensor& x) {
    Tensors in{x};
    return cond(
        less(x, f64(2)), [](std::span<const Tensor> v) { return Tensors{power_above(v[0], 10)}; },
        [](std::span<const Tensor> v) { return Tensors{exp(v[0])}; }, in)[0];
  };
  expect_derivatives(f, 1.5, {std::pow(1.5, 6), 6 * std::pow(1.5, 5), 30 * std::pow(1.5, 4)});
  expect_derivatives(f, 2.5, {std::exp(2.5), std::exp(2.5), std::exp(2.5)});
}

TEST(Loop, IntegersBoolsSwapsAndInvariantsAreCarried) {
  // (a, b) swap each time; a flag and an integer go round too; w does not change.
  Fn f = [](std::span<const Tensor> x) {
    Tensors start{x[0], x[1], i32(0), Tensor::full(DType::kBool, Shape(), 1), x[2]};
    Tensors out = while_loop([](std::span<const Tensor> c) { return Tensors{c[3]}; },
                             [](std::span<const Tensor> c) {
                               Tensor n = add(c[2], i32(1));
                               return Tensors{mul(c[1], c[4]), c[0], n, less(n, i32(3)), c[4]};
                             },
                             start);
    return Tensors{mul(out[0], out[1]), out[2]};
  };
  // (a, b) -> (b w, a) -> (a w, b w) -> (b w^2, a w): product a b w^3.
  Tensors x{f64(2), f64(3), f64(0.5)};
  GradOptions o;
  o.wrt = {0, 1, 2};
  o.has_aux = true;
  for (bool compiled : {false, true}) {
    Jit jit(f, "swap");
    Fn g = compiled ? Fn([&](std::span<const Tensor> v) { return jit(v); }) : f;
    Grads r = value_and_grad(g, x, o);
    EXPECT_DOUBLE_EQ(r.values[0].item(), 6 * 0.125);
    EXPECT_EQ(r.values[1].item(), 3);
    EXPECT_NEAR(r.inputs[0].item(), 3 * 0.125, 1e-14);
    EXPECT_NEAR(r.inputs[1].item(), 2 * 0.125, 1e-14);
    EXPECT_NEAR(r.inputs[2].item(), 6 * 3 * 0.25, 1e-14);
  }
}

TEST(Loop, MatricesAgainstFiniteDifferences) {
  // h = tanh(h w + x), four times.
  auto value = [](const Tensor& w, const Tensor& x) {
    Tensors start{x};
    Tensor h = fori_loop(
        0, 4,
        [&](const Tensor&, std::span<const Tensor> c) {
          return Tensors{run1("tanh", {add(run1("matmul", {c[0], w}), x)})};
        },
        start)[0];
    return run1("reduce_sum", {h});
  };
  std::vector<double> wv, xv;
  for (int i = 0; i < 9; ++i) {
    wv.push_back(0.3 * std::sin(i + 1.0));
    xv.push_back(0.5 * std::cos(2.0 * i));
  }
  Tensors in{Tensor::from(wv, Shape{3, 3}), Tensor::from(xv, Shape{3, 3})};
  Fn f = [&](std::span<const Tensor> v) { return Tensors{value(v[0], v[1])}; };
  GradOptions o;
  o.wrt = {0, 1};
  Jit jit([&](std::span<const Tensor> v) { return value_and_grad(f, v, o).inputs; }, "grad");
  Tensors compiled = jit(in), eager = value_and_grad(f, in, o).inputs;
  for (int arg = 0; arg < 2; ++arg) {
    for (int i = 0; i < 9; ++i) {
      double eps = 1e-5, side[2];
      for (int s = 0; s < 2; ++s) {
        std::vector<double> moved = arg == 0 ? wv : xv;
        moved[i] += s ? eps : -eps;
        Tensors v = in;
        v[arg] = Tensor::from(moved, Shape{3, 3});
        side[s] = f(v)[0].item();
      }
      double fd = (side[1] - side[0]) / (2 * eps);
      EXPECT_NEAR(compiled[arg].data<double>()[i], fd, 1e-8);
      EXPECT_NEAR(eager[arg].data<double>()[i], fd, 1e-8);
    }
  }
}

// Forward over reverse and reverse over forward, through loops and branches.
double directional(const Fn& f, double at) {
  Tensor x = f64(at), one = f64(1);
  return jvp(f, {&x, 1}, {&one, 1}).tangents[0].item();
}
Fn forward(const Fn& f) {
  return [f](std::span<const Tensor> x) {
    Tensor one = f64(1);
    return jvp(f, x, {&one, 1}).tangents;
  };
}
Fn reverse(const Fn& f) {
  return [f](std::span<const Tensor> x) { return value_and_grad(f, x).inputs; };
}

TEST(Forward, ThroughLoopsAndBranches) {
  Fn power = as_fn([](const Tensor& x) { return power_above(x, 10); });
  Fn nested = as_fn([](const Tensor& x) {
    Tensors start{x};
    return fori_loop(
        0, 3,
        [&](const Tensor& i, std::span<const Tensor> c) {
          Tensor odd = run1("equal", {run1("floor_mod", {i, i32(2)}), i32(1)});
          return cond(
              odd, [&](std::span<const Tensor> v) { return Tensors{power_above(v[0], 1e-9)}; },
              [&](std::span<const Tensor> v) { return Tensors{mul(sin(v[0]), x)}; }, c);
        },
        start)[0];
  });
  double x = 1.5;
  EXPECT_NEAR(directional(power, x), 6 * std::pow(x, 5), 1e-10);
  EXPECT_NEAR(directional(reverse(power), x), 30 * std::pow(x, 4), 1e-9);
  EXPECT_NEAR(directional(forward(power), x), 30 * std::pow(x, 4), 1e-9);
  EXPECT_NEAR(nth_derivative(forward(power), 1, x), 30 * std::pow(x, 4), 1e-9);
  EXPECT_NEAR(nth_derivative(forward(reverse(power)), 1, x), 120 * std::pow(x, 3), 1e-8);
  for (const Fn& f : {power, nested}) {
    for (bool compiled : {false, true}) {
      Jit jit(f, "f");
      Fn g = compiled ? Fn([&](std::span<const Tensor> v) { return jit(v); }) : f;
      EXPECT_NEAR(directional(g, x), nth_derivative(f, 1, x), 1e-10);
      EXPECT_NEAR(directional(forward(g), x), nth_derivative(f, 2, x), 1e-9);
      EXPECT_NEAR(nth_derivative(forward(g), 1, x), nth_derivative(f, 2, x), 1e-9);
      EXPECT_NEAR(directional(reverse(g), x), nth_derivative(f, 2, x), 1e-9);
      Jit whole(forward(g), "jvp");
      Tensor at = f64(x);
      EXPECT_NEAR(whole({&at, 1})[0].item(), nth_derivative(f, 1, x), 1e-10);
    }
  }
}

TEST(Forward, IntegersHaveZeroTangents) {
  Fn f = [](std::span<const Tensor> x) { return Tensors{mul(x[0], x[0]), add(x[1], i32(1))}; };
  Tensors x{f64(3), i32(4)}, t{f64(2), i32(0)};
  Pushforward p = jvp(f, x, t);
  EXPECT_DOUBLE_EQ(p.tangents[0].item(), 12);
  EXPECT_EQ(p.values[1].item(), 5);
  EXPECT_EQ(p.tangents[1].item(), 0);
}

TEST(Loop, AMillionIterationsDifferentiate) {
  // x' = x - h sin x, a million times: memory is a few numbers per iteration.
  Fn f = [](std::span<const Tensor> x) {
    Tensors start{x[0]};
    return fori_loop(
        0, 1000000,
        [&](const Tensor&, std::span<const Tensor> c) {
          return Tensors{run1("sub", {c[0], mul(f64(1e-6), sin(c[0]))})};
        },
        start);
  };
  Tensor x = f64(1.0);
  reset_allocator_peak();
  size_t before = allocator_stats().in_use;
  Grads g = value_and_grad(f, {&x, 1});
  size_t used = allocator_stats().peak - before;
  EXPECT_LT(used, size_t{64} << 20);  // growing by doubling: at most three copies of 8 MB
  // The product of 1 - h cos(x_i) along the same path.
  double at = 1.0, product = 1;
  for (int i = 0; i < 1000000; ++i) {
    product *= 1 - 1e-6 * std::cos(at);
    at -= 1e-6 * std::sin(at);
  }
  EXPECT_NEAR(g.values[0].item(), at, 1e-10);
  EXPECT_NEAR(g.inputs[0].item(), product, 1e-10);
}

TEST(Loop, GradientTextParsesBack) {
  Jit whole(
      [](std::span<const Tensor> x) {
        return value_and_grad(as_fn([](const Tensor& v) { return power_above(v, 10); }), x).inputs;
      },
      "gradient");
  Tensor x = f64(1.5);
  std::string text = whole.graph({&x, 1})->str();
  EXPECT_NE(text.find("stack_push"), std::string::npos) << text;
  EXPECT_EQ(ir::parse(text)->str(), text);
}

TEST(StackValue, GrowsInPlaceWhenOwnedAlone) {
  Tensor s = stack_tensor(std::make_unique<Stack>(DType::kFloat64, Shape()));
  const void* where = s.impl()->data;
  for (int i = 0; i < 100; ++i) {
    double v = i;
    owned_stack(s).push(&v);
  }
  EXPECT_EQ(s.impl()->data, where);
  Tensor other = s;
  double top = 0;
  owned_stack(other).pop(&top);
  EXPECT_EQ(top, 99);
  EXPECT_EQ(stack_of(s).depth(), 100);
  EXPECT_EQ(stack_of(other).depth(), 99);
}

TEST(StackValue, LanesPopWhatTheyPushedAndZerosBelow) {
  Stack s(DType::kFloat32, Shape{2, 2});
  std::vector<float> a{1, 2, 3, 4}, b{5, 6, 7, 8}, out(4);
  std::vector<uint8_t> second{0, 1}, both{1, 1};
  s.push(a.data());
  s.push(b.data(), second.data(), 1);
  s.pop(out.data(), both.data(), 1);
  EXPECT_EQ(out, (std::vector<float>{1, 2, 7, 8}));
  s.pop(out.data(), both.data(), 1);
  EXPECT_EQ(out, (std::vector<float>{0, 0, 3, 4}));
}

TEST(StackValue, RowsAreAlignedAtTheTop) {
  Stack s(DType::kInt32, Shape());
  for (int32_t v : {1, 2, 3}) s.push(&v);
  EXPECT_EQ(op_calls::ints(s.rows(2, false)), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(op_calls::ints(s.rows(4, false)), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(op_calls::ints(s.rows(4, true)), (std::vector<int64_t>{3, 2, 1, 0}));
}

}  // namespace
}  // namespace mycel::runtime
