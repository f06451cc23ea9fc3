// Functions that call themselves against closed forms: run, compiled, differentiated, mapped.
#include "runtime/graph_function.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/text.h"
#include "runtime/control.h"
#include "runtime/jit.h"
#include "runtime/op_calls.h"
#include "runtime/vmap.h"

namespace mycel::runtime {
namespace {

using op_calls::reals;
using op_calls::run1;

const ir::Type kReal(DType::kFloat64, Shape{}), kCount(DType::kInt32, Shape{});

Tensor f64(double v) { return Tensor::scalar(DType::kFloat64, v); }
Tensor i32(int64_t v) { return Tensor::scalar(DType::kInt32, v); }

// power(n, x) = x * w if n == 0 else power(n - 1, x * x): w x^(2^n), with w from outside.
GraphFunction power(const Tensor& w) {
  GraphFunction f("power", {kCount, kReal}, {kReal});
  f.define([&](std::span<const Tensor> in) {
    Fn end = [&](std::span<const Tensor> v) { return Tensors{run1("mul", {v[1], w})}; };
    Fn again = [&](std::span<const Tensor> v) {
      Tensors next{run1("sub", {v[0], i32(1)}), run1("mul", {v[1], v[1]})};
      return f(next);
    };
    return cond(run1("equal", {in[0], i32(0)}), end, again, in);
  });
  return f;
}

double closed(int n, double x, int order) {
  double p = std::pow(2.0, n), y = 3;
  for (int k = 0; k < order; ++k) y *= p - k;
  return y * std::pow(x, p - order);
}

Fn derivative(const Fn& f, int order) {
  if (order == 0) return f;
  Fn inner = derivative(f, order - 1);
  return [inner](std::span<const Tensor> x) {
    GradOptions o;
    o.wrt = {1};
    return value_and_grad(inner, x, o).inputs;
  };
}

TEST(GraphFunction, RecursionToAnyOrderEagerAndCompiled) {
  GraphFunction f = power(f64(3));
  Fn call_f = [&](std::span<const Tensor> x) { return f(x); };
  for (int order = 0; order < 4; ++order) {
    Fn d = derivative(call_f, order);
    Jit whole(d, "whole");
    for (int n : {0, 1, 3}) {
      Tensors in{i32(n), f64(1.3)};
      double want = closed(n, 1.3, order), allowed = 1e-12 * std::max(1.0, std::abs(want));
      EXPECT_NEAR(d(in)[0].item(), want, allowed) << n << " eager " << order;
      EXPECT_NEAR(whole(in)[0].item(), want, allowed) << n << " compiled " << order;
    }
    EXPECT_EQ(whole.traces(), 1u);
  }
}

TEST(GraphFunction, WhatItCapturesIsDifferentiatedToo) {
  // Through calls inside branches and loops: twice the power, w on every way out.
  Fn of_w = [](std::span<const Tensor> in) {
    GraphFunction f = power(in[0]);
    auto step = [&](const Tensor&, std::span<const Tensor> v) {
      Tensors args{i32(1), v[0]};
      return f(args);
    };
    return fori_loop(0, 2, step, {&in[1], 1});
  };
  // y = w (w x^2)^2 = w^3 x^4
  Tensors in{f64(1.5), f64(1.1)};
  Fn d = [&](std::span<const Tensor> x) { return value_and_grad(of_w, x).inputs; };
  double want = 3 * 1.5 * 1.5 * std::pow(1.1, 4);
  EXPECT_NEAR(of_w(in)[0].item(), std::pow(1.5, 3) * std::pow(1.1, 4), 1e-12);
  EXPECT_NEAR(d(in)[0].item(), want, 1e-12);
  EXPECT_NEAR(Jit(d)(in)[0].item(), want, 1e-12);
}

TEST(GraphFunction, ForwardModeThroughRecursion) {
  GraphFunction f = power(f64(3));
  Fn along = [&](std::span<const Tensor> x) {
    Fn in_x = [&](std::span<const Tensor> v) {
      Tensors args{x[0], v[0]};
      return f(args);
    };
    Tensors at{x[1]}, one{f64(1)};
    return jvp(in_x, at, one).tangents;
  };
  Tensors in{i32(3), f64(1.2)};
  EXPECT_NEAR(along(in)[0].item(), closed(3, 1.2, 1), 1e-12);
  EXPECT_NEAR(Jit(along)(in)[0].item(), closed(3, 1.2, 1), 1e-12);
}

TEST(GraphFunction, TaylorModeThroughRecursion) {
  GraphFunction f = power(f64(3));
  Fn third = [&](std::span<const Tensor> x) {
    Fn in_x = [&](std::span<const Tensor> v) {
      Tensors args{x[0], v[0]};
      return f(args);
    };
    std::vector<Tensors> series{{f64(1), f64(0), f64(0)}};
    return jet(in_x, {&x[1], 1}, series).series[0];
  };
  Tensors in{i32(3), f64(1.2)};
  for (int k = 1; k <= 3; ++k) {
    double want = closed(3, 1.2, k);
    EXPECT_NEAR(third(in)[k - 1].item(), want, 1e-12 * want);
    EXPECT_NEAR(Jit(third)(in)[k - 1].item(), want, 1e-12 * want);
  }
}

TEST(GraphFunction, ExamplesThatRecurseToDifferentDepths) {
  GraphFunction f = power(f64(3));
  Fn call_f = [&](std::span<const Tensor> x) { return f(x); };
  std::vector<double> xs{1.1, 1.2, 1.3, 0.7};
  std::vector<int32_t> ns{0, 1, 3, 2};
  Tensors in{Tensor::from(ns, Shape{4}), Tensor::from(xs, Shape{4})};
  auto expect = [&](const char* what, const Fn& g, int order) {
    for (bool whole : {false, true}) {
      std::vector<double> y = reals((whole ? Jit(g)(in) : g(in))[0]);
      for (size_t i = 0; i < xs.size(); ++i) {
        double want = closed(ns[i], xs[i], order);
        EXPECT_NEAR(y[i], want, 1e-12 * std::max(1.0, std::abs(want))) << what << whole << i;
      }
    }
  };
  auto mapped = [](const Fn& g) {
    return Fn([g](std::span<const Tensor> x) { return vmap(g, x); });
  };
  expect("vmap", mapped(call_f), 0);
  expect("vmap(grad)", mapped(derivative(call_f, 1)), 1);
  expect("grad(vmap)", derivative(mapped(call_f), 1), 1);
  expect("vmap(grad(grad))", mapped(derivative(call_f, 2)), 2);
  expect("grad(vmap(grad))", derivative(mapped(derivative(call_f, 1)), 1), 2);
}

TEST(GraphFunction, TextParsesBackAndRuns) {
  GraphFunction f = power(f64(3));
  Jit whole(derivative([&](std::span<const Tensor> x) { return f(x); }, 1), "whole");
  Tensors in{i32(2), f64(1.5)};
  std::string text = whole.graph(in)->str();
  EXPECT_NE(text.find("@power_gradient"), std::string::npos) << text;
  std::shared_ptr<ir::Graph> again = ir::parse(text);
  EXPECT_EQ(again->str(), text);
  Tensors all = in;
  if (again->params().size() > all.size()) all.push_back(f64(1));  // the gradient's seed
  EXPECT_NEAR(run_graph(*again, all)[0].item(), closed(2, 1.5, 1), 1e-12);
}

void expect_error(const std::function<void()>& f, const char* text) {
  try {
    f();
    FAIL() << "no error: " << text;
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

TEST(GraphFunction, RefusesWhatIsWrong) {
  GraphFunction f("f", {kReal}, {kReal});
  Tensor x = f64(1);
  expect_error([&] { f({&x, 1}); }, "@f is called before it is defined");
  expect_error([&] { f.define([](std::span<const Tensor>) { return Tensors{}; }); },
               "@f is declared with 1 results and gives 0");
  expect_error([&] { f.define([](std::span<const Tensor>) { return Tensors{i32(1)}; }); },
               "result 0 of @f is declared as float64[] and is int32[]");
  GraphFunction endless("endless", {kReal}, {kReal});
  endless.define([&](std::span<const Tensor> in) { return endless(in); });
  expect_error([&] { endless({&x, 1}); }, "@endless calls itself more than");
  expect_error([&] { endless({}); }, "@endless takes 1 values, 0 given");
}

}  // namespace
}  // namespace mycel::runtime
