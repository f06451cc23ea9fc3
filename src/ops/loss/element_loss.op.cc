// Losses of one prediction against one target, element by element, then reduced.
#include <cmath>

#include "ops/elementwise/elementwise.h"
#include "ops/loss/loss.h"
#include "ops/loss/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Promote;
using ir::Value;

namespace {

// The operands must broadcast; the error of the subtraction would name `sub`.
void check_shapes(const Expansion& e) {
  Shape s;
  if (!mycel::broadcast(e.x(0).shape(), e.x(1).shape(), &s)) {
    value_error("{}: '{}' {} and '{}' {} do not broadcast", e.op.name, e.op.inputs[0].name,
                e.x(0).type().str(), e.op.inputs[1].name, e.x(1).type().str());
  }
}

Value difference(const Expansion& e) {
  check_shapes(e);
  return e.x(0) - e.x(1);
}

// Half a square near 0, straight lines outside of (-width, width): slope 1 (Huber over its delta).
Value rounded_abs(Value d, double width) {
  Value a = kAbs({d});
  return where(less(a, width), d * d * (0.5 / width), a - 0.5 * width);
}

double positive(const Expansion& e, const char* name) {
  double v = e.attrs.real(name);
  if (!(v > 0)) value_error("{}: '{}' must be positive, got {}", e.op.name, name, v);
  return v;
}

void expand_smooth_l1(Expansion& e) {
  Value d = difference(e);
  double beta = e.attrs.real("beta");
  if (beta < 0) value_error("smooth_l1_loss: 'beta' must not be negative, got {}", beta);
  e.result(reduced(e, beta == 0 ? kAbs({d}) : rounded_abs(d, beta)));
}

// Logarithms are taken no lower than log(1e-12), so that a wrong certainty costs much but not
// infinity.
Value safe_log(Value x) { return kLog({kMaximum({x, number(x, 1e-12)})}); }

void expand_bce(Expansion& e) {
  check_shapes(e);
  Value p = e.x(0), y = e.x(1);
  Value loss = -(y * safe_log(p) + (1.0 - y) * safe_log(1.0 - p));
  e.result(reduced(e, e.has(2) ? loss * e.x(2) : loss));
}

// (1 - y) x + (1 + (pos_weight - 1) y) log(1 + exp(-x)).
void expand_bce_logits(Expansion& e) {
  check_shapes(e);
  Value x = e.x(0), y = e.x(1), tail = kSoftplus({-x});
  if (e.has(3)) tail = tail * ((e.x(3) - 1.0) * y + 1.0);
  Value loss = (1.0 - y) * x + tail;
  e.result(reduced(e, e.has(2) ? loss * e.x(2) : loss));
}

// y (log y - x); 0 where y is 0.
void expand_kl_div(Expansion& e) {
  check_shapes(e);
  Value y = e.x(1), inside = where(greater(y, 0.0), y, 1.0);
  e.result(reduced(e, where(greater(y, 0.0), y * (kLog({inside}) - e.x(0)), 0.0)));
}

void expand_gaussian_nll(Expansion& e) {
  Value d = difference(e);
  Value variance = kMaximum({e.x(2), number(e.x(2), positive(e, "eps"))});
  Value loss = (kLog({variance}) + d * d / variance) * 0.5;
  if (e.attrs.boolean("full")) loss = loss + 0.5 * std::log(2 * M_PI);
  e.result(reduced(e, loss));
}

void expand_poisson_nll(Expansion& e) {
  check_shapes(e);
  Value x = e.x(0), y = e.x(1);
  Value loss =
      e.attrs.boolean("log_input") ? kExp({x}) - y * x : x - y * kLog({x + e.attrs.real("eps")});
  if (e.attrs.boolean("full")) {
    // Stirling's formula for log y!, above 1.
    Value big = kMaximum({y, number(y, 1.0)});
    Value stirling = big * kLog({big}) - big + kLog({big * (2 * M_PI)}) * 0.5;
    loss = loss + where(greater(y, 1.0), stirling, 0.0);
  }
  e.result(reduced(e, loss));
}

void expand_multilabel_soft_margin(Expansion& e) {
  check_shapes(e);
  Value x = e.x(0), y = e.x(1);
  Value loss = y * kSoftplus({-x}) + (1.0 - y) * kSoftplus({x});
  if (e.has(2)) loss = loss * e.x(2);
  e.result(reduced(e, kReduceMean({loss}, {Attr::Ints{-1}})));
}

}  // namespace

#define MYCEL_REDUCTION(start) "reduction: str(none|mean|sum) = " start

constexpr OpDef kMseLoss = check({
    .name = "mse_loss",
    .doc = "Squared difference (input - target)², reduced.",
    .in = {"input: float", "target: float"},
    .attr = {MYCEL_REDUCTION("mean")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          Value d = difference(e);
          e.result(reduced(e, d * d));
        },
    .cases = "reduction = mean none sum; at ([1, 2], [3, 5]) -> 6.5; bad input[2] target[3]; bad "
             "reduction = max",
});

constexpr OpDef kL1Loss = check({
    .name = "l1_loss",
    .doc = "Absolute difference |input - target|, reduced.",
    .in = {"input: float", "target: float"},
    .attr = {MYCEL_REDUCTION("mean")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = [](Expansion& e) { e.result(reduced(e, kAbs({difference(e)}))); },
    .cases = "reduction = mean none sum; at ([1, 2], [3, 5]) -> 2.5; bad input[2] target[3]",
});

constexpr OpDef kSmoothL1Loss = check({
    .name = "smooth_l1_loss",
    .doc = "d² / (2 beta) where |d| < beta, else |d| - beta / 2, of d = input - target; reduced.",
    .in = {"input: float", "target: float"},
    .attr = {"beta: float = 1", MYCEL_REDUCTION("none")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_smooth_l1,
    .cases = "beta = 1 0.5 0; reduction = none mean sum; at (2, 0.5) -> 1; at (1, 0.5) -> 0.125; "
             "bad beta = -1",
    .primitive = "SmoothL1Loss(beta, reduction)",
});

constexpr OpDef kHuberLoss = check({
    .name = "huber_loss",
    .doc =
        "d² / 2 where |d| < delta, else delta (|d| - delta / 2), of d = input - target; reduced.",
    .in = {"input: float", "target: float"},
    .attr = {MYCEL_REDUCTION("mean"), "delta: float = 1"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          double delta = positive(e, "delta");
          e.result(reduced(e, rounded_abs(difference(e), delta) * delta));
        },
    .cases = "reduction = none mean sum; delta = 1 0.5; at (3, 0) -> 2.5; bad delta = 0",
});

constexpr OpDef kBinaryCrossEntropy = check({
    .name = "binary_cross_entropy",
    .doc = "-weight (y log p + (1 - y) log(1 - p)) of probabilities p; logarithms are taken no "
           "lower than log(1e-12).",
    .in = {"logits: float", "labels: float", "weight?: float"},
    .attr = {MYCEL_REDUCTION("mean")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_bce,
    .cases = "logits in (0.05, 0.95); labels in (0, 1); weight in (0.5, 2); reduction = none mean "
             "sum; at (0.5, 1, 1) -> "
             "0.69314718055994531; bad logits[2] labels[3]",
    .primitive = "BinaryCrossEntropy(reduction)",
});

constexpr OpDef kBinaryCrossEntropyWithLogits = check({
    .name = "binary_cross_entropy_with_logits",
    .doc = "weight ((1 - y) x + (1 + (pos_weight - 1) y) log(1 + exp(-x))): binary cross entropy "
           "of sigmoid(x).",
    .in = {"logits: float", "label: float", "weight?: float", "pos_weight?: float"},
    .attr = {MYCEL_REDUCTION("mean")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_bce_logits,
    .cases = "label in (0, 1); weight in (0.5, 2); pos_weight in (0.5, 2); reduction = none mean "
             "sum; at (0, 1, 1, 1) -> "
             "0.69314718055994531",
    .primitive = "BCEWithLogitsLoss(reduction)",
});

constexpr OpDef kSigmoidCrossEntropyWithLogits = check({
    .name = "sigmoid_cross_entropy_with_logits",
    .doc = "(1 - y) x + log(1 + exp(-x)) for each element.",
    .in = {"predict: float", "target: float"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          check_shapes(e);
          e.result((1.0 - e.x(1)) * e.x(0) + kSoftplus({-e.x(0)}));
        },
    .cases = "target in (0, 1); at (0, 1) -> 0.69314718055994531",
    .primitive = "SigmoidCrossEntropyWithLogits()",
});

constexpr OpDef kKlDiv = check({
    .name = "kl_div",
    .doc = "Kullback-Leibler divergence y (log y - x) of probabilities y from log-probabilities x; "
           "0 where y is 0.",
    .in = {"logits: float", "labels: float"},
    .attr = {"reduction: str(none|mean|batchmean|sum) = mean"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_kl_div,
    .cases = "labels in (0.1, 1); reduction = none mean batchmean sum; at (0, 0) -> 0; bad "
             "logits[2] labels[3]",
    .primitive = "KLDivLoss(reduction)",
});

constexpr OpDef kGaussianNllLoss = check({
    .name = "gaussian_nll_loss",
    .doc = "(log v + (x - target)² / v) / 2 with v = max(var, eps); full adds log(2 π) / 2.",
    .in = {"x: float", "target: float", "var: float"},
    .attr = {"full: bool = False", "eps: float = 1e-6", MYCEL_REDUCTION("mean")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_gaussian_nll,
    .cases = "var in (0.5, 2); full = False True; reduction = none mean sum; bad eps = 0",
});

constexpr OpDef kPoissonNllLoss = check({
    .name = "poisson_nll_loss",
    .doc = "exp(x) - y x, or x - y log(x + eps) when x is no logarithm; full adds Stirling's log "
           "y! where y > 1.",
    .in = {"input: float", "target: float"},
    .attr = {"log_input: bool = True", "full: bool = False", "eps: float = 1e-8",
             MYCEL_REDUCTION("mean")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_poisson_nll,
    .cases = "input in (0.5, 2); target in (1.5, 4); log_input = True False; full = False True; "
             "reduction = mean none",
});

constexpr OpDef kSoftMarginLoss = check({
    .name = "soft_margin_loss",
    .doc = "log(1 + exp(-y x)) with labels y of -1 or 1.",
    .in = {"predict: float", "label: float"},
    .attr = {MYCEL_REDUCTION("mean")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          check_shapes(e);
          e.result(reduced(e, kSoftplus({-(e.x(0) * e.x(1))})));
        },
    .cases = "label in {-1, 1}; reduction = none mean sum; at (0, 1) -> 0.69314718055994531",
    .primitive = "SoftMarginLoss(reduction)",
});

constexpr OpDef kMultilabelSoftMarginLoss = check({
    .name = "multilabel_soft_margin_loss",
    .doc = "Mean over the classes (last dim) of the binary cross entropy of sigmoid(x), weighted "
           "per class.",
    .in = {"input: float[n, c]", "target: float[n, c]", "weight?: float[c]"},
    .attr = {MYCEL_REDUCTION("mean")},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_multilabel_soft_margin,
    .cases = "target in {0, 1}; weight in (0.5, 2); reduction = none mean sum; bad target[2, 5]",
});

#undef MYCEL_REDUCTION

void register_element_losses() {
  ir::register_ops({&kMseLoss, &kL1Loss, &kSmoothL1Loss, &kHuberLoss, &kBinaryCrossEntropy,
                    &kBinaryCrossEntropyWithLogits, &kSigmoidCrossEntropyWithLogits, &kKlDiv,
                    &kGaussianNllLoss, &kPoissonNllLoss, &kSoftMarginLoss,
                    &kMultilabelSoftMarginLoss});
}

}  // namespace mycel::ops
