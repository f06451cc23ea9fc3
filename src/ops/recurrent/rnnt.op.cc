// Transducer loss (Graves 2012): minus the log of the probability of all paths through the grid of
// frames and labels that end in its corner; in a node a path emits the next label or, with a blank,
// goes to the next frame.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/elementwise/elementwise.h"
#include "ops/recurrent/log_space.h"
#include "ops/recurrent/recurrent.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using loops::LoopKind;
using loops::Nest;
using loops::Val;

namespace {

void check_operands(const TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &labels = c.shape(1);
  if (c.dtype(0) != DType::kFloat32 && c.dtype(0) != DType::kFloat64)
    c.fail_type("log_probs must be float32 or float64");
  if (x.rank() != 4 || labels.rank() != 2)
    c.fail("log_probs must be [batch, frames, labels + 1, classes] and labels [batch, labels]");
  for (int i = 2; i < 4; ++i) {
    if (c.shape(i).rank() != 1 || dims_differ(c.shape(i)[0], x[0]))
      c.fail("lengths must be [batch]");
  }
  if (dims_differ(labels[0], x[0]) ||
      (labels[1] != kUnknownDim && dims_differ(labels[1] + 1, x[2])))
    c.fail("labels must be [batch, third dim of log_probs - 1]");
  int64_t blank = c.attrs.integer("blank_label");
  if (blank < 0 || (x[3] != kUnknownDim && blank >= x[3]))
    c.fail("blank_label {} is none of the classes", blank);
}

void forward_type(TypeRuleCtx& c) {
  check_operands(c);
  const Shape& x = c.shape(0);
  c.result(c.dtype(0), {x[0]});
  c.result(c.dtype(0), {x[0], x[1], x[2]});
}

void backward_type(TypeRuleCtx& c) {
  check_operands(c);
  c.result(c.dtype(0), c.shape(0));
}

// One sample's grid: node (t, u) has consumed u labels in frame t.
struct Grid {
  Nest& nest;
  loops::Buf x, labels;
  Val most_frames, width, classes, blank;
  Val n{}, frames{}, count{};

  Grid(LoopCtx& c)
      : nest(c.nest),
        x(c.in(0)),
        labels(c.in(1)),
        most_frames(nest.number(c.in_type(0).shape[1])),
        width(nest.number(c.in_type(0).shape[2])),
        classes(nest.number(c.in_type(0).shape[3])),
        blank(nest.number(c.attrs.integer("blank_label"))) {}

  void at_sample(Val sample, loops::Buf frame_lengths, loops::Buf label_lengths) {
    n = sample;
    auto length = [&](loops::Buf b, Val most) {
      return max(min(cast(nest.load(b, n), DType::kInt64), most), int64_t{0});
    };
    frames = length(frame_lengths, most_frames);
    count = length(label_lengths, width - 1);
  }
  Val node(Val t, Val u) const { return (n * most_frames + t) * width + u; }
  Val label_place(Val t, Val u) const {
    Val place = n * (width - 1) + max(min(u, width - 2), int64_t{0});
    Val label = cast(nest.load(labels, select(width > 1, place, int64_t{0})), DType::kInt64);
    return node(t, u) * classes + max(min(label, classes - 1), int64_t{0});
  }
  Val blank_place(Val t, Val u) const { return node(t, u) * classes + blank; }
};

void forward_loops(LoopCtx& c) {
  Nest& nest = c.nest;
  const Shape& x = c.in_type(0).shape;
  DType d = c.out_type(0).dtype;
  Grid g(c);
  Val cells = nest.number(x[1] * x[2]);
  loops::Buf alpha = c.out(1);
  nest.parallel(x[0], x[1] * x[2] * 20, [&](Val n) {
    Val never = minus_infinity(nest, d), zero = nest.literal(d, 0.0);
    g.at_sample(n, c.in(2), c.in(3));
    nest.loop(cells, LoopKind::kVector, [&](Val i) { nest.store(alpha, n * cells + i, never); });
    nest.loop(g.frames, LoopKind::kSequential, [&](Val t) {
      nest.loop(g.count + 1, LoopKind::kSequential, [&](Val u) {
        Val t0 = max(t - 1, int64_t{0}), u0 = max(u - 1, int64_t{0});
        Val waited = nest.load(alpha, g.node(t0, u)) + nest.load(g.x, g.blank_place(t0, u));
        Val spoken = nest.load(alpha, g.node(t, u0)) + nest.load(g.x, g.label_place(t, u0));
        Val sum = log_add(select(t >= 1, waited, never), select(u >= 1, spoken, never));
        nest.store(alpha, g.node(t, u), select(t == 0 && u == 0, zero, sum));
      });
    });
    Val last = max(g.frames - 1, int64_t{0});
    Val total =
        nest.load(alpha, g.node(last, g.count)) + nest.load(g.x, g.blank_place(last, g.count));
    nest.store(c.out(0), n, -select(g.frames > 0, total, never));
  });
}

void backward_loops(LoopCtx& c) {
  Nest& nest = c.nest;
  const Shape& x = c.in_type(0).shape;
  DType d = c.out_type(0).dtype;
  Grid g(c);
  Val cells = nest.number(x[1] * x[2] * x[3]);
  loops::Buf beta = nest.scratch(d, x[0] * x[1] * x[2]), alpha = c.in(5);
  nest.parallel(x[0], x[1] * x[2] * (x[3] + 30), [&](Val n) {
    Val never = minus_infinity(nest, d), zero = nest.literal(d, 0.0);
    g.at_sample(n, c.in(2), c.in(3));
    Val cost = nest.load(c.in(4), n), dy = nest.load(c.in(6), n);
    nest.loop(cells, LoopKind::kVector, [&](Val i) { nest.store(c.out(), n * cells + i, zero); });
    nest.loop(g.frames, LoopKind::kSequential, [&](Val k) {
      Val t = g.frames - 1 - k, t1 = min(t + 1, g.frames - 1);
      nest.loop(g.count + 1, LoopKind::kSequential, [&](Val j) {
        Val u = g.count - j, u1 = min(u + 1, g.count);
        Val ends = t == g.frames - 1 && u == g.count;
        Val rest =
            select(ends, zero, select(t + 1 < g.frames, nest.load(beta, g.node(t1, u)), never));
        Val wait = nest.load(g.x, g.blank_place(t, u)) + rest;
        Val speak =
            select(u < g.count,
                   nest.load(g.x, g.label_place(t, u)) + nest.load(beta, g.node(t, u1)), never);
        nest.store(beta, g.node(t, u), log_add(wait, speak));
        Val here = nest.load(alpha, g.node(t, u)) + cost;
        auto share = [&](Val path) { return select(dy == 0.0, zero, -dy * exp(here + path)); };
        nest.accumulate(c.out(), g.blank_place(t, u), share(wait));
        nest.if_(u < g.count, [&] { nest.accumulate(c.out(), g.label_place(t, u), share(speak)); });
      });
    });
  });
}

}  // namespace

#define RNNT_CASES                                                                             \
  "log_probs[2, 3, 3, 4]; log_probs in (-3, -0.5); log_probs dtypes float32 "                  \
  "float64; labels[2, 2]; labels in ints(1, 3); "                                              \
  "input_lengths[2]; input_lengths in {2, 3}; label_lengths[2]; label_lengths in ints(0, 2); " \
  "skip zero_size: sizes belong together; skip scalar: sequences have dims; "

constexpr OpDef kRnntForward = check({
    .name = "rnnt_forward",
    .doc = "Transducer loss [n] of log_probs [n, frames, labels + 1, classes] (normalised over the "
           "classes) and the labels [n, labels], and the log probabilities alpha of beginnings "
           "(Graves 2012).",
    .in = {"log_probs: float[n, t, u, c]", "labels: index[n, l]", "input_lengths: index[n]",
           "label_lengths: index[n]"},
    .attr = {"blank_label: int = 0"},
    .out = {"costs", "log_alpha"},
    .type = forward_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kRnntBackward({a.x(0), a.x(1), a.x(2), a.x(3), a.y(0), a.y(1), a.dy(0)},
                                   {a.attrs()["blank_label"]});
        },
    .loops = forward_loops,
    .batch = batch_merge_all,
    .cases = RNNT_CASES
    "skip grad: alpha has no gradient, tested by a network; skip grad2: first "
    "derivatives only; bad labels[2, 3]; bad blank_label = 4; bad log_probs[2, 3, 3]",
    .internal = true,
});

constexpr OpDef kRnntBackward = check({
    .name = "rnnt_backward",
    .doc = "The gradient of rnnt_forward: minus dy times the probability, given the labels, of "
           "each step from each node; 0 where dy is 0.",
    .in = {"log_probs: float[n, t, u, c]", "labels: index[n, l]", "input_lengths: index[n]",
           "label_lengths: index[n]", "costs: float[n]", "log_alpha: float[n, t, u]",
           "dy: float[n]"},
    .attr = {"blank_label: int = 0"},
    .type = backward_type,
    .shard = "none",
    .grad = no_gradient("the transducer loss has first derivatives only"),
    .loops = backward_loops,
    .batch = batch_merge_all,
    .cases = RNNT_CASES "costs[2]; log_alpha[2, 3, 3]; dy[2]",
    .internal = true,
});

constexpr OpDef kRnntLoss = check({
    .name = "rnnt_loss",
    .doc = "The first result of rnnt_forward; 16-bit floats are computed in float32.",
    .in = {"log_probs: float[n, t, u, c]", "labels: index[n, l]", "input_lengths: index[n]",
           "label_lengths: index[n]"},
    .attr = {"blank_label: int = 0"},
    .out = {"costs"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          Value x = e.x(0);
          DType d = x.dtype();
          if (size_of(d) == 2) x = cast_to(x, DType::kFloat32);
          Value cost =
              all_results(kRnntForward, {x, e.x(1), e.x(2), e.x(3)}, {e.attrs["blank_label"]})[0];
          e.result(cast_to(cost, d));
        },
    .cases = RNNT_CASES "skip grad2: first derivatives only",
    .internal = true,
});

#undef RNNT_CASES

void register_rnnt() { ir::register_ops({&kRnntForward, &kRnntBackward, &kRnntLoss}); }

}  // namespace mycel::ops
