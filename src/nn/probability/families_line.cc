// Families on the whole line, each with a location and a scale.
#include "nn/probability/formulas.h"

namespace mycel::nn::probability {
namespace {

Tensor location(Params p) { return p[0]; }

Tensor log_square_distance(const Tensor& a, const Tensor& b) {
  return ops::square(a) + ops::square(b);
}

constexpr Family kNormal = {
    .name = "Normal",
    .doc = "Normal distribution, density exp(-(x - mean)^2 / (2 sd^2)) / (sd sqrt(2 pi)).",
    .params = {{"mean"}, {"sd", Domain::kPositive}},
    .mean = location,
    .mode = location,
    .sd = [](Params p) { return p[1]; },
    .entropy = [](Params p) { return ops::log(p[1]) + 0.5 * std::log(2 * kPi * std::numbers::e); },
    .log_prob =
        [](const Tensor& x, Params p) {
          return -0.5 * ops::square(standard(x, p)) - ops::log(p[1]) - 0.5 * std::log(2 * kPi);
        },
    .cdf = [](const Tensor& x,
              Params p) { return 0.5 * ops::erfc(standard(x, p) * -std::numbers::sqrt2 / 2); },
    .survival_function =
        [](const Tensor& x, Params p) {
          return 0.5 * ops::erfc(standard(x, p) * (std::numbers::sqrt2 / 2));
        },
    .kl_loss =
        [](Params a, Params b) {
          Tensor ratio = ops::log(a[1]) - ops::log(b[1]);
          return 0.5 * ops::square((a[0] - b[0]) / b[1]) + 0.5 * ops::expm1(2.0 * ratio) - ratio;
        },
    .sample = [](const Shape& shape, Params p,
                 const Tensor& key) { return p[0] + p[1] * draw_normal(shape, p, key); },
};

constexpr Family kCauchy = {
    .name = "Cauchy",
    .doc =
        "Cauchy distribution, density 1 / (pi scale (1 + z^2)), z = (x - loc) / scale. It has "
        "no mean and no variance.",
    .params = {{"loc"}, {"scale", Domain::kPositive}},
    .no_moments = true,
    .mode = location,
    .entropy = [](Params p) { return ops::log(p[1]) + std::log(4 * kPi); },
    .log_prob =
        [](const Tensor& x, Params p) {
          return -std::log(kPi) - ops::log(p[1]) - ops::log1p(ops::square(standard(x, p)));
        },
    .cdf = [](const Tensor& x, Params p) { return ops::atan(standard(x, p)) / kPi + 0.5; },
    .survival_function = [](const Tensor& x,
                            Params p) { return ops::atan(-standard(x, p)) / kPi + 0.5; },
    // Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy
    // distributions" (2019).
    .kl_loss =
        [](Params a, Params b) {
          Tensor sum = log_square_distance(a[1] + b[1], a[0] - b[0]);
          return ops::log(sum) - ops::log(4.0 * a[1] * b[1]);
        },
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          return p[0] + p[1] * ops::tan(kPi * (draw_open_uniform(shape, p, key) - 0.5));
        },
};

constexpr Family kGumbel = {
    .name = "Gumbel",
    .doc = "Gumbel distribution, density exp(-z - exp(-z)) / scale, z = (x - loc) / scale.",
    .params = {{"loc"}, {"scale", Domain::kPositive}},
    .mean = [](Params p) { return p[0] + kEuler * p[1]; },
    .mode = location,
    .sd = [](Params p) { return p[1] * (kPi / std::sqrt(6.0)); },
    .entropy = [](Params p) { return ops::log(p[1]) + (1 + kEuler); },
    .log_prob =
        [](const Tensor& x, Params p) {
          Tensor z = standard(x, p);
          return -(z + ops::exp(-z)) - ops::log(p[1]);
        },
    .log_cdf = [](const Tensor& x, Params p) { return -ops::exp(-standard(x, p)); },
    .survival_function = [](const Tensor& x,
                            Params p) { return -ops::expm1(-ops::exp(-standard(x, p))); },
    .kl_loss =
        [](Params a, Params b) {
          Tensor ratio = a[1] / b[1], away = (b[0] - a[0]) / b[1];
          return ops::log(b[1] / a[1]) + kEuler * (ratio - 1.0) - away +
                 ops::expm1(away + ops::lgamma(ratio + 1.0));
        },
    .sample = [](const Shape& shape, Params p,
                 const Tensor& key) { return p[0] + p[1] * draw("keyed_gumbel", shape, p, key); },
};

constexpr Family kLaplace = {
    .name = "Laplace",
    .doc =
        "Laplace distribution, density exp(-|x - mean| / sd) / (2 sd); as published, `sd` is "
        "the scale, and the standard deviation is sqrt(2) times it.",
    .params = {{"mean"}, {"sd", Domain::kPositive}},
    .mean = location,
    .mode = location,
    .sd = [](Params p) { return p[1] * std::numbers::sqrt2; },
    .entropy = [](Params p) { return ops::log(p[1]) + (1 + std::log(2.0)); },
    .log_prob = [](const Tensor& x,
                   Params p) { return -ops::abs(standard(x, p)) - ops::log(p[1]) - std::log(2.0); },
    .cdf =
        [](const Tensor& x, Params p) {
          Tensor z = standard(x, p), tail = 0.5 * ops::exp(-ops::abs(z));
          return choose(z < 0.0, tail, 1.0 - tail);
        },
    .survival_function =
        [](const Tensor& x, Params p) {
          Tensor z = standard(x, p), tail = 0.5 * ops::exp(-ops::abs(z));
          return choose(z < 0.0, 1.0 - tail, tail);
        },
    .sample = [](const Shape& shape, Params p,
                 const Tensor& key) { return p[0] + p[1] * draw("keyed_laplace", shape, p, key); },
};

constexpr Family kLogistic = {
    .name = "Logistic",
    .doc =
        "Logistic distribution, density exp(-z) / (scale (1 + exp(-z))^2), "
        "z = (x - loc) / scale.",
    .params = {{"loc"}, {"scale", Domain::kPositive}},
    .mean = location,
    .mode = location,
    .sd = [](Params p) { return p[1] * (kPi / std::sqrt(3.0)); },
    .entropy = [](Params p) { return ops::log(p[1]) + 2.0; },
    .log_prob =
        [](const Tensor& x, Params p) {
          Tensor z = standard(x, p);
          return -z - ops::log(p[1]) + 2.0 * ops::logsigmoid(z);
        },
    .cdf = [](const Tensor& x, Params p) { return ops::sigmoid(standard(x, p)); },
    .log_cdf = [](const Tensor& x, Params p) { return ops::logsigmoid(standard(x, p)); },
    .survival_function = [](const Tensor& x, Params p) { return ops::sigmoid(-standard(x, p)); },
    .log_survival = [](const Tensor& x, Params p) { return ops::logsigmoid(-standard(x, p)); },
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          Tensor u = draw_open_uniform(shape, p, key);
          return p[0] + p[1] * (ops::log(u) - ops::log1p(-u));
        },
};

constexpr Family kStudentT = {
    .name = "StudentT",
    .doc = "Student's t distribution with df degrees of freedom, moved by mean and scaled by sd.",
    .params = {{"df", Domain::kPositive}, {"mean"}, {"sd", Domain::kPositive}},
    .mode = [](Params p) { return p[1]; },
    .log_prob =
        [](const Tensor& x, Params p) {
          Tensor half = 0.5 * (p[0] + 1.0), z = standard(x, p.subspan(1));
          return ops::lgamma(half) - ops::lgamma(0.5 * p[0]) - 0.5 * ops::log(p[0]) -
                 0.5 * std::log(kPi) - ops::log(p[2]) - half * ops::log1p(ops::square(z) / p[0]);
        },
    // A normal number over the root of a chi-squared one: gamma(df / 2) is half of the latter.
    .sample =
        [](const Shape& shape, Params p, const Tensor& key) {
          Tensor half = ops::broadcast_to(0.5 * p[0], {shape.begin(), shape.end()});
          Tensor bits = run_op("keyed_bits", {key}, {Shape{4}, DType::kUInt32});
          Tensor z = draw_normal(shape, p, ops::narrow(bits, 0, 0, 2));
          Tensor g = run_op("keyed_gamma", {ops::narrow(bits, 0, 2, 2), half});
          return p[1] + p[2] * z * ops::sqrt(half / g);
        },
};

}  // namespace

Families line_families() {
  return {&kNormal, &kCauchy, &kGumbel, &kLaplace, &kLogistic, &kStudentT};
}

}  // namespace mycel::nn::probability
