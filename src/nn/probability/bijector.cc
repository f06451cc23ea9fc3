#include "nn/probability/bijector.h"

#include "base/error.h"
#include "nn/probability/formulas.h"

namespace mycel::nn::probability {
namespace {

// power = 0 stands for the limit, the exponential function.
struct Power {
  explicit Power(const Tensor& c)
      : zero(ops::equal(c, number(c, 0))), c(c), safe(choose(zero, 1, c)) {}
  Tensor pick(const Tensor& limit, const Tensor& other) const { return choose(zero, limit, other); }
  Tensor zero, c, safe;
};

constexpr BijectorDef kPowerTransform = {
    .name = "PowerTransform",
    .doc = "y = (1 + x power)^(1 / power) for power >= 0; exp(x) for power 0.",
    .params = {{"power", Domain::kNotNegative}},
    .forward =
        [](const Tensor& x, Params p) {
          Power w(p[0]);
          // Each side is taken where it counts, so that the other's overflow leaves no NaN behind.
          return w.pick(ops::exp(choose(w.zero, x, 0)),
                        ops::exp(ops::log1p(choose(w.zero, 0, x) * w.safe) / w.safe));
        },
    .inverse =
        [](const Tensor& y, Params p) {
          Power w(p[0]);
          return w.pick(ops::log(y), ops::expm1(ops::log(y) * w.safe) / w.safe);
        },
    .forward_log_jacobian =
        [](const Tensor& x, Params p) {
          Power w(p[0]);
          return w.pick(x, (1.0 / w.safe - 1.0) * ops::log1p(choose(w.zero, 0, x) * w.safe));
        },
    .inverse_log_jacobian = [](const Tensor& y, Params p) { return (p[0] - 1.0) * ops::log(y); },
};

constexpr BijectorDef kScalarAffine = {
    .name = "ScalarAffine",
    .doc = "y = scale x + shift.",
    .params = {{"scale"}, {"shift"}},
    .defaults = {1, 0},
    .constant_jacobian = true,
    .forward = [](const Tensor& x, Params p) { return p[0] * x + p[1]; },
    .inverse = [](const Tensor& y, Params p) { return (y - p[1]) / p[0]; },
    .forward_log_jacobian = [](const Tensor&, Params p) { return ops::log(ops::abs(p[0])); },
    .inverse_log_jacobian = [](const Tensor&, Params p) { return -ops::log(ops::abs(p[0])); },
};

// log(exp(y) - 1), y > 0: for large y the difference from y is exp(-y).
Tensor inverse_softplus(const Tensor& y) { return y + ops::log(-ops::expm1(-y)); }

constexpr BijectorDef kSoftplus = {
    .name = "Softplus",
    .doc = "y = log(1 + exp(sharpness x)) / sharpness.",
    .params = {{"sharpness"}},
    .defaults = {1},
    .forward = [](const Tensor& x, Params p) { return -ops::logsigmoid(-(p[0] * x)) / p[0]; },
    .inverse = [](const Tensor& y, Params p) { return inverse_softplus(p[0] * y) / p[0]; },
    .forward_log_jacobian = [](const Tensor& x, Params p) { return ops::logsigmoid(p[0] * x); },
    .inverse_log_jacobian = [](const Tensor& y,
                               Params p) { return -ops::log(-ops::expm1(-(p[0] * y))); },
};

constexpr BijectorDef kGumbelCdf = {
    .name = "GumbelCDF",
    .doc = "y = exp(-exp(-z)), z = (x - loc) / scale: the cdf of the Gumbel distribution.",
    .params = {{"loc"}, {"scale", Domain::kPositive}},
    .defaults = {0, 1},
    .forward = [](const Tensor& x, Params p) { return ops::exp(-ops::exp(-standard(x, p))); },
    .inverse = [](const Tensor& y, Params p) { return p[0] - p[1] * ops::log(-ops::log(y)); },
    .forward_log_jacobian =
        [](const Tensor& x, Params p) {
          Tensor z = standard(x, p);
          return -z - ops::exp(-z) - ops::log(p[1]);
        },
    .inverse_log_jacobian = [](const Tensor& y,
                               Params p) { return ops::log(p[1]) - ops::log(-(y * ops::log(y))); },
};

}  // namespace

Family::At BijectorDef::map(std::string_view which) const {
  if (which == "forward") return forward;
  if (which == "inverse") return inverse;
  if (which == "forward_log_jacobian") return forward_log_jacobian;
  if (which == "inverse_log_jacobian") return inverse_log_jacobian;
  value_error(
      "{}: there is no map '{}': forward, inverse, forward_log_jacobian, inverse_log_jacobian",
      name, which);
}

const std::vector<const BijectorDef*>& all_bijectors() {
  static const std::vector<const BijectorDef*> all = {&kPowerTransform, &kScalarAffine, &kSoftplus,
                                                      &kGumbelCdf};
  return all;
}

const BijectorDef& bijector(std::string_view name) {
  for (const BijectorDef* b : all_bijectors()) {
    if (name == b->name) return *b;
  }
  value_error("there is no bijector '{}'", name);
}

}  // namespace mycel::nn::probability
