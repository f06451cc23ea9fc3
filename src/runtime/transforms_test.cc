// Derivatives of host functions against closed forms.
#include "runtime/transforms.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/control.h"
#include "runtime/dispatch.h"
#include "runtime/jit.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

const ir::Op& op(const char* name) { return ir::op_named(name); }
Tensor add(const Tensor& a, const Tensor& b) { return call1(op("add"), {a, b}); }
Tensor mul(const Tensor& a, const Tensor& b) { return call1(op("mul"), {a, b}); }
Tensor sin(const Tensor& a) { return call1(op("sin"), {a}); }
Tensor exp(const Tensor& a) { return call1(op("exp"), {a}); }
Tensor f64(double v) { return Tensor::scalar(DType::kFloat64, v); }

Fn derivative(const Fn& f) {
  return [f](std::span<const Tensor> x) { return value_and_grad(f, x).inputs; };
}

double nth_derivative(Fn f, int order, double at) {
  for (int i = 0; i < order; ++i) f = derivative(f);
  Tensor x = f64(at);
  return f({&x, 1})[0].item();
}

TEST(Grad, FourthDerivativeOfSine) {
  Fn f = [](std::span<const Tensor> x) { return Tensors{sin(x[0])}; };
  EXPECT_NEAR(nth_derivative(f, 1, 0.7), std::cos(0.7), 1e-14);
  EXPECT_NEAR(nth_derivative(f, 2, 0.7), -std::sin(0.7), 1e-14);
  EXPECT_NEAR(nth_derivative(f, 3, 0.7), -std::cos(0.7), 1e-14);
  EXPECT_NEAR(nth_derivative(f, 4, 0.7), std::sin(0.7), 1e-14);
}

TEST(Grad, FourthDerivativeOfProduct) {
  Fn f = [](std::span<const Tensor> x) { return Tensors{mul(x[0], exp(x[0]))}; };
  EXPECT_NEAR(nth_derivative(f, 4, 0.3), 4.3 * std::exp(0.3), 1e-13);
}

TEST(Grad, SumsOverBroadcastOperand) {
  Fn f = [](std::span<const Tensor> x) { return Tensors{mul(x[0], x[1])}; };
  std::vector<double> values{1, 2, 3, 4, 5, 6};
  Tensors x{Tensor::from(values, Shape{2, 3}), f64(2)};
  GradOptions o;
  o.wrt = {0, 1};
  Grads g = value_and_grad(f, x, o);
  EXPECT_DOUBLE_EQ(g.inputs[1].item(), 21);
  EXPECT_EQ(g.inputs[0].shape(), (Shape{2, 3}));
}

TEST(Grad, SeedWeightsTheResult) {
  Fn f = [](std::span<const Tensor> x) { return Tensors{mul(x[0], x[0])}; };
  Tensor x = f64(3);
  GradOptions o;
  o.seeds = {f64(10)};
  EXPECT_DOUBLE_EQ(value_and_grad(f, {&x, 1}, o).inputs[0].item(), 60);
}

TEST(Grad, VariablesAreWatchedAndRestored) {
  Tensor w = f64(5);
  Fn f = [&](std::span<const Tensor> x) { return Tensors{mul(w, x[0])}; };
  Tensor x = f64(2);
  GradOptions o;
  o.wrt = {};
  o.variables = {&w};
  Grads g = value_and_grad(f, {&x, 1}, o);
  EXPECT_DOUBLE_EQ(g.variables[0].item(), 2);
  EXPECT_TRUE(w.concrete());
  EXPECT_DOUBLE_EQ(w.item(), 5);
}

TEST(Grad, AssignedVariableKeepsItsNewValue) {
  Tensor count = f64(0);
  Fn f = [&](std::span<const Tensor> x) {
    count = add(count, x[0]);
    return Tensors{mul(x[0], x[0])};
  };
  Tensor x = f64(2);
  GradOptions o;
  o.variables = {&count};
  value_and_grad(f, {&x, 1}, o);
  EXPECT_TRUE(count.concrete());
  EXPECT_DOUBLE_EQ(count.item(), 2);
}

TEST(Grad, StopGradientAndCustomRule) {
  Tensor x = f64(3);
  Fn stopped = [](std::span<const Tensor> v) { return Tensors{mul(v[0], stop_gradient(v[0]))}; };
  EXPECT_DOUBLE_EQ(value_and_grad(stopped, {&x, 1}).inputs[0].item(), 3);
  Fn custom = [](std::span<const Tensor> v) {
    Fn square = [](std::span<const Tensor> a) { return Tensors{mul(a[0], a[0])}; };
    Fn rule = [](std::span<const Tensor> a) { return Tensors{mul(f64(100), a[2])}; };
    return with_custom_gradient(square, rule, v);
  };
  Grads g = value_and_grad(custom, {&x, 1});
  EXPECT_DOUBLE_EQ(g.values[0].item(), 9);
  EXPECT_DOUBLE_EQ(g.inputs[0].item(), 100);
}

TEST(Grad, CustomRuleIsItselfDifferentiable) {
  Fn custom = [](std::span<const Tensor> v) {
    Fn cube = [](std::span<const Tensor> a) { return Tensors{mul(a[0], mul(a[0], a[0]))}; };
    Fn rule = [](std::span<const Tensor> a) {
      return Tensors{mul(mul(f64(3), mul(a[0], a[0])), a[2])};
    };
    return with_custom_gradient(cube, rule, v);
  };
  EXPECT_NEAR(nth_derivative(custom, 2, 1.5), 9, 1e-13);
}

TEST(Jvp, MatchesClosedForm) {
  Fn f = [](std::span<const Tensor> x) { return Tensors{mul(sin(x[0]), x[1])}; };
  Tensors x{f64(0.4), f64(3)}, t{f64(1), f64(-2)};
  Pushforward p = jvp(f, x, t);
  EXPECT_NEAR(p.tangents[0].item(), std::cos(0.4) * 3 - 2 * std::sin(0.4), 1e-14);
  Fn g = [&](std::span<const Tensor> v) {
    Tensors in{v[0], f64(3)}, dir{f64(1), f64(0)};
    return jvp(f, in, dir).tangents;
  };
  EXPECT_NEAR(nth_derivative(g, 1, 0.4), -std::sin(0.4) * 3, 1e-14);
}

TEST(Control, BranchesAndLoopsDifferentiateEagerly) {
  Fn f = [](std::span<const Tensor> x) {
    Tensors carried{x[0]};
    return fori_loop(
        0, 5, [&](const Tensor&, std::span<const Tensor> c) { return Tensors{mul(c[0], x[0])}; },
        carried);
  };
  EXPECT_NEAR(nth_derivative(f, 1, 1.1), 6 * std::pow(1.1, 5), 1e-12);
}

TEST(Control, CompiledRegionsEqualEager) {
  Fn f = [](std::span<const Tensor> x) {
    Tensor positive = call1(op("greater"), {x[0], f64(0)});
    return cond(
        positive, [](std::span<const Tensor> v) { return Tensors{mul(v[0], v[0])}; },
        [](std::span<const Tensor> v) { return Tensors{sin(v[0])}; }, x);
  };
  Jit compiled(f, "branch");
  Fn through = [&](std::span<const Tensor> x) { return compiled(x); };
  for (double at : {2.0, -2.0}) {
    Tensor x = f64(at);
    EXPECT_DOUBLE_EQ(compiled({&x, 1})[0].item(), f({&x, 1})[0].item());
    EXPECT_NEAR(nth_derivative(through, 1, at), at > 0 ? 2 * at : std::cos(at), 1e-14);
    EXPECT_NEAR(nth_derivative(through, 2, at), at > 0 ? 2 : -std::sin(at), 1e-14);
  }
  EXPECT_EQ(compiled.traces(), 1u);
}

TEST(Control, CompiledLoopRunsWhileTheConditionHolds) {
  Jit compiled(
      [](std::span<const Tensor> x) {
        return while_loop(
            [](std::span<const Tensor> c) { return Tensors{call1(op("less"), {c[0], f64(100)})}; },
            [](std::span<const Tensor> c) { return Tensors{mul(c[0], f64(2))}; }, x);
      },
      "double");
  Tensor x = f64(3);
  EXPECT_DOUBLE_EQ(compiled({&x, 1})[0].item(), 192);
}

TEST(Jit, UpdatesVariablesInPlace) {
  Tensor w = Tensor::full(DType::kFloat32, Shape{1000}, 1.0);
  const void* where = w.raw();
  Jit step(
      [&](std::span<const Tensor> x) {
        w = add(w, x[0]);
        return Tensors{mul(w, w)};
      },
      "step", [&] { return std::vector<Tensor*>{&w}; });
  Tensor x = Tensor::full(DType::kFloat32, Shape{1000}, 2.0);
  Tensor y = step({&x, 1})[0];
  EXPECT_EQ(y.data<float>()[999], 9.f);
  EXPECT_EQ(w.data<float>()[0], 3.f);
  EXPECT_EQ(w.raw(), where);
  Tensor kept = w;  // someone else holds it: must not be overwritten
  step({&x, 1});
  EXPECT_EQ(kept.data<float>()[0], 3.f);
  EXPECT_EQ(w.data<float>()[0], 5.f);
}

TEST(Jit, ReadingAnUnknownValueIsAnError) {
  Jit bad([](std::span<const Tensor> x) { return Tensors{f64(concrete(x[0], "float()").item())}; },
          "bad");
  Tensor x = f64(1);
  try {
    bad({&x, 1});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(e.message().find("not known while a graph is being compiled"), std::string::npos);
  }
}

TEST(Grad, PlannedBackwardEqualsTheFirst) {
  Fn f = [](std::span<const Tensor> x) { return Tensors{sin(mul(x[0], x[1]))}; };
  std::vector<double> values{0.1, 0.2, 0.3};
  Tensors x{Tensor::from(values, Shape{3}), f64(1.7)};
  GradOptions o;
  o.wrt = {0, 1};
  for (int i = 0; i < 4; ++i) {  // from the second on, the cached plan runs
    Grads g = value_and_grad(f, x, o);
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(g.inputs[0].data<double>()[k], 1.7 * std::cos(1.7 * values[k]), 1e-15);
      sum += values[k] * std::cos(1.7 * values[k]);
    }
    EXPECT_NEAR(g.inputs[1].item(), sum, 1e-15);
  }
}

}  // namespace
}  // namespace mycel::runtime
