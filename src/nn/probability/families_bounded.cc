// Families on an interval.
#include "nn/probability/formulas.h"

namespace mycel::nn::probability {
namespace {

// The logarithm of the beta function.
Tensor log_beta(Params p) {
  return ops::lgamma(p[0]) + ops::lgamma(p[1]) - ops::lgamma(p[0] + p[1]);
}

constexpr Family kUniform = {
    .name = "Uniform",
    .doc = "Uniform distribution on [low, high], density 1 / (high - low).",
    .params = {{"low"}, {"high", Domain::kAbovePrevious}},
    .mean = [](Params p) { return (p[0] + p[1]) / 2.0; },
    .var = [](Params p) { return ops::square(p[1] - p[0]) / 12.0; },
    .entropy = [](Params p) { return ops::log(p[1] - p[0]); },
    .log_prob =
        [](const Tensor& x, Params p) {
          return choose(ops::logical_and(p[0] <= x, x <= p[1]), -ops::log(p[1] - p[0]), -kInf);
        },
    .cdf =
        [](const Tensor& x, Params p) {
          return ops::clip_by_value((x - p[0]) / (p[1] - p[0]), number(x, 0), number(x, 1));
        },
    .kl_loss =
        [](Params a, Params b) {
          return choose(ops::logical_and(b[0] <= a[0], a[1] <= b[1]),
                        ops::log(b[1] - b[0]) - ops::log(a[1] - a[0]), kInf);
        },
    .sample = [](const Shape& shape, Params p,
                 const Tensor& key) { return p[0] + (p[1] - p[0]) * draw_uniform(shape, p, key); },
};

constexpr Family kBeta = {
    .name = "Beta",
    .doc =
        "Beta distribution on (0, 1), density x^(a - 1) (1 - x)^(b - 1) / B(a, b), "
        "a = concentration1, b = concentration0.",
    .params = {{"concentration1", Domain::kPositive}, {"concentration0", Domain::kPositive}},
    .mean = [](Params p) { return p[0] / (p[0] + p[1]); },
    .mode =
        [](Params p) {
          return choose(ops::logical_and(p[0] > 1.0, p[1] > 1.0),
                        (p[0] - 1.0) / (p[0] + p[1] - 2.0), kNaN);
        },
    .var =
        [](Params p) {
          Tensor sum = p[0] + p[1];
          return p[0] * p[1] / (ops::square(sum) * (sum + 1.0));
        },
    .entropy =
        [](Params p) {
          Tensor sum = p[0] + p[1];
          return log_beta(p) - (p[0] - 1.0) * ops::digamma(p[0]) -
                 (p[1] - 1.0) * ops::digamma(p[1]) + (sum - 2.0) * ops::digamma(sum);
        },
    .log_prob =
        [](const Tensor& x, Params p) {
          return ops::xlogy(p[0] - 1.0, x) + ops::xlogy(p[1] - 1.0, 1.0 - x) - log_beta(p);
        },
    .cdf = [](const Tensor& x, Params p) { return run_op("betainc", {p[0], p[1], x}); },
    .kl_loss =
        [](Params a, Params b) {
          Tensor sum_a = a[0] + a[1], sum_b = b[0] + b[1];
          return log_beta(b) - log_beta(a) + (a[0] - b[0]) * ops::digamma(a[0]) +
                 (a[1] - b[1]) * ops::digamma(a[1]) + (sum_b - sum_a) * ops::digamma(sum_a);
        },
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          std::vector<int64_t> dims(shape.begin(), shape.end());
          Tensors rows{ops::broadcast_to(p[0], dims), ops::broadcast_to(p[1], dims)};
          Tensor c = ops::stack(rows, 0);
          Tensor g = run_op("keyed_gamma", {key, c});
          Tensor a = ops::squeeze(ops::narrow(g, 0, 0, 1), int64_t{0});
          return a / ops::reduce_sum(g, int64_t{0});
        },
};

}  // namespace

Families bounded_families() { return {&kUniform, &kBeta}; }

}  // namespace mycel::nn::probability
