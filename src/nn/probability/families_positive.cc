// Families on the positive half-line.
#include "nn/probability/formulas.h"

namespace mycel::nn::probability {
namespace {

// The formula at x inside the support, `outside` beyond it. Inside, x is never taken from outside,
// so that gradients stay finite.
template <typename F>
Tensor inside(const Tensor& in, const Tensor& x, double safe, double outside, F formula) {
  return choose(in, formula(choose(in, x, safe)), outside);
}

constexpr Family kExponential = {
    .name = "Exponential",
    .doc = "Exponential distribution on x >= 0, density rate exp(-rate x).",
    .params = {{"rate", Domain::kPositive}},
    .mean = [](Params p) { return 1.0 / p[0]; },
    .mode = [](Params p) { return ops::zeros_like(p[0]); },
    .sd = [](Params p) { return 1.0 / p[0]; },
    .entropy = [](Params p) { return 1.0 - ops::log(p[0]); },
    .log_prob =
        [](const Tensor& x, Params p) {
          Tensor y = ops::log(p[0]) - p[0] * x;
          return choose(ops::zeros_like(y) <= x, y, -kInf);
        },
    .cdf = [](const Tensor& x,
              Params p) { return -ops::expm1(-p[0] * ops::maximum(x, number(x, 0))); },
    .log_survival = [](const Tensor& x, Params p) { return -p[0] * ops::maximum(x, number(x, 0)); },
    .kl_loss = [](Params a,
                  Params b) { return b[0] / a[0] + ops::log(a[0]) - ops::log(b[0]) - 1.0; },
    .sample = [](const Shape& shape, Params p,
                 const Tensor& key) { return draw("keyed_exponential", shape, p, key) / p[0]; },
};

constexpr Family kGamma = {
    .name = "Gamma",
    .doc =
        "Gamma distribution on x > 0, density rate^c x^(c - 1) exp(-rate x) / gamma(c), "
        "c = concentration.",
    .params = {{"concentration", Domain::kPositive}, {"rate", Domain::kPositive}},
    .mean = [](Params p) { return p[0] / p[1]; },
    .mode = [](Params p) { return choose(p[0] > 1.0, (p[0] - 1.0) / p[1], kNaN); },
    .var = [](Params p) { return p[0] / ops::square(p[1]); },
    .entropy =
        [](Params p) {
          return p[0] - ops::log(p[1]) + ops::lgamma(p[0]) + (1.0 - p[0]) * ops::digamma(p[0]);
        },
    .log_prob =
        [](const Tensor& x, Params p) {
          return p[0] * ops::log(p[1]) + ops::xlogy(p[0] - 1.0, x) - p[1] * x - ops::lgamma(p[0]);
        },
    .cdf = [](const Tensor& x, Params p) { return ops::igamma(p[0], p[1] * x); },
    .survival_function = [](const Tensor& x, Params p) { return ops::igammac(p[0], p[1] * x); },
    .kl_loss =
        [](Params a, Params b) {
          return (a[0] - b[0]) * ops::digamma(a[0]) + ops::lgamma(b[0]) - ops::lgamma(a[0]) +
                 b[0] * (ops::log(a[1]) - ops::log(b[1])) + a[0] * (b[1] / a[1] - 1.0);
        },
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          Tensor c = ops::broadcast_to(p[0], {shape.begin(), shape.end()});
          return run_op("keyed_gamma", {key, c}) / p[1];
        },
};

constexpr Family kHalfNormal = {
    .name = "HalfNormal",
    .doc =
        "Half-normal distribution on x >= 0, density sqrt(2 / pi) exp(-z^2 / 2) / sd, "
        "z = (x - mean) / sd, as published: it sums to 1 for mean 0 only.",
    .params = {{"mean"}, {"sd", Domain::kPositive}},
    .log_prob =
        [](const Tensor& x, Params p) {
          Tensor y = 0.5 * std::log(2 / kPi) - ops::log(p[1]) - 0.5 * ops::square(standard(x, p));
          return choose(ops::zeros_like(y) <= x, y, -kInf);
        },
    .sample = [](const Shape& shape, Params p,
                 const Tensor& key) { return p[0] + p[1] * ops::abs(draw_normal(shape, p, key)); },
};

Tensor log_standard(const Tensor& x, Params p) { return (ops::log(x) - p[0]) / p[1]; }

constexpr Family kLogNormal = {
    .name = "LogNormal",
    .doc =
        "Log-normal distribution on x > 0: the logarithm is normal with mean loc and deviation "
        "scale.",
    .params = {{"loc"}, {"scale", Domain::kPositive}},
    .mean = [](Params p) { return ops::exp(p[0] + 0.5 * ops::square(p[1])); },
    .mode = [](Params p) { return ops::exp(p[0] - ops::square(p[1])); },
    .var =
        [](Params p) {
          Tensor v = ops::square(p[1]);
          return ops::expm1(v) * ops::exp(2.0 * p[0] + v);
        },
    .entropy = [](Params p) { return p[0] + ops::log(p[1]) + 0.5 * (1 + std::log(2 * kPi)); },
    .log_prob =
        [](const Tensor& x, Params p) {
          return inside(ops::zeros_like(p[0]) < x, x, 1, -kInf, [&](const Tensor& y) {
            return -0.5 * ops::square(log_standard(y, p)) - ops::log(p[1]) - ops::log(y) -
                   0.5 * std::log(2 * kPi);
          });
        },
    .cdf =
        [](const Tensor& x, Params p) {
          return inside(ops::zeros_like(p[0]) < x, x, 1, 0, [&](const Tensor& y) {
            return 0.5 * ops::erfc(log_standard(y, p) * (-std::numbers::sqrt2 / 2));
          });
        },
    .survival_function =
        [](const Tensor& x, Params p) {
          return inside(ops::zeros_like(p[0]) < x, x, 1, 1, [&](const Tensor& y) {
            return 0.5 * ops::erfc(log_standard(y, p) * (std::numbers::sqrt2 / 2));
          });
        },
    .kl_loss = [](Params a, Params b) { return family("Normal").kl_loss(a, b); },
    .sample = [](const Shape& shape, Params p,
                 const Tensor& key) { return ops::exp(p[0] + p[1] * draw_normal(shape, p, key)); },
};

}  // namespace

Families positive_families() { return {&kExponential, &kGamma, &kHalfNormal, &kLogNormal}; }

}  // namespace mycel::nn::probability
