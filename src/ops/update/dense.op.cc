// Updates of whole Parameters.
#include <cmath>

#include "ops/elementwise/elementwise.h"
#include "ops/update/update.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;
using ir::OpDef;
using ir::Value;
using Values = std::vector<Value>;

namespace {

Values momentum(const Expansion& e, const Values& x) {
  Value grad = x[3] * e.attrs.real("gradient_scale"), accum = x[1] * x[4] + grad;
  Value step = e.attrs.boolean("use_nesterov") ? grad + accum * x[4] : accum;
  return {x[0] - x[2] * step, accum};
}

Values keras_momentum(const Expansion& e, const Values& x) {
  Value step = x[2] * x[3], accum = x[1] * x[4] - step;
  return {x[0] + (e.attrs.boolean("use_nesterov") ? accum * x[4] - step : accum), accum};
}

Values centered_rms_prop(const Expansion&, const Values& x) {
  Value grad = x[4], rho = x[6], mean = x[1] * rho + grad * (1.0 - rho);
  Value square = x[2] * rho + grad * grad * (1.0 - rho);
  Value moment = x[3] * x[7] + x[5] * grad * kRsqrt({square - mean * mean + x[8]});
  return {x[0] - moment, mean, square, moment};
}

Values adamax(const Expansion&, const Values& x) {
  Value beta1 = x[5], grad = x[8], m = x[1] * beta1 + grad * (1.0 - beta1);
  Value v = kMaximum({x[2] * x[6], kAbs({grad})});
  return {x[0] - x[4] / (1.0 - x[3]) * m / (v + x[7]), m, v};
}

template <bool power>
Values signed_step(const Expansion&, const Values& x) {
  Value beta = x[5], grad = x[6], m = x[1] * beta + grad * (1.0 - beta);
  Value agree = x[4] * kSign({grad}) * kSign({m});
  return {x[0] - x[2] * (power ? kExp({x[3] * agree}) : x[3] + agree) * grad, m};
}

Values amsgrad(const Expansion& e, const Values& x) {
  double beta1 = e.attrs.real("beta1"), beta2 = e.attrs.real("beta2");
  Value grad = x[7], m = x[1] * beta1 + grad * (1 - beta1);
  Value v = x[2] * beta2 + grad * grad * (1 - beta2), most = kMaximum({x[3], v});
  Value rate = x[6] * kSqrt({1.0 - x[5]}) / (1.0 - x[4]);
  return {x[0] - rate * m / (kSqrt({most}) + e.attrs.real("epsilon")), m, v, most};
}

Values adam_decay(const Expansion&, const Values& x) {
  Value grad = x[8], m = x[1] * x[4] + grad * (1.0 - x[4]);
  Value v = x[2] * x[5] + grad * grad * (1.0 - x[5]);
  return {x[0] - x[3] * (m / (kSqrt({v}) + x[6]) + x[7] * x[0]), m, v};
}

Values descent(const Expansion&, const Values& x) { return {x[0] - x[1] * x[2]}; }

Values proximal_descent(const Expansion&, const Values& x) {
  Value moved = x[0] - x[1] * x[4], size = kAbs({moved}) - x[1] * x[2];
  return {kSign({moved}) * where(less(size, 0.0), 0.0, size) / (x[1] * x[3] + 1.0)};
}

Values dual_averaging(const Expansion&, const Values& x) {
  Value sum = x[1] + x[3], squares = x[2] + x[3] * x[3], lr = x[4], steps = x[7];
  Value size = kAbs({sum}) - x[5] * steps;
  Value pulled = kSign({sum}) * where(less(size, 0.0), 0.0, size);
  return {-(lr * pulled) / (kSqrt({squares}) + x[6] * steps * lr), sum, squares};
}

#define FACTOR " in (0.1, 0.9); "
#define LIKE_ALL "skip zero_size: states share a shape; skip scalar: as zero_size"

}  // namespace

constexpr OpDef kMomentum = check({
    .name = "update_momentum",
    .doc = "accum = accum momentum + g, g = grad gradient_scale; var -= lr accum, with "
           "use_nesterov lr (g + momentum accum) (Sutskever et al. 2013).",
    .in = {"variable: float", "accumulation: float", "learning_rate: float[]", "gradient: float",
           "momentum: float[]"},
    .attr = {"use_nesterov: bool = False", "use_locking: bool = False",
             "gradient_scale: float = 1"},
    .out = {"variable", "accumulation"},
    .shard = "none",
    .expand = updates<momentum>,
    .cases = "variable[2, 3]; accumulation[2, 3]; gradient[2, 3]; use_nesterov = False True; "
             "gradient_scale = 0.5; bad accumulation[3]; bad gradient[2]; " LIKE_ALL,
    .primitive = "ApplyMomentum(use_nesterov, use_locking, gradient_scale)",
    .internal = true,
});

constexpr OpDef kKerasMomentum = check({
    .name = "update_keras_momentum",
    .doc = "accum = accum momentum - lr grad; var += accum, with use_nesterov accum momentum - lr "
           "grad.",
    .in = {"var: float", "accum: float", "lr: float[]", "grad: float", "momentum: float[]"},
    .attr = {"use_locking: bool = False", "use_nesterov: bool = False"},
    .out = {"var", "accum"},
    .shard = "none",
    .expand = updates<keras_momentum>,
    .cases =
        "var[2, 3]; accum[2, 3]; grad[2, 3]; use_nesterov = False True; bad accum[3]; " LIKE_ALL,
    .primitive = "ApplyKerasMomentum(use_locking, use_nesterov)",
    .internal = true,
});

constexpr OpDef kAdam = check({
    .name = "update_adam",
    .doc = "m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; var -= lr sqrt(1 - "
           "beta2_power) / (1 - beta1_power) m / (sqrt(v) + epsilon), with use_nesterov beta1 m + "
           "(1 - beta1) g for m (Kingma and Ba 2015).",
    .in = {"var: float", "m: float", "v: float", "beta1_power: float[]", "beta2_power: float[]",
           "lr: float[]", "beta1: float[]", "beta2: float[]", "epsilon: float[]",
           "gradient: float"},
    .attr = {"use_locking: bool = False", "use_nesterov: bool = False"},
    .out = {"var", "m", "v"},
    .shard = "none",
    .expand = updates<adam>,
    .cases = "var[2, 3]; m[2, 3]; v[2, 3]; gradient[2, 3]; v in (0.5, 2); beta1_power" FACTOR
             "beta2_power" FACTOR "beta1" FACTOR "beta2" FACTOR "epsilon" FACTOR
             "use_nesterov = False True; bad m[3]; bad gradient[2]; " LIKE_ALL,
    .primitive = "Adam(use_locking, use_nesterov)",
    .internal = true,
});

constexpr OpDef kAdamDecay = check({
    .name = "update_adam_weight_decay",
    .doc = "m and v as in Adam; var -= lr (m / (sqrt(v) + epsilon) + decay var).",
    .in = {"var: float", "m: float", "v: float", "lr: float[]", "beta1: float[]", "beta2: float[]",
           "epsilon: float[]", "decay: float[]", "gradient: float"},
    .attr = {"use_locking: bool = False"},
    .out = {"var", "m", "v"},
    .shard = "none",
    .expand = updates<adam_decay>,
    .cases = "var[2, 3]; m[2, 3]; v[2, 3]; gradient[2, 3]; v in (0.5, 2); beta1" FACTOR
             "beta2" FACTOR "epsilon" FACTOR "bad m[3]; " LIKE_ALL,
    .primitive = "AdamWeightDecay(use_locking)",
    .internal = true,
});

constexpr OpDef kAmsgrad = check({
    .name = "update_adam_with_amsgrad",
    .doc = "m and v as in Adam; vhat = max(vhat, v) takes the place of v (Reddi et al. 2018).",
    .in = {"var: float", "m: float", "v: float", "vhat: float", "beta1_power: float[]",
           "beta2_power: float[]", "lr: float[]", "grad: float"},
    .attr = {"beta1: float = 0.9", "beta2: float = 0.999", "epsilon: float = 1e-08",
             "use_locking: bool = False"},
    .out = {"var", "m", "v", "vhat"},
    .shard = "none",
    .expand = updates<amsgrad>,
    .cases = "var[2, 3]; m[2, 3]; v[2, 3]; vhat[2, 3]; grad[2, 3]; v in (0.5, 2); vhat in (0.5, "
             "2); beta1_power" FACTOR "beta2_power" FACTOR "bad m[3]; " LIKE_ALL,
    .primitive = "ApplyAdamWithAmsgrad(beta1, beta2, epsilon, use_locking)",
    .internal = true,
});

constexpr OpDef kAdaMax = check({
    .name = "update_adamax",
    .doc = "m = beta1 m + (1 - beta1) g; v = max(beta2 v, |g|); var -= lr / (1 - beta1_power) m / "
           "(v + epsilon) (Kingma and Ba 2015).",
    .in = {"var: float", "m: float", "v: float", "beta1_power: float[]", "lr: float[]",
           "beta1: float[]", "beta2: float[]", "epsilon: float[]", "grad: float"},
    .out = {"var", "m", "v"},
    .shard = "none",
    .expand = updates<adamax>,
    .cases = "var[2, 3]; m[2, 3]; v[2, 3]; grad[2, 3]; v in (0.5, 2); beta1_power" FACTOR
             "beta1" FACTOR "beta2" FACTOR "epsilon" FACTOR "bad m[3]; " LIKE_ALL,
    .primitive = "ApplyAdaMax()",
    .internal = true,
});

constexpr OpDef kAdadelta = check({
    .name = "update_adadelta",
    .doc = "accum = rho accum + (1 - rho) g^2; d = sqrt(accum_update + epsilon) / sqrt(accum + "
           "epsilon) g; var -= lr d; accum_update = rho accum_update + (1 - rho) d^2 (Zeiler "
           "2012).",
    .in = {"var: float", "accum: float", "accum_update: float", "lr: float[]", "rho: float[]",
           "epsilon: float[]", "grad: float"},
    .out = {"var", "accum", "accum_update"},
    .shard = "none",
    .expand = updates<adadelta>,
    .cases = "var[2, 3]; accum[2, 3]; accum_update[2, 3]; grad[2, 3]; accum in (0.5, 2); "
             "accum_update in (0.5, 2); rho" FACTOR "epsilon" FACTOR "bad accum[3]; " LIKE_ALL,
    .primitive = "ApplyAdadelta()",
    .internal = true,
});

constexpr OpDef kAdagrad = check({
    .name = "update_adagrad",
    .doc = "accum += g^2 (unless update_slots is False); var -= lr g / sqrt(accum) (Duchi et al. "
           "2011).",
    .in = {"var: float", "accum: float", "lr: float[]", "grad: float"},
    .attr = {"update_slots: bool = True"},
    .out = {"var", "accum"},
    .shard = "none",
    .expand = updates<adagrad>,
    .cases = "var[2, 3]; accum[2, 3]; grad[2, 3]; accum in (0.5, 2); update_slots = True False; "
             "bad accum[3]; " LIKE_ALL,
    .primitive = "ApplyAdagrad(update_slots)",
    .internal = true,
});

constexpr OpDef kAdagradV2 = check({
    .name = "update_adagrad_v2",
    .doc = "accum += g^2 (unless update_slots is False); var -= lr g / (sqrt(accum) + epsilon).",
    .in = {"var: float", "accum: float", "lr: float[]", "grad: float"},
    .attr = {"epsilon: float", "update_slots: bool = True"},
    .out = {"var", "accum"},
    .shard = "none",
    .expand = updates<adagrad>,
    .cases = "var[2, 3]; accum[2, 3]; grad[2, 3]; accum in (0.5, 2); epsilon = 0.1; update_slots = "
             "True False; bad accum[3]; " LIKE_ALL,
    .primitive = "ApplyAdagradV2(epsilon, update_slots)",
    .internal = true,
});

constexpr OpDef kAdagradDA = check({
    .name = "update_adagrad_da",
    .doc = "Dual averaging: sum += g; squares += g^2; var = -lr sign(sum) max(|sum| - l1 t, 0) / "
           "(sqrt(squares) + l2 t lr) at step t (Duchi et al. 2011).",
    .in = {"var: float", "gradient_accumulator: float", "gradient_squared_accumulator: float",
           "grad: float", "lr: float[]", "l1: float[]", "l2: float[]", "global_step: real[]"},
    .attr = {"use_locking: bool = False"},
    .out = {"var", "gradient_accumulator", "gradient_squared_accumulator"},
    .shard = "none",
    .expand = updates<dual_averaging>,
    .cases =
        "var[2, 3]; gradient_accumulator[2, 3]; gradient_squared_accumulator[2, 3]; grad[2, "
        "3]; gradient_squared_accumulator in (0.5, 2); gradient_accumulator in (3, 4); lr" FACTOR
        "l1" FACTOR "l2" FACTOR "global_step in ints(1, 2); bad grad[3]; " LIKE_ALL,
    .primitive = "ApplyAdagradDA(use_locking)",
    .internal = true,
});

constexpr OpDef kFtrl = check({
    .name = "update_ftrl",
    .doc = "n = accum + g^2; linear += g - (n^-p - accum^-p) / lr var; var = (sign(linear) l1 - "
           "linear) / (n^-p / lr + 2 l2) where |linear| > l1, else 0; accum = n; p is lr_power "
           "(McMahan et al. 2013).",
    .in = {"var: float", "accum: float", "linear: float", "grad: float", "lr: float[]",
           "l1: float[]", "l2: float[]", "lr_power: float[]"},
    .attr = {"use_locking: bool = False"},
    .out = {"var", "accum", "linear"},
    .shard = "none",
    .expand = updates<ftrl>,
    .cases = "var[2, 3]; accum[2, 3]; linear[2, 3]; grad[2, 3]; accum in (0.5, 2); linear in (6, "
             "9); lr" FACTOR "l1 in (0, 0.1); l2" FACTOR
             "lr_power in (-0.6, -0.4); bad accum[3]; " LIKE_ALL,
    .primitive = "ApplyFtrl(use_locking)",
    .internal = true,
});

constexpr OpDef kRmsProp = check({
    .name = "update_rms_prop",
    .doc = "s = rho s + (1 - rho) g^2; moment = momentum moment + lr g / sqrt(s + epsilon); var -= "
           "moment.",
    .in = {"var: float", "mean_square: float", "moment: float", "learning_rate: float[]",
           "grad: float", "rho: float[]", "momentum: float[]", "epsilon: float[]"},
    .attr = {"use_locking: bool = False"},
    .out = {"var", "mean_square", "moment"},
    .shard = "none",
    .expand = updates<rms_prop>,
    .cases = "var[2, 3]; mean_square[2, 3]; moment[2, 3]; grad[2, 3]; mean_square in (0.5, 2); "
             "rho" FACTOR "epsilon" FACTOR "bad moment[3]; " LIKE_ALL,
    .primitive = "ApplyRMSProp(use_locking)",
    .internal = true,
});

constexpr OpDef kCenteredRmsProp = check({
    .name = "update_centered_rms_prop",
    .doc = "As RMSProp with s - mean^2 for s, where mean = rho mean + (1 - rho) g.",
    .in = {"var: float", "mean_gradient: float", "mean_square: float", "moment: float",
           "grad: float", "learning_rate: float[]", "rho: float[]", "momentum: float[]",
           "epsilon: float[]"},
    .attr = {"use_locking: bool = False"},
    .out = {"var", "mean_gradient", "mean_square", "moment"},
    .shard = "none",
    .expand = updates<centered_rms_prop>,
    .cases = "var[2, 3]; mean_gradient[2, 3]; mean_square[2, 3]; moment[2, 3]; grad[2, 3]; "
             "mean_gradient in (0, 0.1); mean_square in (4, 5); rho" FACTOR "epsilon" FACTOR
             "bad moment[3]; " LIKE_ALL,
    .primitive = "ApplyCenteredRMSProp(use_locking)",
    .internal = true,
});

constexpr OpDef kProximalAdagrad = check({
    .name = "update_proximal_adagrad",
    .doc = "accum += g^2; r = lr / sqrt(accum); z = var - r g; var = sign(z) max(|z| - r l1, 0) / "
           "(1 + r l2) (Duchi and Singer 2009).",
    .in = {"var: float", "accum: float", "lr: float[]", "l1: float[]", "l2: float[]",
           "grad: float"},
    .attr = {"use_locking: bool = False"},
    .out = {"var", "accum"},
    .shard = "none",
    .expand = updates<proximal_adagrad>,
    .cases = "var[2, 3]; accum[2, 3]; grad[2, 3]; var in (3, 4); accum in (0.5, 2); lr" FACTOR
             "l1" FACTOR "l2" FACTOR "bad accum[3]; " LIKE_ALL,
    .primitive = "ApplyProximalAdagrad(use_locking)",
    .internal = true,
});

constexpr OpDef kGradientDescent = check({
    .name = "update_gradient_descent",
    .doc = "var -= alpha delta.",
    .in = {"var: float", "alpha: float[]", "delta: float"},
    .out = {"var"},
    .shard = "none",
    .expand = updates<descent>,
    .cases = "var[2, 3]; delta[2, 3]; bad delta[3]; " LIKE_ALL,
    .primitive = "ApplyGradientDescent()",
    .internal = true,
});

constexpr OpDef kProximalDescent = check({
    .name = "update_proximal_gradient_descent",
    .doc = "z = var - alpha delta; var = sign(z) max(|z| - alpha l1, 0) / (1 + alpha l2).",
    .in = {"var: float", "alpha: float[]", "l1: float[]", "l2: float[]", "delta: float"},
    .out = {"var"},
    .shard = "none",
    .expand = updates<proximal_descent>,
    .cases = "var[2, 3]; delta[2, 3]; var in (3, 4); alpha" FACTOR "l1" FACTOR "l2" FACTOR
             "bad delta[3]; " LIKE_ALL,
    .primitive = "ApplyProximalGradientDescent()",
    .internal = true,
});

constexpr OpDef kAddSign = check({
    .name = "update_add_sign",
    .doc = "m = beta m + (1 - beta) g; var -= lr (alpha + sign_decay sign(g) sign(m)) g (Bello et "
           "al. 2017).",
    .in = {"var: float", "m: float", "lr: float[]", "alpha: float[]", "sign_decay: float[]",
           "beta: float[]", "grad: float"},
    .out = {"var", "m"},
    .shard = "none",
    .expand = updates<signed_step<false>>,
    .cases = "var[2, 3]; m[2, 3]; grad[2, 3]; m in (3, 4); grad in (1, 2); beta" FACTOR
             "bad m[3]; " LIKE_ALL,
    .primitive = "ApplyAddSign()",
    .internal = true,
});

constexpr OpDef kPowerSign = check({
    .name = "update_power_sign",
    .doc = "m = beta m + (1 - beta) g; var -= lr exp(logbase sign_decay sign(g) sign(m)) g (Bello "
           "et al. 2017).",
    .in = {"var: float", "m: float", "lr: float[]", "logbase: float[]", "sign_decay: float[]",
           "beta: float[]", "grad: float"},
    .out = {"var", "m"},
    .shard = "none",
    .expand = updates<signed_step<true>>,
    .cases = "var[2, 3]; m[2, 3]; grad[2, 3]; m in (3, 4); grad in (1, 2); beta" FACTOR
             "logbase" FACTOR "bad m[3]; " LIKE_ALL,
    .primitive = "ApplyPowerSign()",
    .internal = true,
});

#undef FACTOR
#undef LIKE_ALL

void register_dense_updates() {
  ir::register_ops({&kMomentum, &kKerasMomentum, &kAdam, &kAdamDecay, &kAmsgrad, &kAdaMax,
                    &kAdadelta, &kAdagrad, &kAdagradV2, &kAdagradDA, &kFtrl, &kRmsProp,
                    &kCenteredRmsProp, &kProximalAdagrad, &kGradientDescent, &kProximalDescent,
                    &kAddSign, &kPowerSign});
}

}  // namespace mycel::ops
