// Rules with a step size per element that are no relatives of Adam.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/optimizer.h"

namespace mycel::nn {
namespace {

constexpr OptimizerDef kRMSProp = {
    .name = "RMSProp",
    .doc =
        "s = decay*s + (1-decay)*g^2, m = momentum*m + lr*g/sqrt(s + epsilon), p -= m; centered "
        "subtracts the square of the mean gradient from s under the root. Source: Tieleman and "
        "Hinton "
        "2012, lecture 6e; Graves 2013 (centered).",
    .args = {"learning_rate: schedule = 0.1", "decay: float = 0.9", "momentum: float = 0.0",
             "epsilon: float = 1e-10", "use_locking: bool = False", "centered: bool = False",
             "loss_scale: float = 1.0", "weight_decay: schedule = 0.0"},
    .setup =
        [](Optimizer& o) {
          o.args.not_negative("decay");
          o.args.not_negative("momentum");
          o.args.positive_real("epsilon");
          o.slot("moments");
          o.slot("mean_square", 1);
          if (o.args.boolean("centered")) o.slot("mean_gradients");
        },
    .update =
        [](Update& u) {
          const Args& a = u.optimizer.args;
          double decay = a.real("decay");
          Tensor s = decay * u.state[1] + (1 - decay) * ops::square(u.grad);
          u.state[1] = s;
          if (a.boolean("centered")) {
            Tensor mean = decay * u.state[2] + (1 - decay) * u.grad;
            u.state[2] = mean;
            s = s - ops::square(mean);
          }
          Tensor m =
              a.real("momentum") * u.state[0] + u.lr * u.grad / ops::sqrt(s + a.real("epsilon"));
          u.state[0] = m;
          u.param = u.param - m;
        },
};

constexpr OptimizerDef kAdagrad = {
    .name = "Adagrad",
    .doc =
        "a += g^2 (unless update_slots is False), p -= lr*g/sqrt(a); a starts at `accum`. Source: "
        "Duchi "
        "et al., JMLR 2011.",
    .args = {"accum: float = 0.1", "learning_rate: schedule = 0.001", "update_slots: bool = True",
             "loss_scale: float = 1.0", "weight_decay: schedule = 0.0"},
    .setup = [](Optimizer& o) { o.slot("accum", o.args.not_negative("accum")); },
    .update =
        [](Update& u) {
          if (u.optimizer.args.boolean("update_slots"))
            u.state[0] = u.state[0] + ops::square(u.grad);
          u.param = u.param - u.lr * u.grad / ops::sqrt(u.state[0]);
        },
};

constexpr OptimizerDef kAdadelta = {
    .name = "Adadelta",
    .doc =
        "a = rho*a + (1-rho)*g^2, d = sqrt(b + epsilon)/sqrt(a + epsilon)*g, b = rho*b + "
        "(1-rho)*d^2, "
        "p -= lr*d. Source: Zeiler 2012.",
    .args = {"learning_rate: schedule = 1.0", "rho: float = 0.9", "epsilon: float = 1e-6",
             "loss_scale: float = 1.0", "weight_decay: schedule = 0.0"},
    .setup =
        [](Optimizer& o) {
          o.args.within("rho", 0, 1);
          o.args.positive_real("epsilon");
          o.slot("accum");
          o.slot("accum_update");
        },
    .update =
        [](Update& u) {
          double rho = u.optimizer.args.real("rho"), eps = u.optimizer.args.real("epsilon");
          Tensor a = rho * u.state[0] + (1 - rho) * ops::square(u.grad);
          Tensor d = ops::sqrt(u.state[1] + eps) * ops::rsqrt(a + eps) * u.grad;
          u.state[0] = a;
          u.state[1] = rho * u.state[1] + (1 - rho) * ops::square(d);
          u.param = u.param - u.lr * d;
        },
};

Shape without_last(const Shape& s) {
  if (s.rank() < 2) return {};
  Shape r = s;
  r.erase(-1);
  return r;
}
Shape without_last_but_one(const Shape& s) {
  if (s.rank() < 2) return {};
  Shape r = s;
  r.erase(-2);
  return r;
}
Shape unless_factored(const Shape& s) { return s.rank() < 2 ? s : Shape{}; }

Tensor rms(const Tensor& t) { return ops::sqrt(ops::reduce_mean(ops::square(t))); }

// 1/sqrt of the second moment that row and column means stand for (section 3, algorithm 4).
Tensor factored_rsqrt(const Tensor& rows, const Tensor& columns) {
  Tensor r = ops::rsqrt(rows / ops::reduce_mean(rows, {-1}, true));
  return ops::expand_dims(r, -1) * ops::expand_dims(ops::rsqrt(columns), -2);
}

void adafactor_update(Update& u) {
  const Args& a = u.optimizer.args;
  const auto& eps = a.floats("eps");
  Tensor t = u.optimizer.step_number();
  Tensor rate = u.lr;
  if (a.boolean("relative_step")) {
    Tensor cap = a.boolean("warmup_init") ? 1e-6 * t : number(t, 1e-2);
    rate = ops::minimum(ops::rsqrt(t), cap);
  }
  if (a.boolean("scale_parameter")) rate = rate * ops::maximum(rms(u.param), number(t, eps[1]));
  Tensor beta2 = 1.0 - ops::pow(t, number(t, -a.real("decay_rate"))), rest = 1.0 - beta2;
  Tensor g2 = ops::square(u.grad) + eps[0], step;
  if (u.grad.rank() >= 2) {
    u.state[0] = beta2 * u.state[0] + rest * ops::reduce_mean(g2, {-1});
    u.state[1] = beta2 * u.state[1] + rest * ops::reduce_mean(g2, {-2});
    step = factored_rsqrt(u.state[0], u.state[1]) * u.grad;
  } else {
    u.state[2] = beta2 * u.state[2] + rest * g2;
    step = ops::rsqrt(u.state[2]) * u.grad;
  }
  step = step / ops::maximum(rms(step) / a.real("clip_threshold"), number(t, 1)) * rate;
  double beta1 = a.real("beta1");
  if (beta1 > 0) step = u.state[3] = beta1 * u.state[3] + (1 - beta1) * step;
  Tensor p = u.decay ? u.param - u.decay * rate * u.param : u.param;
  u.param = p - step;
}

constexpr OptimizerDef kAdaFactor = {
    .name = "AdaFactor",
    .doc =
        "Adam with the second moment of a matrix kept as row and column means and the update "
        "clipped to "
        "root mean square clip_threshold; relative_step sets the rate to min(1e-2, 1/sqrt(t)), "
        "scale_parameter multiplies it by the parameter's size. Source: Shazeer and Stern, ICML "
        "2018.",
    .args = {"learning_rate: schedule? = None", "eps: float[2] = [1e-30, 1e-3]",
             "clip_threshold: float = 1.0", "decay_rate: float = 0.8", "beta1: float = 0.9",
             "weight_decay: schedule = 0.0", "scale_parameter: bool = True",
             "relative_step: bool = True", "warmup_init: bool = False", "compression: bool = False",
             "loss_scale: float = 1.0"},
    .setup =
        [](Optimizer& o) {
          bool relative = o.args.boolean("relative_step");
          if (relative != o.args.none("learning_rate")) {
            value_error(
                "AdaFactor: give a learning_rate or relative_step=True, not both and not neither");
          }
          if (o.args.boolean("warmup_init") && !relative) {
            value_error("AdaFactor: warmup_init needs relative_step=True");
          }
          if (o.args.boolean("compression")) {
            fail(ErrorKind::kUnsupported,
                 "AdaFactor: compression=True (float16 states) is not supported");
          }
          o.args.positive_real("clip_threshold");
          o.args.within("beta1", 0, 1, "[)");
          o.slot("exp_avg_sq_row", 0, without_last);
          o.slot("exp_avg_sq_col", 0, without_last_but_one);
          o.slot("exp_avg_sq", 0, unless_factored);
          if (o.args.real("beta1") > 0) o.slot("exp_avg");
        },
    .update = adafactor_update,
    .own_decay = true,
};

}  // namespace

OptimizerDefs adaptive_optimizers() { return {&kRMSProp, &kAdagrad, &kAdadelta, &kAdaFactor}; }

}  // namespace mycel::nn
