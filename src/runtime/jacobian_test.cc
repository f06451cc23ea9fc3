// Jacobians, Hessians and Taylor series of host functions against closed forms.
#include "runtime/jacobian.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/jit.h"
#include "runtime/op_calls.h"

namespace mycel::runtime {
namespace {

using op_calls::reals;
using op_calls::run1;
using Reals = std::vector<double>;

Tensor mul(const Tensor& a, const Tensor& b) { return run1("mul", {a, b}); }
Tensor vec(const Reals& v) { return op_calls::of(v); }

// (a b b, a + b), elementwise.
Tensors pair(std::span<const Tensor> x) {
  return {mul(x[0], mul(x[1], x[1])), run1("add", {x[0], x[1]})};
}

TEST(Jacobian, ForwardAndReverseGiveTheSameBlocks) {
  Tensors in{vec({2, 3}), vec({5, 7})};
  for (auto way : {jacfwd, jacrev}) {
    Jacobian j = way(pair, in, {{0, 1}, false});
    ASSERT_EQ(j.blocks.size(), 2u);
    EXPECT_EQ(j.blocks[0][0].shape(), (Shape{2, 2}));
    EXPECT_EQ(reals(j.blocks[0][0]), (Reals{25, 0, 0, 49}));
    EXPECT_EQ(reals(j.blocks[0][1]), (Reals{20, 0, 0, 42}));
    EXPECT_EQ(reals(j.blocks[1][0]), (Reals{1, 0, 0, 1}));
    EXPECT_EQ(reals(j.values[0]), (Reals{50, 147}));
    EXPECT_EQ(way(pair, in, {{1}, true}).blocks.size(), 1u);
    Jit compiled([&](std::span<const Tensor> x) { return way(pair, x, {{1}, false}).blocks[0]; });
    EXPECT_EQ(reals(compiled(in)[0]), (Reals{20, 0, 0, 42}));
  }
}

TEST(Jacobian, HessianOfSeveralArguments) {
  Tensors in{vec({2, 3}), vec({5, 7})};
  Fn cost = [](std::span<const Tensor> x) { return Tensors{run1("reduce_sum", {pair(x)[0]})}; };
  Jacobian h = hessian(cost, in, {{0, 1}, false});
  EXPECT_EQ(reals(h.blocks[0][0]), (Reals{0, 0, 0, 0}));
  EXPECT_EQ(reals(h.blocks[0][1]), (Reals{10, 0, 0, 14}));
  EXPECT_EQ(reals(h.blocks[1][0]), (Reals{10, 0, 0, 14}));
  EXPECT_EQ(reals(h.blocks[1][1]), (Reals{4, 0, 0, 6}));
  EXPECT_EQ(h.values[0].item(), 197);
}

TEST(Jacobian, RefusesAnArgumentThatIsNotThere) {
  Tensors in{vec({2, 3}), vec({5, 7})};
  try {
    jacfwd(pair, in, {{2}, false});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), "jacfwd: argument 2 is to be differentiated, 2 are given");
  }
}

TEST(Jet, SeriesOfAProductAndOfAFunction) {
  // Derivatives of e^(2t + t^2) at 0: y' = (2 + 2t) y.
  Fn f = [](std::span<const Tensor> x) { return Tensors{run1("exp", {x[0]})}; };
  Tensor x = vec({0});
  std::vector<Tensors> series{{vec({2}), vec({2}), vec({0})}};
  Jet j = jet(f, {&x, 1}, series);
  EXPECT_NEAR(j.series[0][0].item(), 2, 1e-14);
  EXPECT_NEAR(j.series[0][1].item(), 6, 1e-14);
  EXPECT_NEAR(j.series[0][2].item(), 20, 1e-13);
}

TEST(Linearize, PushesManyDirections) {
  Tensors in{vec({2, 3}), vec({5, 7})};
  Linear l = linearize(pair, in);
  Tensors d{vec({1, 0}), vec({0, 1})};
  EXPECT_EQ(reals(l.push(d)[0]), (Reals{25, 42}));
  Tensors e{vec({0, 2}), vec({0, 0})};
  EXPECT_EQ(reals(l.push(e)[0]), (Reals{0, 98}));
}

}  // namespace
}  // namespace mycel::runtime
