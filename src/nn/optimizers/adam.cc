// Adam and its relatives: first and second moments of the gradient.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/optimizer.h"

namespace mycel::nn {
namespace {

void check_betas(Optimizer& o) {
  o.args.within("beta1", 0, 1, "()");
  o.args.within("beta2", 0, 1, "()");
  o.args.positive_real("eps");
}

void setup_powers(Optimizer& o) {
  check_betas(o);
  o.shared("beta1_power", 1);
  o.shared("beta2_power", 1);
}

// beta^t as a state, so that no step computes a power.
void next_powers(Optimizer& o) {
  o.assign_shared("beta1_power", o.shared_value("beta1_power") * o.args.real("beta1"));
  o.assign_shared("beta2_power", o.shared_value("beta2_power") * o.args.real("beta2"));
}

struct Moments {
  Tensor first, second;
};
Moments next_moments(Update& u) {
  double b1 = u.optimizer.args.real("beta1"), b2 = u.optimizer.args.real("beta2");
  Moments m{b1 * u.state[0] + (1 - b1) * u.grad, b2 * u.state[1] + (1 - b2) * ops::square(u.grad)};
  u.state[0] = m.first;
  u.state[1] = m.second;
  return m;
}

// lr * sqrt(1 - beta2^t) / (1 - beta1^t): both bias corrections in one factor.
Tensor corrected_rate(const Update& u) {
  const Optimizer& o = u.optimizer;
  return u.lr * ops::sqrt(1.0 - o.shared_value("beta2_power")) /
         (1.0 - o.shared_value("beta1_power"));
}

void adam_update(Update& u) {
  const Args& a = u.optimizer.args;
  Moments m = next_moments(u);
  Tensor second = m.second;
  if (a.signature().index("use_amsgrad") >= 0 && a.boolean("use_amsgrad")) {
    second = u.state[2] = ops::maximum(u.state[2], m.second);
  }
  Tensor first = m.first;
  if (a.boolean("use_nesterov")) {
    double b1 = a.real("beta1");
    first = b1 * m.first + (1 - b1) * u.grad;
  }
  u.param = u.param - corrected_rate(u) * first / (ops::sqrt(second) + a.real("eps"));
}

void setup_adam(Optimizer& o) {
  setup_powers(o);
  o.slot("moment1");
  o.slot("moment2");
  if (o.args.signature().index("use_amsgrad") >= 0 && o.args.boolean("use_amsgrad")) {
    if (o.args.boolean("use_nesterov")) {
      value_error("Adam: use_amsgrad and use_nesterov exclude each other");
    }
    o.slot("vhat");
  }
}

constexpr OptimizerDef kAdam = {
    .name = "Adam",
    .doc =
        "m = beta1*m + (1-beta1)*g, v = beta2*v + (1-beta2)*g^2, p -= "
        "lr*sqrt(1-beta2^t)/(1-beta1^t) * "
        "m/(sqrt(v) + eps). use_nesterov takes beta1*m + (1-beta1)*g for m; use_amsgrad the "
        "largest v so "
        "far. Updates are never concurrent, so use_locking holds always. Source: Kingma and Ba, "
        "ICLR "
        "2015; Reddi et al., ICLR 2018.",
    .args = {"learning_rate: schedule = 1e-3", "beta1: float = 0.9", "beta2: float = 0.999",
             "eps: float = 1e-8", "use_locking: bool = False", "use_nesterov: bool = False",
             "weight_decay: schedule = 0.0", "loss_scale: float = 1.0",
             "use_amsgrad: bool = False"},
    .setup = setup_adam,
    .begin = next_powers,
    .update = adam_update,
};

constexpr OptimizerDef kLazyAdam = {
    .name = "LazyAdam",
    .doc =
        "Adam whose states of rows without a gradient stay as they are; gradients here are dense, "
        "and a "
        "dense gradient makes it Adam.",
    .args = {"learning_rate: schedule = 1e-3", "beta1: float = 0.9", "beta2: float = 0.999",
             "eps: float = 1e-8", "use_locking: bool = False", "use_nesterov: bool = False",
             "weight_decay: schedule = 0.0", "loss_scale: float = 1.0"},
    .setup = setup_adam,
    .begin = next_powers,
    .update = adam_update,
};

constexpr OptimizerDef kAdamOffload = {
    .name = "AdamOffload",
    .doc = "Adam computed on the host. The host is where this program computes, so it is Adam.",
    .args = {"learning_rate: schedule = 1e-3", "beta1: float = 0.9", "beta2: float = 0.999",
             "eps: float = 1e-8", "use_locking: bool = False", "use_nesterov: bool = False",
             "weight_decay: schedule = 0.0", "loss_scale: float = 1.0"},
    .setup = setup_adam,
    .begin = next_powers,
    .update = adam_update,
};

constexpr OptimizerDef kAdamWeightDecay = {
    .name = "AdamWeightDecay",
    .doc =
        "m and v as Adam, without bias correction, and weight decay apart from the gradient: p -= "
        "lr * "
        "(m/(sqrt(v) + eps) + weight_decay*p). Source: Loshchilov and Hutter, \"Decoupled weight "
        "decay "
        "regularization\", ICLR 2019; Devlin et al. 2019 leave the correction out.",
    .args = {"learning_rate: schedule = 1e-3", "beta1: float = 0.9", "beta2: float = 0.999",
             "eps: float = 1e-6", "weight_decay: schedule = 0.0"},
    .setup =
        [](Optimizer& o) {
          check_betas(o);
          o.slot("adam_m");
          o.slot("adam_v");
        },
    .update =
        [](Update& u) {
          Moments m = next_moments(u);
          Tensor step = m.first / (ops::sqrt(m.second) + u.optimizer.args.real("eps"));
          if (u.decay) step = step + u.decay * u.param;
          u.param = u.param - u.lr * step;
        },
    .own_decay = true,
};

constexpr OptimizerDef kAdaMax = {
    .name = "AdaMax",
    .doc =
        "Adam with the largest gradient instead of the second moment: m = beta1*m + (1-beta1)*g, v "
        "= "
        "max(beta2*v, |g|), p -= lr/(1-beta1^t) * m/(v + eps). Source: Kingma and Ba, ICLR 2015, "
        "section 7.",
    .args = {"learning_rate: schedule = 0.001", "beta1: float = 0.9", "beta2: float = 0.999",
             "eps: float = 1e-08", "weight_decay: schedule = 0.0", "loss_scale: float = 1.0"},
    .setup =
        [](Optimizer& o) {
          check_betas(o);
          o.shared("beta1_power", 1);
          o.slot("moment1");
          o.slot("moment2");
        },
    .begin =
        [](Optimizer& o) {
          o.assign_shared("beta1_power", o.shared_value("beta1_power") * o.args.real("beta1"));
        },
    .update =
        [](Update& u) {
          const Args& a = u.optimizer.args;
          double b1 = a.real("beta1"), b2 = a.real("beta2");
          Tensor m = b1 * u.state[0] + (1 - b1) * u.grad;
          Tensor v = ops::maximum(b2 * u.state[1], ops::abs(u.grad));
          u.state[0] = m;
          u.state[1] = v;
          Tensor rate = u.lr / (1.0 - u.optimizer.shared_value("beta1_power"));
          u.param = u.param - rate * m / (v + a.real("eps"));
        },
};

// Euclidean norm of a whole tensor, 0-d.
Tensor norm(const Tensor& t) { return ops::sqrt(ops::reduce_sum_square(t)); }

constexpr OptimizerDef kLamb = {
    .name = "Lamb",
    .doc =
        "Adam with bias correction and decoupled weight decay, u = m^/(sqrt(v^) + eps) + "
        "weight_decay*p, "
        "whose length is set by the parameter's: p -= lr * |p|/|u| * u (factor 1 where a norm is "
        "0). "
        "Source: You et al., \"Large batch optimization for deep learning\", ICLR 2020.",
    .args = {"learning_rate: schedule", "beta1: float = 0.9", "beta2: float = 0.999",
             "eps: float = 1e-6", "weight_decay: schedule = 0.0"},
    .setup =
        [](Optimizer& o) {
          check_betas(o);
          o.slot("lamb_m");
          o.slot("lamb_v");
        },
    .update =
        [](Update& u) {
          const Args& a = u.optimizer.args;
          Moments m = next_moments(u);
          Tensor t = u.optimizer.step_number();
          Tensor c1 = 1.0 - ops::pow(number(t, a.real("beta1")), t);
          Tensor c2 = 1.0 - ops::pow(number(t, a.real("beta2")), t);
          Tensor step = (m.first / c1) / (ops::sqrt(m.second / c2) + a.real("eps"));
          if (u.decay) step = step + u.decay * u.param;
          Tensor w = norm(u.param), s = norm(step), one = number(w, 1), zero = number(w, 0);
          Tensor both = ops::logical_and(ops::greater(w, zero), ops::greater(s, zero));
          Tensor trust = ops::select(both, w / ops::select(both, s, one), one);
          u.param = u.param - (u.lr * trust) * step;
        },
    .own_decay = true,
};

}  // namespace

OptimizerDefs adam_optimizers() {
  return {&kAdam, &kLazyAdam, &kAdamOffload, &kAdamWeightDecay, &kAdaMax, &kLamb};
}

}  // namespace mycel::nn
