// Updates that scale gradients by norms or loss scales, and momentum with damping.
#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/update/update.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;
using ir::OpDef;
using ir::Value;
using Values = std::vector<Value>;

namespace {

// x: var, accum, stat, grad, lr, momentum.
Values damped_momentum(const Expansion& e, const Values& x) {
  double dampening = e.attrs.real("dampening");
  Value grad = x[3] + x[0] * e.attrs.real("weight_decay");
  // The first step, marked by stat, takes the gradient as it is.
  Value accum = where(greater(x[2], 0.0), grad, x[1] * x[5] + grad * (1 - dampening));
  Value step = e.attrs.boolean("nesterov") ? grad + accum * x[5] : accum;
  step = where(greater(x[5], 0.0), step, grad);
  return {x[0] - x[4] * step, where(greater(x[5], 0.0), accum, x[1]),
          where(greater(x[2], 0.0), 0.0, x[2])};
}

// x: weight, gradient, norm_weight, norm_gradient, weight_decay, learning_rate; norms are squared.
Values layer_rate(const Expansion& e, const Values& x) {
  double epsilon = e.attrs.real("epsilon"), trust = e.attrs.real("hyperpara");
  Value w = kSqrt({x[2]}), g = kSqrt({x[3]});
  Value rate = w * trust / (g + w * x[4] + epsilon);
  if (e.attrs.boolean("use_clip")) {
    Value share = rate / x[5];
    rate = where(greater(share, 1.0), 1.0, share);
  }
  Value counts = kLogicalAnd({greater(w, 0.0), greater(g, 0.0)});
  return {where(counts, rate, 1.0) * (x[1] + x[4] * x[0])};
}

// x: var, accum, weight_decay, loss_scale, lr, grad, momentum.
Values scaled_momentum(const Expansion&, const Values& x) {
  Value accum = x[1] * x[6] + x[5] * x[3] + x[0] * x[2];
  return {x[0] - x[4] * accum, accum};
}

#define LIKE_ALL "skip zero_size: states share a shape; skip scalar: as zero_size"

}  // namespace

constexpr OpDef kSgd = check({
    .name = "update_sgd",
    .doc = "g = grad + weight_decay var; accum = momentum accum + (1 - dampening) g, at first, "
           "while stat is positive, g; var -= lr accum, with nesterov lr (g + momentum accum), "
           "without momentum lr g (Sutskever et al. 2013).",
    .in = {"var: float", "accum: float", "stat: float", "grad: float", "lr: float[]",
           "momentum: float[]"},
    .attr = {"dampening: float = 0", "weight_decay: float = 0", "nesterov: bool = False"},
    .out = {"var", "accum", "stat"},
    .shard = "none",
    .expand = updates<damped_momentum>,
    .cases =
        "var[2, 3]; accum[2, 3]; stat[2, 3]; stat in {0, 1}; grad[2, 3]; momentum in (0.5, 0.9); "
        "dampening = 0.0 0.1; weight_decay = 0.0 0.2; nesterov = False True; no grad of stat: "
        "a switch; bad accum[3]; " LIKE_ALL,
    .internal = true,
});

constexpr OpDef kLars = check({
    .name = "lars_gradient",
    .doc = "The gradient with decay, grad + weight_decay weight, times hyperpara |w| / (|g| + "
           "weight_decay |w| + epsilon) where both norms, given squared, are positive; use_clip "
           "takes that rate over learning_rate, at most 1 (You et al. 2017).",
    .in = {"weight: float", "gradient: float", "norm_weight: float[]", "norm_gradient: float[]",
           "weight_decay: float[]", "learning_rate: float[]"},
    .attr = {"epsilon: float = 1e-5", "hyperpara: float = 0.001", "use_clip: bool = False"},
    .shard = "none",
    .expand = updates<layer_rate>,
    .cases =
        "weight[2, 3]; gradient[2, 3]; norm_weight in (1, 2); norm_gradient in (1, 2); "
        "weight_decay in (0.1, 0.2); learning_rate in (0.1, 0.2); hyperpara = 0.1 0.9; use_clip "
        "= False True; bad gradient[3]; " LIKE_ALL,
    .primitive = "LARSUpdate(epsilon, hyperpara, use_clip)",
    .internal = true,
});

constexpr OpDef kScaledMomentum = check({
    .name = "update_scaled_momentum",
    .doc = "accum = momentum accum + loss_scale grad + weight_decay var; var -= lr accum.",
    .in = {"var: float", "accum: float", "weight_decay: float[]", "loss_scale: float[]",
           "lr: float[]", "grad: float", "momentum: float[]"},
    .out = {"var", "accum"},
    .shard = "none",
    .expand = updates<scaled_momentum>,
    .cases = "var[2, 3]; accum[2, 3]; grad[2, 3]; bad accum[3]; " LIKE_ALL,
    .internal = true,
});

#undef LIKE_ALL

void register_scaled_updates() { ir::register_ops({&kSgd, &kLars, &kScaledMomentum}); }

}  // namespace mycel::ops
