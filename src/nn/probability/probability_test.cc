// Distributions and bijectors from C++: closed forms, gradients, and what is refused.
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "mycel/ops.h"
#include "nn/probability/bijector.h"
#include "nn/probability/distribution.h"
#include "runtime/random_state.h"
#include "runtime/transforms.h"

namespace mycel::nn::probability {
namespace {

Tensor real(std::vector<double> v) {
  int64_t n = static_cast<int64_t>(v.size());
  return Tensor::from(v, Shape{n});
}
Tensor real(double v) { return Tensor::scalar(DType::kFloat64, v); }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.message();
  }
  return "";
}

TEST(Probability, NormalInClosedForm) {
  Distribution d("Normal", {real(1), real(2)});
  double z = (2.5 - 1) / 2, density = std::exp(-z * z / 2) / (2 * std::sqrt(2 * M_PI));
  EXPECT_NEAR(d.prob(real(2.5)).item(), density, 1e-9);
  EXPECT_NEAR(d.cdf(real(2.5)).item(), 0.5 * std::erfc(-z / std::sqrt(2)), 1e-7);
  EXPECT_NEAR(d.log_survival(real(2.5)).item(), std::log(0.5 * std::erfc(z / std::sqrt(2))), 1e-6);
  EXPECT_DOUBLE_EQ(d.var().item(), 4);
  Distribution other("Normal", {real(1), real(1)});
  EXPECT_NEAR(d.kl_loss(other).item(), 1.5 - std::log(2.0), 1e-9);
  EXPECT_NEAR(d.cross_entropy(other).item(), d.entropy().item() + 1.5 - std::log(2.0), 1e-9);
}

TEST(Probability, GradientsReachTheParameters) {
  runtime::Fn f = [](std::span<const Tensor> x) {
    return Tensors{ops::reduce_sum(Distribution("Exponential", {x[1]}).log_prob(x[0]))};
  };
  runtime::GradOptions both;
  both.wrt = {0, 1};
  std::vector<Tensor> args{real({0.5, 2.0}), real(4)};
  Tensors g = runtime::value_and_grad(f, args, both).inputs;
  EXPECT_NEAR(g[0].data<double>()[1], -4, 1e-9);
  EXPECT_NEAR(g[1].item(), 2.0 / 4 - 2.5, 1e-9);  // sum of 1 / rate - x
}

TEST(Probability, SamplesFollowTheSeed) {
  Distribution d("Gamma", {real({1, 2}), real(3)});
  runtime::set_seed(5);
  Tensor a = d.sample({4}), b = d.sample({4});
  runtime::set_seed(5);
  Tensor again = d.sample({4}), other = d.sample({4}, 1);
  EXPECT_EQ(a.shape(), Shape({4, 2}));
  EXPECT_EQ(a.str(), again.str());
  EXPECT_NE(a.str(), b.str());
  EXPECT_NE(b.str(), other.str());
}

TEST(Probability, BijectorsInvert) {
  Tensor x = real({-0.5, 0.25, 1.5});
  for (const BijectorDef* b : all_bijectors()) {
    Tensors p;
    for (size_t i = 0; i < b->arity(); ++i) p.push_back(real(b->defaults[i] + 0.5));
    Tensor y = b->forward(x, p), back = b->inverse(y, p);
    Tensor both = ops::add(b->forward_log_jacobian(x, p), b->inverse_log_jacobian(y, p));
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(back.data<double>()[i], x.data<double>()[i], 1e-9);
    for (double v : both.data<double>()) EXPECT_NEAR(v, 0, 1e-8) << b->name;
  }
}

TEST(Probability, WhatIsRefused) {
  EXPECT_EQ(error_of([] { Distribution("Norml", {real(0), real(1)}); }),
            "there is no distribution 'Norml'; did you mean 'Normal'?");
  EXPECT_EQ(error_of([] { Distribution("Normal", {real(0)}); }),
            "Normal: 2 parameters are needed, got 1");
  EXPECT_EQ(error_of([] { Distribution("Normal", {real(0), real(0)}); }),
            "Normal: 'sd' must be above 0, got 0");
  EXPECT_EQ(error_of([] { Distribution("Uniform", {real(2), real(1)}); }),
            "Uniform: 'low' must be below 'high', got 2 and 1");
  EXPECT_EQ(error_of([] { Distribution("Cauchy", {real(0), real(1)}).mean(); }),
            "Cauchy: mean is undefined for this distribution");
  EXPECT_EQ(error_of([] { Distribution("Poisson", {real(2)}).entropy(); }),
            "Poisson: there is no formula for entropy");
}

}  // namespace
}  // namespace mycel::nn::probability
