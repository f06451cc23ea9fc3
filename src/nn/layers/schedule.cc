// Learning rates as functions of the step, as cells that an optimizer takes for learning_rate.
#include <numbers>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"

namespace mycel::nn {
namespace {

Tensor as_float(const Tensor& step) { return ops::cast(step, DType::kFloat32); }

void check_decay(Layer& l) {
  l.args.positive_real("learning_rate");
  l.args.positive_real("decay_rate");
  l.args.positive("decay_steps");
}

// step / decay_steps, in whole stairs when asked.
Tensor progress(Layer& l, const Tensor& step) {
  Tensor p = as_float(step) / static_cast<double>(l.args.integer("decay_steps"));
  return l.args.boolean("is_stair") ? ops::floor(p) : p;
}

#define MYCEL_DECAY_ARGS \
  {"learning_rate: float", "decay_rate: float", "decay_steps: int", "is_stair: bool = False"}

constexpr LayerDef kExponential = check({
    .name = "ExponentialDecayLR",
    .doc =
        "learning_rate * decay_rate^(step / decay_steps), the exponent rounded down with is_stair.",
    .args = MYCEL_DECAY_ARGS,
    .in = {"global_step"},
    .setup = check_decay,
    .construct =
        [](Layer& l, Inputs x) {
          Tensor p = progress(l, x[0]);
          return l.args.real("learning_rate") * ops::pow(number(p, l.args.real("decay_rate")), p);
        },
});
constexpr LayerDef kNaturalExp = check({
    .name = "NaturalExpDecayLR",
    .doc = "learning_rate * exp(-decay_rate * step), the step in whole multiples of decay_steps "
           "with is_stair.",
    .args = MYCEL_DECAY_ARGS,
    .in = {"global_step"},
    .setup = check_decay,
    .construct =
        [](Layer& l, Inputs x) {
          Tensor step = as_float(x[0]);
          auto steps = static_cast<double>(l.args.integer("decay_steps"));
          if (l.args.boolean("is_stair")) step = ops::floor(step / steps) * steps;
          return l.args.real("learning_rate") * ops::exp(step * -l.args.real("decay_rate"));
        },
});
constexpr LayerDef kInverse = check({
    .name = "InverseDecayLR",
    .doc = "learning_rate / (1 + decay_rate * step / decay_steps), the quotient rounded down with "
           "is_stair.",
    .args = MYCEL_DECAY_ARGS,
    .in = {"global_step"},
    .setup = check_decay,
    .construct =
        [](Layer& l, Inputs x) {
          return l.args.real("learning_rate") /
                 (1.0 + l.args.real("decay_rate") * progress(l, x[0]));
        },
});

#undef MYCEL_DECAY_ARGS

constexpr LayerDef kCosine = check({
    .name = "CosineDecayLR",
    .doc = "min_lr + (max_lr - min_lr) (1 + cos(pi min(step, decay_steps) / decay_steps)) / 2 "
           "(Loshchilov and Hutter 2017).",
    .args = {"min_lr: float", "max_lr: float", "decay_steps: int"},
    .in = {"global_step"},
    .setup =
        [](Layer& l) {
          l.args.positive("decay_steps");
          if (l.args.not_negative("min_lr") >= l.args.positive_real("max_lr")) {
            l.fail("'max_lr' {} must be above 'min_lr' {}", l.args.real("max_lr"),
                   l.args.real("min_lr"));
          }
        },
    .construct =
        [](Layer& l, Inputs x) {
          auto steps = static_cast<double>(l.args.integer("decay_steps"));
          double low = l.args.real("min_lr"), high = l.args.real("max_lr");
          Tensor step = as_float(x[0]);
          Tensor p = ops::minimum(step, number(step, steps)) * (std::numbers::pi / steps);
          return low + (high - low) / 2 * (1.0 + ops::cos(p));
        },
});

constexpr LayerDef kPolynomial = check({
    .name = "PolynomialDecayLR",
    .doc = "(learning_rate - end_learning_rate) (1 - min(step, s) / s)^power + end_learning_rate "
           "with s = decay_steps, or "
           "with update_decay_steps decay_steps * ceil(step / decay_steps).",
    .args = {"learning_rate: float", "end_learning_rate: float", "decay_steps: int", "power: float",
             "update_decay_steps: bool = False"},
    .in = {"global_step"},
    .setup =
        [](Layer& l) {
          l.args.positive_real("learning_rate");
          l.args.not_negative("end_learning_rate");
          l.args.positive("decay_steps");
          l.args.positive_real("power");
        },
    .construct =
        [](Layer& l, Inputs x) {
          Tensor step = as_float(x[0]);
          double from = l.args.real("learning_rate"), to = l.args.real("end_learning_rate");
          Tensor steps = number(step, static_cast<double>(l.args.integer("decay_steps")));
          if (l.args.boolean("update_decay_steps")) {
            steps = steps * ops::maximum(ops::ceil(step / steps), number(step, 1));
          }
          Tensor rest = 1.0 - ops::minimum(step, steps) / steps;
          return (from - to) * ops::pow(rest, number(rest, l.args.real("power"))) + to;
        },
});

constexpr LayerDef kWarmUp = check({
    .name = "WarmUpLR",
    .doc = "learning_rate * min(step, warmup_steps) / warmup_steps.",
    .args = {"learning_rate: float", "warmup_steps: int"},
    .in = {"global_step"},
    .setup =
        [](Layer& l) {
          l.args.not_negative("learning_rate");
          l.args.positive("warmup_steps");
        },
    .construct =
        [](Layer& l, Inputs x) {
          auto steps = static_cast<double>(l.args.integer("warmup_steps"));
          Tensor step = as_float(x[0]);
          return ops::minimum(step, number(step, steps)) * (l.args.real("learning_rate") / steps);
        },
});

}  // namespace

LayerDefs schedule_layers() {
  return {&kExponential, &kNaturalExp, &kInverse, &kCosine, &kPolynomial, &kWarmUp};
}

}  // namespace mycel::nn
