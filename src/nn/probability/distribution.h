// Distribution: a family with its parameters, for C++ programs and behind the Python classes.
//
//   Distribution d("Normal", {mean, sd});
//   Tensor loss = -mycel::ops::reduce_mean(d.log_prob(x));
//
// All results are differentiable in the value and in the parameters where the formula is; samples
// too where they are a function of the parameters and of noise (not those drawn by rejection).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nn/arith.h"
#include "nn/probability/family.h"

namespace mycel::nn::probability {

class Distribution {
 public:
  // Parameters in the family's order, of one float dtype; they broadcast with each other.
  // ValueError for values outside of a parameter's domain, where values are known.
  Distribution(std::string_view family, Tensors params);

  const Family& family() const { return *family_; }
  const Tensors& params() const { return params_; }
  // Dims of one draw: those of the parameters, for Categorical without the last.
  const Shape& batch_shape() const { return batch_shape_; }

  // "mean", "mode", "sd", "var", "entropy". NotImplementedError when the family has no formula.
  Tensor of(std::string_view quantity) const;
  // "prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival" at x.
  Tensor at(std::string_view quantity, const Tensor& x) const;
  Tensor mean() const { return of("mean"); }
  Tensor mode() const { return of("mode"); }
  Tensor sd() const { return of("sd"); }
  Tensor var() const { return of("var"); }
  Tensor entropy() const { return of("entropy"); }
  Tensor prob(const Tensor& x) const { return at("prob", x); }
  Tensor log_prob(const Tensor& x) const { return at("log_prob", x); }
  Tensor cdf(const Tensor& x) const { return at("cdf", x); }
  Tensor log_cdf(const Tensor& x) const { return at("log_cdf", x); }
  Tensor survival_function(const Tensor& x) const { return at("survival_function", x); }
  Tensor log_survival(const Tensor& x) const { return at("log_survival", x); }
  // Kullback-Leibler divergence of `other`, of the same family, from this; and entropy plus that.
  Tensor kl_loss(const Distribution& other) const;
  Tensor cross_entropy(const Distribution& other) const { return entropy() + kl_loss(other); }
  // Draws of shape + batch_shape. Each call takes the next key of runtime/random_state.h, with
  // `seed` mixed in.
  Tensor sample(const Shape& shape = {}, uint64_t seed = 0) const;

 private:
  [[noreturn]] void no_formula(std::string_view quantity) const;
  const Family* family_;
  Tensors params_;
  Shape batch_shape_;
};

}  // namespace mycel::nn::probability
