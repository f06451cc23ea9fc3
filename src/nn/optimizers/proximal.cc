// Rules that end in a shrinking step, so that parameters become exactly zero.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/optimizer.h"

namespace mycel::nn {
namespace {

constexpr OptimizerDef kFTRL = {
    .name = "FTRL",
    .doc =
        "Follow the regularized leader: n' = n + g^2, z += g - (n'^-lr_power - n^-lr_power)/lr*p, "
        "p = "
        "(sign(z)*l1 - z)/(n'^-lr_power/lr + 2*l2) where |z| > l1, else 0. Source: McMahan et al., "
        "KDD "
        "2013.",
    .args = {"initial_accum: float = 0.1", "learning_rate: schedule = 0.001",
             "lr_power: float = -0.5", "l1: float = 0.0", "l2: float = 0.0",
             "use_locking: bool = False", "loss_scale: float = 1.0",
             "weight_decay: schedule = 0.0"},
    .setup =
        [](Optimizer& o) {
          o.args.not_negative("l1");
          o.args.not_negative("l2");
          if (o.args.real("lr_power") > 0) {
            value_error("FTRL: 'lr_power' must not be positive, got {}", o.args.real("lr_power"));
          }
          o.slot("moments", o.args.not_negative("initial_accum"));
          o.slot("linear");
        },
    .update =
        [](Update& u) {
          const Args& a = u.optimizer.args;
          double l1 = a.real("l1"), power = -a.real("lr_power");
          auto raised = [&](const Tensor& n) {
            return power == 0.5 ? ops::sqrt(n) : ops::pow(n, number(n, power));
          };
          Tensor n = u.state[0], grown = n + ops::square(u.grad);
          Tensor old_rate = raised(n), new_rate = raised(grown);
          Tensor z = u.state[1] + u.grad - (new_rate - old_rate) / u.lr * u.param;
          Tensor shrunk = (ops::sign(z) * l1 - z) / (new_rate / u.lr + 2 * a.real("l2"));
          u.param = ops::select(ops::greater(ops::abs(z), number(z, l1)), shrunk, number(z, 0));
          u.state[0] = grown;
          u.state[1] = z;
        },
};

constexpr OptimizerDef kProximalAdagrad = {
    .name = "ProximalAdagrad",
    .doc =
        "a += g^2, r = lr/sqrt(a), q = p - r*g, p = sign(q)*max(|q| - r*l1, 0)/(1 + r*l2). Source: "
        "Duchi "
        "and Singer, JMLR 2009.",
    .args = {"accum: float = 0.1", "learning_rate: schedule = 0.001", "l1: float = 0.0",
             "l2: float = 0.0", "use_locking: bool = False", "loss_scale: float = 1.0",
             "weight_decay: schedule = 0.0"},
    .setup =
        [](Optimizer& o) {
          o.args.not_negative("l1");
          o.args.not_negative("l2");
          o.slot("accum", o.args.not_negative("accum"));
        },
    .update =
        [](Update& u) {
          double l1 = u.optimizer.args.real("l1"), l2 = u.optimizer.args.real("l2");
          Tensor a = u.state[0] + ops::square(u.grad);
          u.state[0] = a;
          Tensor r = u.lr * ops::rsqrt(a), q = u.param - r * u.grad;
          if (l1 > 0) q = ops::sign(q) * ops::maximum(ops::abs(q) - r * l1, number(q, 0));
          u.param = l2 > 0 ? q / (1.0 + r * l2) : q;
        },
};

}  // namespace

OptimizerDefs proximal_optimizers() { return {&kFTRL, &kProximalAdagrad}; }

}  // namespace mycel::nn
