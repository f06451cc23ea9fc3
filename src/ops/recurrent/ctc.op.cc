// Connectionist temporal classification (Graves et al. 2006): minus the log of the probability of
// all frame by frame paths that read as the target once repeats are merged and blanks dropped.
//
// States are the target with a blank before, behind and between: s = 0 … 2 length; alpha[t, s] is
// the log probability of all beginnings of paths that are in state s at frame t, beta[t, s] that of
// all continuations from there.
#include "base/error.h"
#include "ir/adjoint.h"
#include "ir/batching.h"
#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/recurrent/log_space.h"
#include "ops/recurrent/recurrent.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using loops::LoopKind;
using loops::Nest;
using loops::Val;
using Ints = Attr::Ints;

namespace {

void check_operands(const TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &targets = c.shape(1);
  if (c.dtype(0) != DType::kFloat32 && c.dtype(0) != DType::kFloat64)
    c.fail_type("log_probs must be float32 or float64");
  if (x.rank() != 3 || targets.rank() != 2)
    c.fail("log_probs must be [frames, batch, classes] and targets [batch, length]");
  for (int i = 2; i < 4; ++i) {
    if (c.shape(i).rank() != 1 || dims_differ(c.shape(i)[0], x[1]))
      c.fail("input_lengths and target_lengths must be [batch]");
  }
  if (dims_differ(targets[0], x[1])) c.fail("there must be a target for each sample");
  int64_t blank = c.attrs.integer("blank");
  if (blank < 0 || (x[2] != kUnknownDim && blank >= x[2]))
    c.fail("blank {} is none of the classes", blank);
}

void ctc_forward_type(TypeRuleCtx& c) {
  check_operands(c);
  const Shape& x = c.shape(0);
  int64_t length = c.shape(1)[1];
  c.result(c.dtype(0), {x[1]});
  c.result(c.dtype(0), {x[1], x[0], length == kUnknownDim ? kUnknownDim : 2 * length + 1});
}

void ctc_backward_type(TypeRuleCtx& c) {
  check_operands(c);
  c.result(c.dtype(0), c.shape(0));
}

// What both directions read of one sample, prepared before the first frame: the class of each state
// and what it costs (0 or -inf) to come from the state two before. Rows of states have two more
// places, always -inf, so that no step asks for the border.
struct Lattice {
  Nest& nest;
  DType d;
  loops::Buf x, targets, classes_of, skip_cost;
  Val batch, classes, longest, width, padded, blank;
  bool merge;
  Val n{}, frames{}, states{}, own{};

  Lattice(LoopCtx& c)
      : nest(c.nest),
        d(c.out_type(0).dtype),
        x(c.in(0)),
        targets(c.in(1)),
        classes_of(nest.scratch(DType::kInt64, rows(c))),
        skip_cost(nest.scratch(d, rows(c))),
        batch(nest.number(c.in_type(0).shape[1])),
        classes(nest.number(c.in_type(0).shape[2])),
        longest(nest.number(c.in_type(1).shape[1])),
        width(nest.number(2 * c.in_type(1).shape[1] + 1)),
        padded(nest.number(2 * c.in_type(1).shape[1] + 3)),
        blank(nest.number(c.attrs.integer("blank"))),
        merge(c.attrs.boolean("merge_repeated")) {}

  // Elements of one row of states for each sample.
  static int64_t rows(const LoopCtx& c) {
    return c.in_type(0).shape[1] * (2 * c.in_type(1).shape[1] + 3);
  }
  Val never() const { return minus_infinity(nest, d); }

  // Lengths out of range are refused before the kernel; these bounds keep it inside its buffers.
  void at_sample(Val sample, Val most_frames, loops::Buf input_lengths, loops::Buf target_lengths) {
    n = sample, own = n * padded;
    auto length = [&](loops::Buf b, Val most) {
      return max(min(cast(nest.load(b, n), DType::kInt64), most), int64_t{0});
    };
    frames = length(input_lengths, most_frames);
    states = length(target_lengths, longest) * 2 + 1;
    nest.loop(padded, LoopKind::kVector, [&](Val s) {
      nest.store(classes_of, own + s, blank);
      nest.store(skip_cost, own + s, never());
    });
    nest.loop(states / 2, LoopKind::kSequential, [&](Val i) {
      Val label = cast(nest.load(targets, n * longest + i), DType::kInt64);
      label = max(min(label, classes - 1), int64_t{0});
      Val s = own + i * 2 + 1;
      nest.store(classes_of, s, label);
      Val before = nest.load(classes_of, max(s - 2, own));
      Val open = label != blank && i >= 1;
      if (merge) open = open && label != before;
      nest.store(skip_cost, s, select(open, nest.literal(d, 0.0), never()));
    });
  }
  Val class_at(Val s) const { return nest.load(classes_of, own + s); }
  Val probability(Val t, Val s) const {
    return nest.load(x, (t * batch + n) * classes + class_at(s));
  }
  // The log probability v of a path that stays in s.
  Val stay(Val v, Val s) const { return merge ? v : select(class_at(s) == blank, v, never()); }
};

void ctc_forward_loops(LoopCtx& c) {
  Nest& nest = c.nest;
  const Shape& x = c.in_type(0).shape;
  int64_t width = 2 * c.in_type(1).shape[1] + 1;
  Lattice l(c);
  Val frames = nest.number(x[0]), all = nest.number(x[0] * width);
  loops::Buf alpha = c.out(1), row = nest.scratch(l.d, 2 * Lattice::rows(c));
  nest.parallel(x[1], x[0] * width * 20, [&](Val n) {
    l.at_sample(n, frames, c.in(2), c.in(3));
    Val first = n * all, rows = n * 2 * l.padded;
    nest.loop(all, LoopKind::kVector, [&](Val i) { nest.store(alpha, first + i, l.never()); });
    // The state before the first frame: a step from it reaches states 0 and 1.
    nest.loop(l.padded * 2, LoopKind::kVector,
              [&](Val i) { nest.store(row, rows + i, l.never()); });
    nest.store(row, rows + 1, nest.literal(l.d, 0.0));
    loops::Var total = nest.var(select(l.states == 1, nest.literal(l.d, 0.0), l.never()));
    nest.loop(l.frames, LoopKind::kSequential, [&](Val t) {
      // State s stands at place s + 2.
      Val before = rows + t % 2 * l.padded, now = rows + (t + 1) % 2 * l.padded;
      nest.loop(l.states, LoopKind::kVector, [&](Val s) {
        Val skip = nest.load(row, before + s) + nest.load(l.skip_cost, l.own + s);
        // Before the first frame place 1 is the start, which state 1 reaches over a blank.
        skip = select(t == 0 && s == 1, nest.load(row, before + 1), skip);
        Val sum = log_add(l.stay(nest.load(row, before + s + 2), s), nest.load(row, before + s + 1),
                          skip);
        sum = sum + l.probability(t, s);
        nest.store(row, now + s + 2, sum);
        nest.store(alpha, first + t * l.width + s, sum);
      });
      // The start is behind: nothing comes from it any more.
      nest.store(row, rows + 1, l.never());
    });
    // Paths end in the last label or the blank behind it.
    nest.if_(l.frames > 0, [&] {
      Val last = rows + l.frames % 2 * l.padded + l.states + 1;
      total.set(log_add(nest.load(row, last), nest.load(row, last - 1)));
    });
    nest.store(c.out(0), n, -total.get());
  });
}

void ctc_backward_loops(LoopCtx& c) {
  Nest& nest = c.nest;
  const Shape& x = c.in_type(0).shape;
  int64_t width = 2 * c.in_type(1).shape[1] + 1;
  Lattice l(c);
  Val frames = nest.number(x[0]);
  // beta of a frame, and with the probabilities of the frame; shares of the states.
  loops::Buf beta = nest.scratch(l.d, Lattice::rows(c)),
             onward = nest.scratch(l.d, Lattice::rows(c)),
             share = nest.scratch(l.d, Lattice::rows(c)), alpha = c.in(5);
  nest.parallel(x[1], x[0] * (width * 30 + x[2]), [&](Val n) {
    Val zero = nest.literal(l.d, 0.0);
    l.at_sample(n, frames, c.in(2), c.in(3));
    Val loss = nest.load(c.in(4), n), dy = nest.load(c.in(6), n);
    nest.loop(frames, LoopKind::kSequential, [&](Val t) {
      nest.loop(l.classes, LoopKind::kVector,
                [&](Val k) { nest.store(c.out(), (t * l.batch + n) * l.classes + k, zero); });
    });
    nest.loop(l.padded, LoopKind::kVector, [&](Val s) {
      Val ends = s >= l.states - 2 && s < l.states;
      nest.store(beta, l.own + s, select(ends, zero, l.never()));
      nest.store(onward, l.own + s, l.never());
    });
    nest.loop(l.frames, LoopKind::kSequential, [&](Val k) {
      Val t = l.frames - 1 - k;
      Val out = (t * l.batch + n) * l.classes, path = (n * frames + t) * l.width;
      nest.loop(l.states, LoopKind::kVector, [&](Val s) {
        Val rest = nest.load(beta, l.own + s);
        nest.store(onward, l.own + s, rest + l.probability(t, s));
        Val p = exp(nest.load(alpha, path + s) + rest + loss);
        nest.store(share, l.own + s, select(dy == 0.0, zero, -dy * p));
      });
      // Every second state is a blank: their shares meet in a register.
      loops::Var blanks = nest.var(nest.literal(l.d, 0.0));
      nest.loop(l.states / 2 + 1, LoopKind::kReduce,
                [&](Val i) { blanks += nest.load(share, l.own + i * 2); });
      nest.accumulate(c.out(), out + l.blank, blanks.get());
      nest.loop(l.states / 2, LoopKind::kSequential, [&](Val i) {
        Val s = i * 2 + 1;
        nest.accumulate(c.out(), out + l.class_at(s), nest.load(share, l.own + s));
      });
      nest.loop(l.states, LoopKind::kVector, [&](Val s) {
        Val skip = nest.load(onward, l.own + s + 2) + nest.load(l.skip_cost, l.own + s + 2);
        Val sum = log_add(l.stay(nest.load(onward, l.own + s), s), nest.load(onward, l.own + s + 1),
                          skip);
        nest.store(beta, l.own + s, sum);
      });
    });
  });
}

// Examples are further samples: operands and results [batch, n, …] meet as [batch n, …], those with
// frames in front as [frames, batch n, …].
bool batch_ctc(ir::Batching& b) {
  const Shape& x = b.shape(0);
  if (!x.known()) return false;
  int64_t frames = x[0], samples = x[1], classes = x[2], all = b.size * samples;
  std::vector<Value> in;
  for (int i = 0; i < b.inputs(); ++i) {
    Value v = b.spread(i);
    if (i == 0) v = kTranspose({v}, {Ints{1, 0, 2, 3}});
    Shape s = b.shape(i);
    s.set(i == 0 ? 1 : 0, all);
    if (!s.known()) return false;
    in.push_back(b.reshape(v, s));
  }
  ir::Node* n = b.graph.add(*b.node.op, in, b.node.attrs, b.node.loc);
  for (uint32_t j = 0; j < n->types.size(); ++j) {
    Value y = n->out(j);
    if (y.shape() == Shape{frames, all, classes} && n->types.size() == 1) {
      y = kTranspose({b.reshape(y, Shape{frames, b.size, samples, classes})}, {Ints{1, 0, 2, 3}});
    } else {
      y = b.reshape(y, b.with_batch(b.out_shape(static_cast<int>(j))));
    }
    b.give(y);
  }
  return true;
}

void ctc_forward_grad(Adjoint& a) {
  a.dx(0) += kCtcBackward({a.x(0), a.x(1), a.x(2), a.x(3), a.y(0), a.y(1), a.dy(0)},
                          {a.attrs()["blank"], a.attrs()["merge_repeated"]});
}

// Targets of all samples one after the other as rows of one length.
Value rows_of(Value joined, Value lengths) {
  Value ends = kCumsum({cast_to(lengths, DType::kInt64)}, {0});
  Value first = ends - cast_to(lengths, DType::kInt64);
  int64_t most = joined.shape()[0];
  if (most == kUnknownDim)
    value_error("ctc_loss: the number of joined targets must be known, got {}",
                joined.type().str());
  std::vector<int64_t> count;
  for (int64_t i = 0; i < most; ++i) count.push_back(i);
  Value at = joined.graph().constant(Tensor::from(count, Shape{most}));
  return kGather({joined, kExpandDims({first}, {-1}) + at}, {0, 0, "clip"});
}

void expand_ctc_loss(Expansion& e) {
  Value x = e.x(0), targets = e.x(1);
  DType d = x.dtype();
  if (size_of(d) == 2) x = cast_to(x, DType::kFloat32);
  bool batched = x.rank() == 3;
  if (!batched && x.rank() != 2)
    value_error("ctc_loss: log_probs must be [frames, batch, classes] or [frames, classes], got {}",
                x.type().str());
  Value input = e.x(2), length = e.x(3);
  if (input.rank() == 0) input = kExpandDims({input}, {0});
  if (length.rank() == 0) length = kExpandDims({length}, {0});
  if (!batched) x = kExpandDims({x}, {1});
  if (targets.rank() == 1)
    targets = batched ? rows_of(targets, length) : kExpandDims({targets}, {0});
  std::vector<Value> r =
      all_results(kCtcForward, {x, targets, input, length}, {e.attrs["blank"], true});
  Value loss = r[0];
  if (e.attrs.boolean("zero_infinity")) loss = where(kIsinf({loss}), 0.0, loss);
  const std::string& how = e.attrs.string("reduction");
  if (how == "mean") {
    Value count = cast_to(length, loss.dtype());
    loss = kReduceMean({loss / where(less(count, 1.0), 1.0, count)});
  } else if (how == "sum") {
    loss = kReduceSum({loss});
  } else if (!batched) {
    loss = kReshape({loss}, {Ints{}});
  }
  Value alpha = e.graph.add(ir::op_named("stop_gradient"), {r[1]})->out();
  if (!batched) alpha = kSqueeze({alpha}, {Ints{0}});
  e.result(cast_to(loss, d));
  e.result(cast_to(alpha, d));
}

}  // namespace

#define CTC_OPERANDS                                                                             \
  "log_probs[t, n, c]; t = 5; n = 2; c = 3; log_probs in (-3, -0.5); log_probs dtypes float32 "  \
  "float64; targets[2, 2]; targets in "                                                          \
  "ints(1, 2); input_lengths[2]; input_lengths in {4, 5}; target_lengths[2]; target_lengths in " \
  "ints(0, 2); "
#define CTC_SKIPS "skip zero_size: sizes belong together; skip scalar: sequences have dims"

constexpr OpDef kCtcForward = check({
    .name = "ctc_forward",
    .doc = "Minus the log probability of the targets [n, s] under log_probs [t, n, c], and the log "
           "probabilities alpha [n, t, 2 s + 1] of beginnings (Graves et al. 2006). Without "
           "merge_repeated every repeat is a label of its own. ValueError for labels and lengths "
           "out of range.",
    .in = {"log_probs: float[t, n, c]", "targets: index[n, s]", "input_lengths: index[n]",
           "target_lengths: index[n]"},
    .attr = {"blank: int = 0", "merge_repeated: bool = True"},
    .out = {"loss", "log_alpha"},
    .type = ctc_forward_type,
    .shard = "none",
    .grad = ctc_forward_grad,
    .loops = ctc_forward_loops,
    .batch = batch_ctc,
    .cases = CTC_OPERANDS
    "blank = 0; merge_repeated = True False; skip grad: alpha has no "
    "gradient, see ctc_loss; skip grad2: the same; bad targets[3, 2]; bad blank = 3; bad "
    "log_probs[5, 3]; " CTC_SKIPS,
    .internal = true,
});

constexpr OpDef kCtcBackward = check({
    .name = "ctc_backward",
    .doc = "The gradient of ctc_forward: minus dy times the probability, given the target, of each "
           "class in each frame; 0 where dy is 0.",
    .in = {"log_probs: float[t, n, c]", "targets: index[n, s]", "input_lengths: index[n]",
           "target_lengths: index[n]", "loss: float[n]", "log_alpha: float[n, t, w]",
           "dy: float[n]"},
    .attr = {"blank: int = 0", "merge_repeated: bool = True"},
    .type = ctc_backward_type,
    .shard = "none",
    .grad = no_gradient("CTC has first derivatives only"),
    .loops = ctc_backward_loops,
    .batch = batch_ctc,
    .cases = CTC_OPERANDS "loss[2]; log_alpha[2, 5, 5]; dy[2]; " CTC_SKIPS,
    .internal = true,
});

constexpr OpDef kCtcLoss = check({
    .name = "ctc_loss",
    .doc = "Minus the log probability of the targets ([n, s], or all in one vector) under "
           "log_probs [t, n, c] or [t, c] (Graves et al. 2006), and the log probabilities of "
           "beginnings [n, t, 2 s + 1]. mean divides by the targets' lengths first; zero_infinity "
           "makes impossible targets 0. The gradient is that of the loss by log_probs; there is no "
           "second one.",
    .in = {"log_probs: float[t, n, c]", "targets: index[n, s]", "input_lengths: index[n]",
           "target_lengths: index[n]"},
    .attr = {"blank: int = 0", "reduction: str(none|mean|sum) = mean",
             "zero_infinity: bool = False"},
    .out = {"loss", "log_alpha"},
    .shard = "none",
    .expand = expand_ctc_loss,
    .cases = CTC_OPERANDS
    "reduction = mean sum none; zero_infinity = True False; skip grad: "
    "alpha has none, see ctc_loss_value; skip grad2: the same; bad blank = -1; bad targets[3, "
    "2]; " CTC_SKIPS
    " | log_probs[5, 3]; log_probs in (-3, -0.5); targets[2]; input_lengths[]; "
    "input_lengths in {5}; target_lengths[]; target_lengths in ints(1, 2); bad blank = 7 | "
    "log_probs[5, 2, 3]; log_probs in (-3, -0.5); targets[4]; targets in ints(1, 2); "
    "input_lengths[2]; input_lengths in {5}; target_lengths[2]; target_lengths in ints(2, "
    "2); bad blank = 9",
});

constexpr OpDef kCtcLossValue = check({
    .name = "ctc_loss_value",
    .doc = "The first result of ctc_loss.",
    .in = {"log_probs: float[t, n, c]", "targets: index[n, s]", "input_lengths: index[n]",
           "target_lengths: index[n]"},
    .attr = {"blank: int = 0", "reduction: str(none|mean|sum) = mean",
             "zero_infinity: bool = False"},
    .out = {"loss"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(
              all_results(kCtcLoss, {e.x(0), e.x(1), e.x(2), e.x(3)},
                          {e.attrs["blank"], e.attrs["reduction"], e.attrs["zero_infinity"]})[0]);
        },
    .cases = CTC_OPERANDS
    "reduction = mean sum none; zero_infinity = True False; skip grad2: first "
    "derivatives only; " CTC_SKIPS,
    .internal = true,
});

#undef CTC_OPERANDS
#undef CTC_SKIPS

void register_ctc() { ir::register_ops({&kCtcForward, &kCtcBackward, &kCtcLoss, &kCtcLossValue}); }

}  // namespace mycel::ops
