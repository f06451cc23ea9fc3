// Families on whole numbers. Probabilities at other numbers are those of the formula, cdfs those of
// the whole number below.
#include "nn/probability/formulas.h"

namespace mycel::nn::probability {
namespace {

Tensor same(Params p) { return p[0]; }

// Terms of binary entropy, 0 where a probability is 0.
Tensor binary_entropy(const Tensor& p) { return -ops::xlogy(p, p) - ops::xlogy(1.0 - p, 1.0 - p); }

constexpr Family kBernoulli = {
    .name = "Bernoulli",
    .doc = "Bernoulli distribution: 1 with probability probs, else 0.",
    .params = {{"probs", Domain::kProbability}},
    .discrete = true,
    .dtype = DType::kInt32,
    .mean = same,
    .mode = [](Params p) { return ops::cast(p[0] > 0.5, p[0].dtype()); },
    .var = [](Params p) { return p[0] * (1.0 - p[0]); },
    .entropy = [](Params p) { return binary_entropy(p[0]); },
    .log_prob = [](const Tensor& x,
                   Params p) { return x * ops::log(p[0]) + (1.0 - x) * ops::log1p(-p[0]); },
    .cdf =
        [](const Tensor& x, Params p) {
          Tensor zero = ops::zeros_like(p[0]);
          return choose(zero > x, 0, choose(zero + 1.0 > x, 1.0 - p[0], 1));
        },
    .kl_loss =
        [](Params a, Params b) {
          return a[0] * ops::log(a[0] / b[0]) +
                 (1.0 - a[0]) * (ops::log1p(-a[0]) - ops::log1p(-b[0]));
        },
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          return ops::cast(draw_uniform(shape, p, key) < p[0], DType::kInt32);
        },
};

constexpr Family kGeometric = {
    .name = "Geometric",
    .doc =
        "Geometric distribution: the number of failures before the first success, "
        "(1 - probs)^k probs.",
    .params = {{"probs", Domain::kProbability}},
    .discrete = true,
    .dtype = DType::kInt32,
    .mean = [](Params p) { return (1.0 - p[0]) / p[0]; },
    .mode = [](Params p) { return ops::zeros_like(p[0]); },
    .var = [](Params p) { return (1.0 - p[0]) / ops::square(p[0]); },
    .entropy = [](Params p) { return binary_entropy(p[0]) / p[0]; },
    .log_prob =
        [](const Tensor& x, Params p) {
          Tensor y = ops::floor(x) * ops::log1p(-p[0]) + ops::log(p[0]);
          return choose(ops::zeros_like(y) <= x, y, -kInf);
        },
    .log_survival =
        [](const Tensor& x, Params p) {
          Tensor k = ops::maximum(ops::floor(x) + 1.0, number(x, 0));
          return k * ops::log1p(-p[0]);
        },
    .kl_loss =
        [](Params a, Params b) {
          return ops::log(a[0] / b[0]) +
                 (1.0 - a[0]) / a[0] * (ops::log1p(-a[0]) - ops::log1p(-b[0]));
        },
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          return ops::floor(ops::log(draw_open_uniform(shape, p, key)) / ops::log1p(-p[0]));
        },
};

constexpr Family kPoisson = {
    .name = "Poisson",
    .doc = "Poisson distribution: rate^k exp(-rate) / k!.",
    .params = {{"rate", Domain::kPositive}},
    .mean = same,
    .mode = [](Params p) { return ops::floor(p[0]); },
    .var = same,
    .log_prob =
        [](const Tensor& x, Params p) {
          Tensor k = ops::maximum(x, number(x, 0));
          Tensor y = k * ops::log(p[0]) - ops::lgamma(k + 1.0) - p[0];
          return choose(ops::zeros_like(y) <= x, y, -kInf);
        },
    .cdf =
        [](const Tensor& x, Params p) {
          Tensor k = ops::floor(ops::maximum(x, number(x, 0)));
          Tensor y = ops::igammac(k + 1.0, p[0]);
          return choose(ops::zeros_like(y) <= x, y, 0);
        },
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          Tensor rate = ops::broadcast_to(p[0], {shape.begin(), shape.end()});
          return run_op("keyed_poisson", {key, rate});
        },
};

double count(const Tensor& p) { return static_cast<double>(p.dim(p.rank() - 1)); }
// 0, 1, … over the last dim of p, in its dtype.
Tensor counts(const Tensor& p) { return ops::arange(0.0, count(p), 1.0, p.dtype()); }
Tensor last_sum(const Tensor& t) { return ops::reduce_sum(t, -1); }

// Of table [..., n] the entries at floor(x), whose dims broadcast with the leading ones.
Tensor entries(const Tensor& table, const Tensor& x) {
  Tensor n = counts(table), at = ops::expand_dims(ops::floor(x), -1);
  // A select by comparison, not a gather: it broadcasts both ways and has all its gradients.
  return last_sum(choose(ops::equal(at, n), table, 0));
}

constexpr Family kCategorical = {
    .name = "Categorical",
    .doc =
        "Categorical distribution over 0, …, n - 1 with probabilities along the last dim of "
        "probs; elsewhere prob is NaN.",
    .params = {{"probs", Domain::kProbabilities}},
    .discrete = true,
    .dtype = DType::kInt32,
    .category = true,
    .mean = [](Params p) { return last_sum(counts(p[0]) * p[0]); },
    .mode = [](Params p) { return ops::cast(ops::argmax(p[0], -1), p[0].dtype()); },
    .var =
        [](Params p) {
          Tensor k = counts(p[0]);
          return last_sum(ops::square(k - ops::reduce_sum(k * p[0], -1, true)) * p[0]);
        },
    .entropy = [](Params p) { return -last_sum(ops::xlogy(p[0], p[0])); },
    .log_prob =
        [](const Tensor& x, Params p) {
          Tensor y = entries(ops::log(p[0]), x), n = number(x, count(p[0]));
          Tensor zero = ops::zeros_like(y);
          return choose(ops::logical_and(zero <= x, x < n), y, kNaN);
        },
    .cdf =
        [](const Tensor& x, Params p) {
          Tensor at = ops::expand_dims(x, -1);
          return last_sum(choose(counts(p[0]) <= at, p[0], 0));
        },
    .kl_loss = [](Params a,
                  Params b) { return last_sum(ops::xlogy(a[0], a[0]) - ops::xlogy(a[0], b[0])); },
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          std::vector<int64_t> dims(shape.begin(), shape.end());
          Tensor u = ops::expand_dims(draw_uniform(shape, p, key), -1);
          // How many of the running sums lie at or below u; rounding never passes the last place.
          Tensor sums = ops::cumsum(p[0], -1);
          Tensor below = last_sum(ops::cast(sums <= u, DType::kInt32));
          return ops::minimum(below, number(below, count(p[0]) - 1));
        },
};

}  // namespace

Families discrete_families() { return {&kBernoulli, &kGeometric, &kPoisson, &kCategorical}; }

}  // namespace mycel::nn::probability
