// vmap against closed forms of single examples, composed with derivatives, through branches and
// loops that examples leave at different times; eager and compiled.
#include "runtime/vmap.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/control.h"
#include "runtime/jit.h"
#include "runtime/op_calls.h"
#include "runtime/random_state.h"

namespace mycel::runtime {
namespace {

using op_calls::run1;

Tensor f64(double v) { return Tensor::scalar(DType::kFloat64, v); }
Tensor vec(const std::vector<double>& v) {
  return Tensor::from(v, Shape{static_cast<int64_t>(v.size())});
}
Tensor mul(const Tensor& a, const Tensor& b) { return run1("mul", {a, b}); }
Tensor add(const Tensor& a, const Tensor& b) { return run1("add", {a, b}); }
Tensor sum(const Tensor& a) { return run1("reduce_sum", {a}); }

using Scalar = std::function<Tensor(const Tensor&)>;

Fn as_fn(const Scalar& f) {
  return [f](std::span<const Tensor> x) { return Tensors{f(x[0])}; };
}
Scalar gradient(const Scalar& f) {
  return [f](const Tensor& x) { return value_and_grad(as_fn(f), {&x, 1}).inputs[0]; };
}
Scalar forward(const Scalar& f) {
  return [f](const Tensor& x) {
    Tensor one = run1("ones_like", {x});
    return jvp(as_fn(f), {&x, 1}, {&one, 1}).tangents[0];
  };
}
Scalar mapped(const Scalar& f) {
  return [f](const Tensor& x) { return vmap(as_fn(f), {&x, 1})[0]; };
}
Scalar compiled(const Scalar& f) {
  return [f](const Tensor& x) { return Jit(as_fn(f), "whole")({&x, 1})[0]; };
}
Scalar total(const Scalar& f) {
  return [f](const Tensor& x) { return sum(f(x)); };
}

using Closed = std::vector<std::function<double(double)>>;  // the function, its derivatives

void expect_all(const char* what, const Scalar& f, const std::vector<double>& at,
                const std::function<double(double)>& closed) {
  for (bool whole : {false, true}) {
    Tensor y = (whole ? compiled(f) : f)(vec(at));
    ASSERT_EQ(y.shape(), (Shape{static_cast<int64_t>(at.size())})) << what;
    for (size_t i = 0; i < at.size(); ++i) {
      double want = closed(at[i]);
      EXPECT_NEAR(y.data<double>()[i], want, 1e-10 * std::max(1.0, std::abs(want)))
          << what << (whole ? " compiled" : " eager") << " at " << at[i];
    }
  }
}

void expect_compositions(const Scalar& f, const std::vector<double>& at, const Closed& closed) {
  expect_all("vmap", mapped(f), at, closed[0]);
  expect_all("vmap(grad)", mapped(gradient(f)), at, closed[1]);
  expect_all("grad(vmap)", gradient(total(mapped(f))), at, closed[1]);
  expect_all("vmap(jvp)", mapped(forward(f)), at, closed[1]);
  expect_all("jvp(vmap)", forward(mapped(f)), at, closed[1]);
  expect_all("vmap(grad(grad))", mapped(gradient(gradient(f))), at, closed[2]);
  expect_all("grad(grad(vmap))", gradient(total(gradient(total(mapped(f))))), at, closed[2]);
  expect_all("grad(vmap(grad))", gradient(total(mapped(gradient(f)))), at, closed[2]);
  expect_all("vmap(jvp(grad))", mapped(forward(gradient(f))), at, closed[2]);
  expect_all("jvp(vmap(grad))", forward(mapped(gradient(f))), at, closed[2]);
}

TEST(Vmap, StraightCode) {
  expect_compositions(
      [](const Tensor& x) { return mul(x, run1("exp", {x})); }, {-1, 0.3, 2},
      {[](double x) { return x * std::exp(x); }, [](double x) { return (x + 1) * std::exp(x); },
       [](double x) { return (x + 2) * std::exp(x); }});
}

TEST(Vmap, BranchesThatExamplesTakeDifferently) {
  Scalar f = [](const Tensor& x) {
    Fn root = [](std::span<const Tensor> v) { return Tensors{run1("sqrt", {v[0]})}; };
    Fn cube = [](std::span<const Tensor> v) { return Tensors{mul(v[0], mul(v[0], v[0]))}; };
    return cond(run1("greater", {x, f64(0)}), root, cube, {&x, 1})[0];
  };
  // At 0 and below the square root has no finite derivative: nothing of it may leak.
  expect_compositions(f, {4, -2, 0.25, 0},
                      {[](double x) { return x > 0 ? std::sqrt(x) : x * x * x; },
                       [](double x) { return x > 0 ? 0.5 / std::sqrt(x) : 3 * x * x; },
                       [](double x) { return x > 0 ? -0.25 * std::pow(x, -1.5) : 6 * x; }});
}

// x, squared until it is at least 100: x to the power n.
double power_of(double x) {
  double n = 1;
  while (std::pow(x, n) < 100) n *= 2;
  return n;
}

Scalar squaring() {
  return [](const Tensor& x) {
    return while_loop(
        [](std::span<const Tensor> s) { return Tensors{run1("less", {s[0], f64(100)})}; },
        [](std::span<const Tensor> s) { return Tensors{mul(s[0], s[0])}; }, {&x, 1})[0];
  };
}
Closed squared() {
  return {[](double x) { return std::pow(x, power_of(x)); },
          [](double x) { return power_of(x) * std::pow(x, power_of(x) - 1); },
          [](double x) {
            double n = power_of(x);
            return n * (n - 1) * std::pow(x, n - 2);
          }};
}

TEST(Vmap, LoopsThatExamplesLeaveAtDifferentTimes) {
  expect_compositions(squaring(), {1.5, 200, 3, 1.1}, squared());
}

TEST(Vmap, AnExampleThatIsDoneIsNotComputedOn) {
  // y = sqrt(y - 1) while y > 1: after the last iteration the body has no real value.
  Scalar f = [](const Tensor& x) {
    return while_loop(
        [](std::span<const Tensor> s) { return Tensors{run1("greater", {s[0], f64(1)})}; },
        [](std::span<const Tensor> s) {
          return Tensors{run1("sqrt", {run1("sub", {s[0], f64(1)})})};
        },
        {&x, 1})[0];
  };
  auto run = [](double x, int order) {
    double y = x, d = 1, dd = 0;
    while (y > 1) {
      double r = std::sqrt(y - 1), slope = 0.5 / r, bend = -0.25 / (r * r * r);
      dd = bend * d * d + slope * dd;
      d *= slope;
      y = r;
    }
    return order == 0 ? y : order == 1 ? d : dd;
  };
  expect_compositions(f, {0.5, 1.7, 9, 4.5},
                      {[=](double x) { return run(x, 0); }, [=](double x) { return run(x, 1); },
                       [=](double x) { return run(x, 2); }});
}

TEST(Vmap, ALoopInsideABranchAndABranchInsideALoop) {
  Scalar loop = squaring();
  Scalar f = [loop](const Tensor& x) {
    Fn then = [loop](std::span<const Tensor> v) { return Tensors{loop(v[0])}; };
    Fn otherwise = [](std::span<const Tensor> v) { return Tensors{run1("sin", {v[0]})}; };
    return cond(run1("greater", {x, f64(1)}), then, otherwise, {&x, 1})[0];
  };
  Closed in = squared();
  expect_compositions(f, {0.5, 1.5, -3, 4},
                      {[=](double x) { return x > 1 ? in[0](x) : std::sin(x); },
                       [=](double x) { return x > 1 ? in[1](x) : std::cos(x); },
                       [=](double x) { return x > 1 ? in[2](x) : -std::sin(x); }});
  // Five times: halved where above 1, else squared.
  Scalar g = [](const Tensor& x) {
    auto step = [](const Tensor&, std::span<const Tensor> s) {
      Fn half = [](std::span<const Tensor> v) { return Tensors{mul(v[0], f64(0.5))}; };
      Fn square = [](std::span<const Tensor> v) { return Tensors{mul(v[0], v[0])}; };
      return cond(run1("greater", {s[0], f64(1)}), half, square, s);
    };
    return fori_loop(0, 5, step, {&x, 1})[0];
  };
  auto run = [](double x, int order) {
    double y = x, d = 1, dd = 0;
    for (int i = 0; i < 5; ++i) {
      double slope = y > 1 ? 0.5 : 2 * y, bend = y > 1 ? 0 : 2;
      dd = bend * d * d + slope * dd;
      d *= slope;
      y = y > 1 ? 0.5 * y : y * y;
    }
    return order == 0 ? y : order == 1 ? d : dd;
  };
  expect_compositions(g, {0.9, 1.5, 7, 40},
                      {[=](double x) { return run(x, 0); }, [=](double x) { return run(x, 1); },
                       [=](double x) { return run(x, 2); }});
}

TEST(Vmap, NestsAndPlacesAxes) {
  // outer[i, j] = a[i] + 10 b[j], with the examples of b first.
  Tensor a = vec({1, 2, 3}), b = vec({4, 5});
  Fn pair = [](std::span<const Tensor> x) { return Tensors{add(x[0], mul(x[1], f64(10)))}; };
  Fn inner = [&](std::span<const Tensor> x) { return vmap(pair, x, {{0, std::nullopt}, {0}}); };
  Tensors in{a, b};
  Tensor y = vmap(inner, in, {{std::nullopt, 0}, {0}})[0];
  ASSERT_EQ(y.shape(), (Shape{2, 3}));
  Tensor z = vmap(inner, in, {{std::nullopt, 0}, {-1}})[0];
  ASSERT_EQ(z.shape(), (Shape{3, 2}));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      double want = a.data<double>()[i] + 10 * b.data<double>()[j];
      EXPECT_EQ(y.data<double>()[j * 3 + i], want);
      EXPECT_EQ(z.data<double>()[i * 2 + j], want);
    }
  }
}

TEST(Vmap, NestedOverLoops) {
  Scalar f = squaring();
  Tensor x = Tensor::from(std::vector<double>{1.5, 200, 3, 1.1, 30, 2}, Shape{2, 3});
  Closed closed = squared();
  std::vector<std::pair<Scalar, std::function<double(double)>>> all{
      {mapped(mapped(f)), closed[0]},
      {mapped(mapped(gradient(f))), closed[1]},
      {mapped(gradient(total(mapped(f)))), closed[1]},
      {gradient(total(mapped(mapped(f)))), closed[1]},
      {gradient(total(mapped(mapped(gradient(f))))), closed[2]}};
  for (size_t k = 0; k < all.size(); ++k) {
    for (bool whole : {false, true}) {
      Tensor y = (whole ? compiled(all[k].first) : all[k].first)(x);
      ASSERT_EQ(y.shape(), x.shape());
      for (int i = 0; i < 6; ++i) {
        double want = all[k].second(x.data<double>()[i]);
        EXPECT_NEAR(y.data<double>()[i], want, 1e-10 * std::abs(want)) << k << " " << whole;
      }
    }
  }
}

TEST(Vmap, SharedResultsStayShared) {
  Tensors in{vec({1, 2, 3}), f64(5)};
  Fn f = [](std::span<const Tensor> x) { return Tensors{mul(x[0], x[1]), mul(x[1], x[1])}; };
  Tensors y = vmap(f, in, {{0, std::nullopt}, {0, std::nullopt}});
  EXPECT_EQ(y[1].shape(), Shape{});
  EXPECT_EQ(y[1].item(), 25);
  Tensors z = vmap(f, in, {{0, std::nullopt}, {0}});
  EXPECT_EQ(z[1].shape(), (Shape{3}));
}

TEST(Vmap, DrawsAreSharedUnlessAskedFor) {
  Fn f = [](std::span<const Tensor> x) {
    return Tensors{
        add(x[0], run1("keyed_uniform", {next_key()}, {ir::Attr(Shape{}), DType::kFloat64}))};
  };
  Tensor x = vec(std::vector<double>(50, 0.0));
  auto draws = [&](bool separate) {
    VmapOptions o;
    o.separate_draws = separate;
    Tensor y = vmap(f, {&x, 1}, o)[0];
    std::vector<double> all = op_calls::reals(y);
    return std::set<double>(all.begin(), all.end()).size();
  };
  EXPECT_EQ(draws(false), 1);
  EXPECT_GT(draws(true), 45);
}

void expect_refused(const Fn& f, const Tensors& in, const VmapOptions& o, const char* text) {
  try {
    vmap(f, in, o);
    FAIL() << "no error: " << text;
  } catch (const UserError& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kRuntime);
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

TEST(Vmap, RefusesWhatDoesNotFit) {
  Fn first = [](std::span<const Tensor> x) { return Tensors{x[0]}; };
  Tensor x = vec({1, 2, 3}), y = vec({1, 2});
  expect_refused(first, {x, y}, {}, "argument 1 has 2 examples along its axis 0, others have 3");
  expect_refused(first, {x}, {{1}, {0}}, "axis 1 of argument 0 is out of range; it has 1 dims");
  expect_refused(first, {x}, {{std::nullopt}, {0}}, "no argument is mapped");
  expect_refused(first, {x}, {{0}, {std::nullopt}}, "differs between examples");
  expect_refused(first, {x}, {{0}, {2}}, "axis 2 of result 0 is out of range");
  expect_refused(first, {x}, {{0, 0}, {0}}, "2 axes given for 1 arguments");
}

}  // namespace
}  // namespace mycel::runtime
