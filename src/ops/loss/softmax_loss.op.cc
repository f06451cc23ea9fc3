// Softmax with cross entropy, fused, and the losses over classes made with it.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/elementwise/elementwise.h"
#include "ops/loss/loss.h"
#include "ops/loss/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::Promote;
using ir::TypeRuleCtx;
using ir::Value;
using loops::LoopKind;
using loops::Val;
using loops::Var;

namespace {

DType compute_dtype(DType t) { return is_float(t) && size_of(t) == 2 ? DType::kFloat32 : t; }
Shape without_last(Shape s) {
  s.erase(s.rank() - 1);
  return s;
}

// log Σ exp of a row of `cols` elements from `from` on, computed about its maximum.
Val log_sum_exp(loops::Nest& nest, loops::Buf x, Val from, Val cols, DType dtype) {
  Var top = nest.var(loops::constant(nest, dtype, -HUGE_VAL));
  nest.loop(cols, LoopKind::kReduce,
            [&](Val i) { top.set(max(top.get(), nest.load(x, from + i))); });
  // A row of -inf alone: subtract 0, not -inf.
  Val shift = select(isinf(top.get()), loops::constant(nest, dtype, 0.0), top.get());
  Var sum = nest.var(loops::constant(nest, dtype, 0.0));
  nest.loop(cols, LoopKind::kReduce, [&](Val i) { sum += exp(nest.load(x, from + i) - shift); });
  return shift + log(sum.get());
}

struct Rows {
  int64_t rows, cols;
};
Rows rows_of(const Shape& s) { return {s.size(0, s.rank() - 1), s[-1]}; }

// -- class indices
// -----------------------------------------------------------------------------------

void check_labels(const TypeRuleCtx& c) {
  if (c.shape(0).rank() == 0) c.fail("'logits' needs at least 1 dim");
  Shape want = without_last(c.shape(0));
  bool same = c.shape(1).rank() == want.rank();
  for (int d = 0; same && d < want.rank(); ++d) same = !dims_differ(want[d], c.shape(1)[d]);
  if (!same) c.fail("the labels must have shape {}", want.str());
}

void sparse_type(TypeRuleCtx& c) {
  check_labels(c);
  c.result(c.dtype(0), c.shape(1));
  c.result(c.dtype(0), c.shape(1));
}

void sparse_loops(LoopCtx& c) {
  loops::Nest& nest = c.nest;
  Rows s = rows_of(c.in_type(0).shape);
  DType dtype = compute_dtype(c.in_type(0).dtype);
  Val cols = nest.number(s.cols), ignored = nest.number(c.attrs.integer("ignore_index"));
  nest.parallel(s.rows, 20 * s.cols, [&](Val row) {
    Val from = row * cols, lse = log_sum_exp(nest, c.in(0), from, cols, dtype);
    nest.store(c.out(1), row, lse);
    Val label = cast(nest.load(c.in(1), row), DType::kInt64);
    nest.if_(
        label >= 0 && label < cols && label != ignored,
        [&] { nest.store(c.out(0), row, lse - nest.load(c.in(0), from + label)); },
        [&] { nest.store(c.out(0), row, loops::constant(nest, dtype, 0.0)); });
  });
}

void sparse_grad(Adjoint& a) {
  if (a.has_dy(0)) {
    a.dx(0) += kSparseSoftmaxCrossEntropyDx({a.x(0), a.x(1), a.y(1), a.dy(0)}, a.attrs().all());
  }
  if (a.has_dy(1)) {
    Value softmax = kExp({a.x(0) - kExpandDims({a.y(1)}, {-1})});
    a.dx(0) += softmax * kExpandDims({a.dy(1)}, {-1});
  }
}

void sparse_dx_type(TypeRuleCtx& c) {
  check_labels(c);
  c.result(c.dtype(0), c.shape(0));
}

void sparse_dx_loops(LoopCtx& c) {
  loops::Nest& nest = c.nest;
  Rows s = rows_of(c.in_type(0).shape);
  DType dtype = compute_dtype(c.in_type(0).dtype);
  Val cols = nest.number(s.cols), ignored = nest.number(c.attrs.integer("ignore_index"));
  nest.parallel(s.rows, 16 * s.cols, [&](Val row) {
    Val from = row * cols, lse = nest.load(c.in(2), row);
    Val label = cast(nest.load(c.in(1), row), DType::kInt64);
    Val zero = loops::constant(nest, dtype, 0.0), one = loops::constant(nest, dtype, 1.0);
    Val dy = select(label != ignored, nest.load(c.in(3), row), zero);
    nest.loop(cols, LoopKind::kVector, [&](Val i) {
      Val p = exp(nest.load(c.in(0), from + i) - lse);
      nest.store(c.out(), from + i, (p - select(label == i, one, zero)) * dy);
    });
  });
}

// The element of each row's label, and zero for an ignored one: everything in ops that have
// gradients.
void expand_sparse_dx(Expansion& e) {
  Value logits = e.x(0), labels = e.x(1), dy = e.x(3);
  double ignored = static_cast<double>(e.attrs.integer("ignore_index"));
  Value kept = where(not_equal(labels, ignored), dy, 0.0);
  Value softmax = kExp({logits - kExpandDims({e.x(2)}, {-1})});
  Value places = kPlaceClass({kept, labels, logits}, {logits.rank() - 1, e.attrs["ignore_index"]});
  e.result(softmax * kExpandDims({kept}, {-1}) - places);
}

// -- distributions
// -----------------------------------------------------------------------------------

void dense_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &labels = c.shape(1);
  if (x.rank() == 0) c.fail("'logits' needs at least 1 dim");
  bool same = x.rank() == labels.rank();
  for (int d = 0; same && d < x.rank(); ++d) same = !dims_differ(x[d], labels[d]);
  if (!same) c.fail("logits and labels must have one shape");
  c.result(c.dtype(0), without_last(x));
  c.result(c.dtype(0), x);
}

void dense_loops(LoopCtx& c) {
  loops::Nest& nest = c.nest;
  Rows s = rows_of(c.in_type(0).shape);
  DType dtype = compute_dtype(c.in_type(0).dtype);
  Val cols = nest.number(s.cols);
  nest.parallel(s.rows, 36 * s.cols, [&](Val row) {
    Val from = row * cols, lse = log_sum_exp(nest, c.in(0), from, cols, dtype);
    Var loss = nest.var(loops::constant(nest, dtype, 0.0));
    nest.loop(cols, LoopKind::kReduce, [&](Val i) {
      // A class of probability 0 costs nothing, however small its logit.
      Val label = nest.load(c.in(1), from + i), zero = loops::constant(nest, dtype, 0.0);
      loss += select(label == zero, zero, label * (lse - nest.load(c.in(0), from + i)));
    });
    nest.store(c.out(0), row, loss);
    nest.loop(cols, LoopKind::kVector, [&](Val i) {
      nest.store(c.out(1), from + i,
                 exp(nest.load(c.in(0), from + i) - lse) - nest.load(c.in(1), from + i));
    });
  });
}

void dense_grad(Adjoint& a) {
  Value labels = a.x(1), softmax = a.y(1) + labels;
  auto sum = [](Value v) { return kReduceSum({v}, {Attr::Ints{-1}, true}); };
  if (a.has_dy(0)) {
    Value g = kExpandDims({a.dy(0)}, {-1});
    if (a.wants(0)) a.dx(0) += g * (softmax * sum(labels) - labels);
    if (a.wants(1)) a.dx(1) -= g * kLogSoftmax({a.x(0)}, {-1});
  }
  if (a.has_dy(1)) {
    Value g = a.dy(1);
    if (a.wants(0)) a.dx(0) += softmax * (g - sum(g * softmax));
    if (a.wants(1)) a.dx(1) -= g;
  }
}

// -- composites
// --------------------------------------------------------------------------------------

// The class axis: 1, or 0 without a batch.
int class_axis(const Value& v) { return v.rank() > 1 ? 1 : 0; }

int64_t classes_of(const Expansion& e, const Value& logits) {
  if (logits.rank() == 0)
    value_error("{}: '{}' needs at least 1 dim", e.op.name, e.op.inputs[0].name);
  int64_t n = logits.shape()[class_axis(logits)];
  if (n == kUnknownDim) value_error("{}: the number of classes must be known", e.op.name);
  if (e.has(2) && !(e.x(2).rank() == 1 && !dims_differ(e.x(2).shape()[0], n))) {
    value_error("{}: 'weight' must have shape [{}], got {}", e.op.name, n, e.x(2).type().str());
  }
  return n;
}

// weight[c] under the dims of logits.
Value weight_like(Value weight, const Value& logits) {
  for (int d = class_axis(logits) + 1; d < logits.rank(); ++d) weight = kExpandDims({weight}, {-1});
  if (logits.rank() > 1) weight = kExpandDims({weight}, {0});
  return weight;
}

struct Terms {
  Value loss;    // per label, 0 where ignored
  Value weight;  // of each label, 0 where ignored
};

// -log p of each label, weighted and smoothed.
Terms nll_terms(const Expansion& e, Value log_p, Value labels) {
  int64_t classes = classes_of(e, log_p);
  int axis = class_axis(log_p);
  double smoothing = e.attrs.real("label_smoothing");
  if (smoothing < 0 || smoothing > 1)
    value_error("{}: 'label_smoothing' must lie in [0, 1], got {}", e.op.name, smoothing);
  auto pick = [&](Value x) { return kPickClass({x, labels}, {axis, e.attrs["ignore_index"]}); };
  Value ones = where(not_equal(labels, static_cast<double>(e.attrs.integer("ignore_index"))),
                     number(log_p, 1.0), 0.0);
  Terms t{-pick(log_p), ones};
  Value weight;
  if (e.has(2)) {
    weight = weight_like(e.x(2), log_p);
    t.weight = pick(weight);
    t.loss = t.loss * t.weight;
  }
  if (smoothing > 0) {
    Value all = -kReduceSum({weight ? log_p * weight : log_p}, {Attr::Ints{axis}}) * ones;
    t.loss = t.loss * (1 - smoothing) + all * (smoothing / static_cast<double>(classes));
  }
  return t;
}

// Mean: the sum over the sum of weights, so that ignored labels do not count.
Value reduced_terms(const Expansion& e, const Terms& t) {
  const std::string& how = e.attrs.string("reduction");
  if (how == "none") return t.loss;
  Value sum = kReduceSum({t.loss});
  return how == "sum" ? sum : sum / kReduceSum({t.weight});
}

void expand_nll(Expansion& e) { e.result(reduced_terms(e, nll_terms(e, e.x(0), e.x(1)))); }

void expand_cross_entropy(Expansion& e) {
  Value logits = e.x(0), target = e.x(1);
  int64_t classes = classes_of(e, logits);
  int axis = class_axis(logits);
  double smoothing = e.attrs.real("label_smoothing");
  if (is_int(target.dtype())) {
    if (axis == logits.rank() - 1 && !e.has(2) && smoothing == 0) {
      // The common case: one fused kernel a pass.
      double ignored = static_cast<double>(e.attrs.integer("ignore_index"));
      Value loss = kSparseSoftmaxCrossEntropy({logits, target}, {e.attrs["ignore_index"]});
      return e.result(
          reduced_terms(e, {loss, where(not_equal(target, ignored), number(loss, 1.0), 0.0)}));
    }
    return e.result(reduced_terms(e, nll_terms(e, kLogSoftmax({logits}, {axis}), target)));
  }
  if (target.rank() != logits.rank()) {
    value_error("cross_entropy: probabilities {} must have the shape of the logits {}",
                target.type().str(), logits.type().str());
  }
  if (smoothing < 0 || smoothing > 1)
    value_error("cross_entropy: 'label_smoothing' must lie in [0, 1], got {}", smoothing);
  if (smoothing > 0) target = target * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Value terms = target * kLogSoftmax({logits}, {axis});
  if (e.has(2)) terms = terms * weight_like(e.x(2), logits);
  e.result(reduced(e, -kReduceSum({terms}, {Attr::Ints{axis}})));
}

void expand_published_sparse(Expansion& e) {
  Value loss = kSparseSoftmaxCrossEntropy({e.x(0), e.x(1)});
  if (!e.attrs.boolean("is_grad")) return e.result(kReduceMean({loss}));
  Value logits = e.x(0);
  Value probabilities = kSoftmax({logits}, {-1});
  int64_t rows = logits.rank() > 1 ? logits.shape()[0] : 1;
  if (rows == kUnknownDim) value_error("{}: the batch size must be known for is_grad", e.op.name);
  Value ones = ones_of(loss);
  Value places = kPlaceClass({ones, e.x(1), logits}, {logits.rank() - 1});
  e.result((probabilities - places) / static_cast<double>(rows));
}

}  // namespace

constexpr OpDef kSparseSoftmaxCrossEntropy = check({
    .name = "sparse_softmax_cross_entropy",
    .doc = "Per row of logits: loss = log Σ exp(x) - x[label] (0 for ignore_index), and the "
           "logarithm itself. ValueError "
           "for a label outside [0, classes).",
    .in = {"logits: float[n, c]", "labels: index[n]"},
    .attr = {"ignore_index: int = -100"},
    .out = {"loss", "lse"},
    .type = sparse_type,
    .shard = "none",
    .grad = sparse_grad,
    .loops = sparse_loops,
    .batch = batch_leading,
    .cases = "logits[2, 3, 5]; labels[2, 3]; labels in ints(0, 4); bad labels[7] | logits[3]; "
             "labels[]; labels in ints(0, 2) | logits[4, 3]; labels[4]; labels in {0, 2, -1}; "
             "ignore_index = -1",
});

constexpr OpDef kSparseSoftmaxCrossEntropyDx = check({
    .name = "sparse_softmax_cross_entropy_dx",
    .doc = "Gradient of the loss of sparse_softmax_cross_entropy: (exp(x - lse) - [class = label]) "
           "dy.",
    .in = {"logits: float[n, c]", "labels: index[n]", "lse: float[n]", "dy: float[n]"},
    .attr = {"ignore_index: int = -100"},
    .out = {"dx"},
    .type = sparse_dx_type,
    .shard = "none",
    .loops = sparse_dx_loops,
    .expand = expand_sparse_dx,
    .cases = "c = 4; labels in ints(0, 3); lse in (1, 3)",
    .internal = true,
});

constexpr OpDef kSoftmaxCrossEntropyWithLogits = check({
    .name = "softmax_cross_entropy_with_logits",
    .doc = "Per row of logits against a distribution: loss = -Σ label log softmax(logits); the "
           "second result is softmax - "
           "labels, its gradient when the labels sum to 1.",
    .in = {"logits: float[n, c]", "labels: float[n, c]"},
    .out = {"loss", "dlogits"},
    .promote = Promote::kCommon,
    .type = dense_type,
    .shard = "none",
    .grad = dense_grad,
    .loops = dense_loops,
    .batch = batch_leading,
    .cases = "labels in prob; bad logits[2, 3] labels[3, 2] | logits[5]; labels[5]",
    .primitive = "SoftmaxCrossEntropyWithLogits()",
});

constexpr OpDef kSparseSoftmaxCrossEntropyWithLogits = check({
    .name = "sparse_softmax_cross_entropy_with_logits",
    .doc = "Mean of the cross entropy of the softmax of each row with its label; with is_grad, the "
           "gradient instead.",
    .in = {"features: float[n, c]", "labels: index[n]"},
    .attr = {"is_grad: bool = False"},
    .shard = "none",
    .expand = expand_published_sparse,
    .cases = "c = 4; labels in ints(0, 3); is_grad = False True; bad labels[5]",
    .primitive = "SparseSoftmaxCrossEntropyWithLogits(is_grad)",
});

constexpr OpDef kNllLoss = check({
    .name = "nll_loss",
    .doc = "Negative log likelihood: -weight[t] x[t] for the label t of each position, x holding "
           "log-probabilities with "
           "the classes in dim 1. The mean divides by the sum of weights; ignored labels count "
           "nothing.",
    .in = {"inputs: float[n, c, s]", "target: index[n, s]", "weight?: float[c]"},
    .attr = {"ignore_index: int = -100", "reduction: str(none|mean|sum) = mean",
             "label_smoothing: float = 0"},
    .shard = "none",
    .expand = expand_nll,
    .cases = "inputs[n, c]; target[n]; c = 4; target in ints(0, 3) | inputs[3, "
             "4, 2]; target[3, 2]; weight[4]; target in {0, 3, -1}; ignore_index = -1; weight in "
             "(0.5, 2); reduction = "
             "none mean sum; label_smoothing = 0 0.1; bad weight[3] | inputs[4]; target[]; "
             "weight[4]; target in ints(0, "
             "3)",
});

constexpr OpDef kCrossEntropy = check({
    .name = "cross_entropy",
    .doc = "Cross entropy of softmax(input) over dim 1 with labels (class indices) or "
           "distributions of input's shape; "
           "label_smoothing mixes the target with the uniform distribution.",
    .in = {"input: float[n, c]", "target: any[n]", "weight?: float[c]"},
    .attr = {"ignore_index: int = -100", "reduction: str(none|mean|sum) = mean",
             "label_smoothing: float = 0"},
    .shard = "none",
    .expand = expand_cross_entropy,
    .cases = "input[3, 4]; target[3, 4]; weight[4]; target in prob; weight in (0.5, 2); reduction "
             "= none mean sum; "
             "label_smoothing = 0 0.1; target dtypes float64 float32; bad weight[3]",
});

void register_softmax_losses() {
  ir::register_ops({&kSparseSoftmaxCrossEntropy, &kSparseSoftmaxCrossEntropyDx,
                    &kSoftmaxCrossEntropyWithLogits, &kSparseSoftmaxCrossEntropyWithLogits,
                    &kNllLoss, &kCrossEntropy});
}

}  // namespace mycel::ops
