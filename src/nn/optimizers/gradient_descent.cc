// SGD, Momentum, ASGD, Rprop: rules that follow the gradient itself.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/optimizer.h"

namespace mycel::nn {
namespace {

constexpr OptimizerDef kSGD = {
    .name = "SGD",
    .doc =
        "Stochastic gradient descent with momentum and dampening: v = momentum*v + (1-dampening)*g "
        "(v = g at the first step), p -= lr*v; nesterov: p -= lr*(g + momentum*v). Weight decay "
        "applies to every parameter. Source: Sutskever et al., ICML 2013.",
    .args = {"learning_rate: schedule = 0.1", "momentum: float = 0.0", "dampening: float = 0.0",
             "weight_decay: schedule = 0.0", "nesterov: bool = False", "loss_scale: float = 1.0"},
    .setup =
        [](Optimizer& o) {
          double momentum = o.args.not_negative("momentum"),
                 damp = o.args.not_negative("dampening");
          if (o.args.boolean("nesterov") && (momentum <= 0 || damp != 0)) {
            value_error(
                "SGD: nesterov needs momentum > 0 and dampening 0, got momentum {}, dampening {}",
                momentum, damp);
          }
          o.slot("accum");
          o.slot("stat", 1);  // 1 until the first step has been made
        },
    .update =
        [](Update& u) {
          const Args& a = u.optimizer.args;
          double momentum = a.real("momentum"), damp = a.real("dampening");
          if (momentum == 0) {
            u.param = u.param - u.lr * u.grad;
            return;
          }
          Tensor v = momentum * u.state[0] + (1 - damp) * u.grad;
          if (damp != 0) v = v + damp * u.state[1] * u.grad;  // undamped while stat is 1
          u.state[0] = v;
          u.state[1] = ops::zeros_like(u.state[1]);
          u.param = u.param - u.lr * (a.boolean("nesterov") ? u.grad + momentum * v : v);
        },
    .decays_all = true,
};

constexpr OptimizerDef kMomentum = {
    .name = "Momentum",
    .doc =
        "v = momentum*v + g, p -= lr*v; with use_nesterov p -= lr*(g + momentum*v). Source: "
        "Sutskever "
        "et al., \"On the importance of initialization and momentum in deep learning\", ICML 2013.",
    .args = {"learning_rate: schedule", "momentum: float", "weight_decay: schedule = 0.0",
             "loss_scale: float = 1.0", "use_nesterov: bool = False"},
    .setup =
        [](Optimizer& o) {
          o.args.not_negative("momentum");
          o.slot("moments");
        },
    .update =
        [](Update& u) {
          double momentum = u.optimizer.args.real("momentum");
          Tensor v = momentum * u.state[0] + u.grad;
          u.state[0] = v;
          bool nesterov = u.optimizer.args.boolean("use_nesterov");
          u.param = u.param - u.lr * (nesterov ? u.grad + momentum * v : v);
        },
};

constexpr OptimizerDef kASGD = {
    .name = "ASGD",
    .doc =
        "Averaged stochastic gradient descent: eta = lr/(1 + lambd*lr*t)^alpha, p = p*(1 - "
        "lambd*eta) - "
        "eta*g; `ax` holds the average of p since step t0. Source: Polyak and Juditsky, 1992.",
    .args = {"learning_rate: schedule = 0.1", "lambd: float = 1e-4", "alpha: float = 0.75",
             "t0: float = 1e6", "weight_decay: schedule = 0.0"},
    .setup =
        [](Optimizer& o) {
          o.slot("eta", 0, [](const Shape&) { return Shape{}; });
          o.slot("mu", 1, [](const Shape&) { return Shape{}; });
          o.slot("ax");
        },
    .update =
        [](Update& u) {
          const Args& a = u.optimizer.args;
          Tensor t = u.optimizer.step_number();
          // eta of this step was set by the one before; the first takes the learning rate.
          Tensor first = ops::cast(ops::equal(t, number(t, 1)), DType::kFloat32);
          Tensor eta = first * u.lr + (1.0 - first) * u.state[0];
          Tensor p = u.param * (1.0 - a.real("lambd") * eta) - eta * u.grad;
          u.param = p;
          u.state[2] = u.state[2] + u.state[1] * (p - u.state[2]);
          u.state[0] =
              u.lr / ops::pow(1.0 + a.real("lambd") * u.lr * t, number(t, a.real("alpha")));
          u.state[1] = 1.0 / ops::maximum(t - a.real("t0"), number(t, 1));
        },
};

constexpr OptimizerDef kRprop = {
    .name = "Rprop",
    .doc =
        "Resilient propagation: each element has its own step size, times etas[1] while its "
        "gradient "
        "keeps its sign, times etas[0] when it changes (and no step then), within step_sizes; p -= "
        "sign(g)*step. Source: Riedmiller and Braun, 1993.",
    .args = {"learning_rate: schedule = 0.1", "etas: float[2] = [0.5, 1.2]",
             "step_sizes: float[2] = [1e-6, 50.0]", "weight_decay: schedule = 0.0"},
    .setup =
        [](Optimizer& o) {
          const auto& etas = o.args.floats("etas");
          const auto& steps = o.args.floats("step_sizes");
          if (!(0 < etas[0] && etas[0] < 1 && etas[1] > 1)) {
            value_error("Rprop: 'etas' must be (below 1, above 1), got ({}, {})", etas[0], etas[1]);
          }
          if (!(0 < steps[0] && steps[0] <= steps[1])) {
            value_error(
                "Rprop: 'step_sizes' must be (smallest, largest), both positive, got ({}, {})",
                steps[0], steps[1]);
          }
          o.slot("prev");
          o.slot("step_size");
        },
    .update =
        [](Update& u) {
          const auto& etas = u.optimizer.args.floats("etas");
          const auto& bounds = u.optimizer.args.floats("step_sizes");
          Tensor t = u.optimizer.step_number(), zero = number(u.grad, 0);
          Tensor first = ops::cast(ops::equal(t, number(t, 1)), DType::kFloat32);
          Tensor size = first * u.lr + (1.0 - first) * u.state[1];
          Tensor sign = u.grad * u.state[0];
          Tensor flips = ops::less(sign, zero);
          Tensor factor =
              ops::select(ops::greater(sign, zero), number(u.grad, etas[1]),
                          ops::select(flips, number(u.grad, etas[0]), number(u.grad, 1)));
          size = ops::minimum(ops::maximum(size * factor, number(u.grad, bounds[0])),
                              number(u.grad, bounds[1]));
          Tensor g = ops::select(flips, zero, u.grad);
          u.param = u.param - ops::sign(g) * size;
          u.state[0] = g;
          u.state[1] = size;
        },
};

}  // namespace

OptimizerDefs gradient_descent_optimizers() { return {&kSGD, &kMomentum, &kASGD, &kRprop}; }

}  // namespace mycel::nn
