// Connectionist temporal classification (Graves et al. 2006): minus the log of the probability of
// all frame by frame paths that read as the target once repeats are merged and blanks dropped.
//
// States are the target with a blank before, behind and between: s = 0 … 2 length; alpha[t, s] is
// the log probability of all beginnings of paths that are in state s at frame t, beta[t, s] that of
// all continuations from there.
#include "base/error.h"
#include "ir/adjoint.h"
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

bool differ(int64_t a, int64_t b) { return a != b && a != kUnknownDim && b != kUnknownDim; }

void check_operands(const TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &targets = c.shape(1);
  if (c.dtype(0) != DType::kFloat32 && c.dtype(0) != DType::kFloat64)
    c.fail_type("log_probs must be float32 or float64");
  if (x.rank() != 3 || targets.rank() != 2)
    c.fail("log_probs must be [frames, batch, classes] and targets [batch, length]");
  for (int i = 2; i < 4; ++i) {
    if (c.shape(i).rank() != 1 || differ(c.shape(i)[0], x[1]))
      c.fail("input_lengths and target_lengths must be [batch]");
  }
  if (differ(targets[0], x[1])) c.fail("there must be a target for each sample");
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

// What both directions read: sample n of the batch, its labels, its log probabilities.
struct Lattice {
  Nest& nest;
  loops::Buf x, targets;
  Val batch, classes, longest, width, blank;
  bool merge;
  Val n{}, frames{}, states{};

  Lattice(LoopCtx& c)
      : nest(c.nest),
        x(c.in(0)),
        targets(c.in(1)),
        batch(nest.number(c.in_type(0).shape[1])),
        classes(nest.number(c.in_type(0).shape[2])),
        longest(nest.number(c.in_type(1).shape[1])),
        width(nest.number(2 * c.in_type(1).shape[1] + 1)),
        blank(nest.number(c.attrs.integer("blank"))),
        merge(c.attrs.boolean("merge_repeated")) {}

  // Lengths out of range are refused before the kernel; these bounds keep it inside its buffers.
  void at_sample(Val sample, Val most_frames, loops::Buf input_lengths, loops::Buf target_lengths) {
    n = sample;
    auto length = [&](loops::Buf b, Val most) {
      return max(min(cast(nest.load(b, n), DType::kInt64), most), int64_t{0});
    };
    frames = length(input_lengths, most_frames);
    states = length(target_lengths, longest) * 2 + 1;
  }
  Val label(Val s) const {
    Val odd = s % 2 == 1;
    Val place = min(s / 2, max(longest - 1, int64_t{0}));
    // A target without places is never read: its only state is a blank.
    Val t = cast(nest.load(targets, select(odd, n * longest + place, int64_t{0})), DType::kInt64);
    return select(odd, max(min(t, classes - 1), int64_t{0}), blank);
  }
  Val probability(Val t, Val s) const { return nest.load(x, (t * batch + n) * classes + label(s)); }
  // Whether a path may stay in s, or go from s - 2 to s.
  Val stays(Val s) const { return merge ? s == s : label(s) == blank; }
  Val skips(Val s) const {
    Val own = label(s), before = label(max(s - 2, int64_t{0}));
    Val open = own != blank && s >= 2;
    return merge ? open && own != before : open;
  }
};

void ctc_forward_loops(LoopCtx& c) {
  Nest& nest = c.nest;
  const Shape &x = c.in_type(0).shape, &targets = c.in_type(1).shape;
  DType d = c.out_type(0).dtype;
  int64_t cells = x[0] * (2 * targets[1] + 1);
  if (targets[1] == 0) cells = x[0];
  Lattice l(c);
  Val frames = nest.number(x[0]), all = nest.number(cells);
  loops::Buf alpha = c.out(1);
  nest.parallel(x[1], cells * 20, [&](Val n) {
    Val never = minus_infinity(nest, d);
    l.at_sample(n, frames, c.in(2), c.in(3));
    Val first = n * all;
    nest.loop(all, LoopKind::kVector, [&](Val i) { nest.store(alpha, first + i, never); });
    nest.if_(l.frames > 0, [&] {
      nest.loop(min(l.states, int64_t{2}), LoopKind::kSequential,
                [&](Val s) { nest.store(alpha, first + s, l.probability(nest.index(0), s)); });
    });
    nest.loop(max(l.frames - 1, int64_t{0}), LoopKind::kSequential, [&](Val k) {
      Val t = k + 1, before = first + k * l.width;
      nest.loop(l.states, LoopKind::kVector, [&](Val s) {
        Val stay = nest.load(alpha, before + s);
        Val step = nest.load(alpha, before + max(s - 1, int64_t{0}));
        Val skip = nest.load(alpha, before + max(s - 2, int64_t{0}));
        Val sum = log_add(select(l.stays(s), stay, never), select(s >= 1, step, never));
        sum = log_add(sum, select(l.skips(s), skip, never));
        nest.store(alpha, before + l.width + s, sum + l.probability(t, s));
      });
    });
    // Paths end in the last label or the blank behind it.
    Val last = first + max(l.frames - 1, int64_t{0}) * l.width + l.states - 1;
    loops::Var total = nest.var(nest.load(alpha, last));
    nest.if_(l.states > 1, [&] { total.set(log_add(total.get(), nest.load(alpha, last - 1))); });
    Val nothing = select(l.states == 1, nest.literal(d, 0.0), never);
    nest.store(c.out(0), n, -select(l.frames > 0, total.get(), nothing));
  });
}

void ctc_backward_loops(LoopCtx& c) {
  Nest& nest = c.nest;
  const Shape &x = c.in_type(0).shape, &targets = c.in_type(1).shape;
  DType d = c.out_type(0).dtype;
  int64_t width = 2 * targets[1] + 1;
  Lattice l(c);
  Val frames = nest.number(x[0]);
  loops::Buf beta = nest.scratch(d, x[1] * 2 * width), alpha = c.in(5);
  nest.parallel(x[1], x[0] * (width * 30 + x[2]), [&](Val n) {
    Val never = minus_infinity(nest, d), zero = nest.literal(d, 0.0);
    l.at_sample(n, frames, c.in(2), c.in(3));
    Val loss = nest.load(c.in(4), n), dy = nest.load(c.in(6), n);
    nest.loop(frames, LoopKind::kSequential, [&](Val t) {
      nest.loop(l.classes, LoopKind::kVector,
                [&](Val k) { nest.store(c.out(), (t * l.batch + n) * l.classes + k, zero); });
    });
    Val own = n * 2 * l.width;
    nest.loop(l.states, LoopKind::kVector,
              [&](Val s) { nest.store(beta, own + s, select(s >= l.states - 2, zero, never)); });
    nest.loop(l.frames, LoopKind::kSequential, [&](Val k) {
      Val t = l.frames - 1 - k;
      Val now = own + k % 2 * l.width, before = own + (k + 1) % 2 * l.width;
      Val row = (t * l.batch + n) * l.classes;
      nest.loop(l.states, LoopKind::kSequential, [&](Val s) {
        Val path = nest.load(alpha, (n * frames + t) * l.width + s) + nest.load(beta, now + s);
        Val share = select(dy == 0.0, zero, -dy * exp(path + loss));
        nest.accumulate(c.out(), row + l.label(s), share);
      });
      nest.loop(l.states, LoopKind::kVector, [&](Val s) {
        auto onward = [&](Val to) {
          Val at = min(to, l.states - 1);
          return nest.load(beta, now + at) + l.probability(t, at);
        };
        Val sum = log_add(select(l.stays(s), onward(s), never),
                          select(s + 1 < l.states, onward(s + 1), never));
        Val skip = s + 2 < l.states && l.skips(min(s + 2, l.states - 1));
        nest.store(beta, before + s, log_add(sum, select(skip, onward(s + 2), never)));
      });
    });
  });
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
