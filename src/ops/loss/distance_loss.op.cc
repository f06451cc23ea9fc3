// Losses of distances and margins between vectors.
#include <algorithm>

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

Value sum_along(Value v, int axis) { return kReduceSum({v}, {Attr::Ints{axis}}); }

// x·y / max(|x| |y|, eps) along an axis.
Value cosine(Value x, Value y, int axis, double eps) {
  // The limit on the product of squares keeps the square root away from 0, where it has no
  // derivative.
  Value squares = sum_along(x * x, axis) * sum_along(y * y, axis);
  return sum_along(x * y, axis) * kRsqrt({kMaximum({squares, number(squares, eps * eps)})});
}

void check_pair(const Expansion& e, int a, int b) {
  Shape s;
  if (mycel::broadcast(e.x(a).shape(), e.x(b).shape(), &s)) return;
  value_error("{}: '{}' {} and '{}' {} do not broadcast", e.op.name, e.op.inputs[a].name,
              e.x(a).type().str(), e.op.inputs[b].name, e.x(b).type().str());
}

// The positive part.
Value hinge(Value v) { return kMaximum({v, number(v, 0.0)}); }

void expand_cosine_similarity(Expansion& e) {
  check_pair(e, 0, 1);
  int rank = std::max(e.x(0).rank(), e.x(1).rank());
  int axis = normalize_axis(e.attrs.integer("dim"), rank, "cosine_similarity");
  // The axis is one of the shape that both have together.
  Value a = e.x(0) + kZerosLike({e.x(1)}), b = e.x(1) + kZerosLike({e.x(0)});
  e.result(cosine(a, b, axis, e.attrs.real("eps")));
}

// 1 - cos for pairs that belong together (target 1), the excess of cos over the margin for others
// (-1).
void expand_cosine_embedding(Expansion& e) {
  check_pair(e, 0, 1);
  double margin = e.attrs.real("margin");
  if (margin < -1 || margin > 1)
    value_error("cosine_embedding_loss: 'margin' must lie in [-1, 1], got {}", margin);
  int rank = e.x(0).rank();
  if (rank != 1 && rank != 2)
    value_error("cosine_embedding_loss: vectors must have 1 or 2 dims, got {}",
                e.x(0).type().str());
  Value cos = cosine(e.x(0), e.x(1), -1, 1e-8);
  Value target = e.x(2);
  Value zero = number(cos, 0.0);
  Value same = where(equal(target, 1.0), 1.0 - cos, zero);
  Value other = where(equal(target, -1.0), hinge(cos - margin), zero);
  e.result(reduced(e, same + other));
}

void expand_hinge_embedding(Expansion& e) {
  check_pair(e, 0, 1);
  Value x = e.x(0), y = e.x(1), zero = number(x, 0.0);
  Value same = where(equal(y, -1.0), zero, x);
  Value other = where(equal(y, 1.0), zero, hinge(e.attrs.real("margin") - x));
  e.result(reduced(e, same + other));
}

void expand_margin_ranking(Expansion& e) {
  check_pair(e, 0, 1);
  Value loss = -(e.x(2) * (e.x(0) - e.x(1))) + e.attrs.real("margin");
  e.result(reduced(e, hinge(loss)));
}

// (Σ |x - y + eps|^p)^(1/p) over the last dim.
Value distance(Value x, Value y, double p, double eps) {
  Value d = kAbs({x - y + eps});
  if (p == 1) return sum_along(d, -1);
  if (p == 2) return kSqrt({sum_along(d * d, -1)});
  Value s = sum_along(kPow({d, number(d, p)}), -1);
  return kPow({s, number(s, 1.0 / p)});
}

void expand_triplet(Expansion& e) {
  check_pair(e, 0, 1);
  check_pair(e, 0, 2);
  double p = e.attrs.real("p"), eps = e.attrs.real("eps");
  if (!(p > 0)) value_error("triplet_margin_loss: 'p' must be positive, got {}", p);
  if (e.x(0).rank() == 0) value_error("triplet_margin_loss: operands need at least 1 dim");
  Value near = distance(e.x(0), e.x(1), p, eps), far = distance(e.x(0), e.x(2), p, eps);
  if (e.attrs.boolean("swap")) far = kMinimum({far, distance(e.x(1), e.x(2), p, eps)});
  e.result(reduced(e, hinge(near - far + e.attrs.real("margin"))));
}

// Σ over the other classes of weight[t] max(0, margin - x[t] + x[c])^p / classes.
void expand_multi_margin(Expansion& e) {
  Value x = e.x(0), target = e.x(1);
  int64_t p = e.attrs.integer("p");
  if (p != 1 && p != 2) value_error("multi_margin_loss: 'p' must be 1 or 2, got {}", p);
  if (x.rank() != 1 && x.rank() != 2)
    value_error("multi_margin_loss: 'input' must have 1 or 2 dims, got {}", x.type().str());
  int axis = x.rank() - 1;
  int64_t classes = x.shape()[axis];
  if (classes == kUnknownDim) value_error("multi_margin_loss: the number of classes must be known");
  double margin = e.attrs.real("margin");
  auto pick = [&](Value v) { return kPickClass({v, target}, {axis}); };
  Value terms = hinge(x - kExpandDims({pick(x)}, {-1}) + margin);
  if (p == 2) terms = terms * terms;
  // The label's own term is margin^p, and does not count.
  Value own = hinge(number(x, margin));
  Value loss = sum_along(terms, -1) - (p == 2 ? own * own : own);
  if (e.has(2)) {
    Value weight = e.x(2);
    if (weight.rank() != 1)
      value_error("multi_margin_loss: 'weight' must have 1 dim, got {}", weight.type().str());
    loss = loss * pick(axis ? kExpandDims({weight}, {0}) : weight);
  }
  e.result(reduced(e, loss / static_cast<double>(classes)));
}

}  // namespace

#define MYCEL_REDUCTION "reduction: str(none|mean|sum) = mean"

constexpr OpDef kCosineSimilarity = check({
    .name = "cosine_similarity",
    .doc = "x1·x2 / max(|x1| |x2|, eps) along `dim`.",
    .in = {"x1: float", "x2: float"},
    .attr = {"dim: int = 1", "eps: float = 1e-8"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_cosine_similarity,
    .cases = "x1[3, 4]; x2[3, 4]; dim = 1 0 -1; bad dim = 2; bad x2[2, 4]",
});

constexpr OpDef kCosineEmbeddingLoss = check({
    .name = "cosine_embedding_loss",
    .doc = "1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1.",
    .in = {"input1: float[n, c]", "input2: float[n, c]", "target: real[n]"},
    .attr = {"margin: float = 0", MYCEL_REDUCTION},
    .shard = "none",
    .expand = expand_cosine_embedding,
    .cases = "target in {-1, 1}; no grad of target: a label; margin = 0 -0.3; reduction = none "
             "mean sum; bad margin = 2",
});

constexpr OpDef kHingeEmbeddingLoss = check({
    .name = "hinge_embedding_loss",
    .doc = "x where the target is 1, max(0, margin - x) where it is -1.",
    .in = {"inputs: float", "targets: real"},
    .attr = {"margin: float = 1", MYCEL_REDUCTION},
    .shard = "none",
    .expand = expand_hinge_embedding,
    .cases = "targets in {-1, 1}; no grad of targets: a label; margin = 1 0.5; reduction = none "
             "mean sum",
});

constexpr OpDef kMarginRankingLoss = check({
    .name = "margin_ranking_loss",
    .doc = "max(0, -target (input1 - input2) + margin).",
    .in = {"input1: float", "input2: float", "target: float"},
    .attr = {"margin: float = 0", MYCEL_REDUCTION},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_margin_ranking,
    .cases = "target in {-1, 1}; margin = 0 0.5; reduction = none mean sum; bad input1[2] "
             "input2[3] target[3]",
});

constexpr OpDef kTripletMarginLoss = check({
    .name = "triplet_margin_loss",
    .doc = "max(0, |anchor - positive| - |anchor - negative| + margin), p-norms over the last dim; "
           "with swap, the negative's "
           "distance is the smaller of those to the anchor and the positive.",
    .in = {"anchor: float[n, c]", "positive: float[n, c]", "negative: float[n, c]"},
    .attr = {"margin: float = 1", "p: float = 2", "eps: float = 1e-6", "swap: bool = False",
             MYCEL_REDUCTION},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_triplet,
    .cases = "p = 1 2 3; swap = False True; reduction = none mean sum; margin = 3; bad p = 0; bad "
             "positive[2, 5]",
});

constexpr OpDef kMultiMarginLoss = check({
    .name = "multi_margin_loss",
    .doc = "Σ over classes c other than the label t of weight[t] max(0, margin - x[t] + x[c])^p, "
           "over the number of "
           "classes.",
    .in = {"input: float[n, c]", "target: index[n]", "weight?: float[c]"},
    .attr = {"p: int = 1", "margin: float = 1", MYCEL_REDUCTION},
    .shard = "none",
    .expand = expand_multi_margin,
    .cases = "c = 4; target in ints(0, 3); weight in (0.5, 2); p = 1 2; reduction = none mean sum; "
             "bad p = 3",
    .primitive = "MultiMarginLoss(p, margin, reduction)",
});

#undef MYCEL_REDUCTION

void register_distance_losses() {
  ir::register_ops({&kCosineSimilarity, &kCosineEmbeddingLoss, &kHingeEmbeddingLoss,
                    &kMarginRankingLoss, &kTripletMarginLoss, &kMultiMarginLoss});
}

}  // namespace mycel::ops
