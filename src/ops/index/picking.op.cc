// Elements picked by rank, by membership and by index vectors, comparisons packed into bits,
// repeated word groups forbidden, values checked.
#include <limits>

#include "base/error.h"
#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
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
using loops::Val;
namespace types = ir::types;
using Ints = Attr::Ints;

namespace {

void need_rank(const Expansion& e, int operand, int rank) {
  if (e.x(operand).rank() != rank)
    value_error("{}: '{}' must have {} dim{}, got {}", e.op.name, e.op.inputs[operand].name, rank,
                rank == 1 ? "" : "s", e.x(operand).type().str());
}

void expand_nth_element(Expansion& e) {
  if (e.x(0).rank() < 1) value_error("nth_element: the operand must have a dim");
  need_rank(e, 1, 0);
  Value sorted = all_results(kSort, {e.x(0)}, {-1, e.attrs.boolean("reverse")})[0];
  e.result(kGather({sorted, e.x(1)}, {-1}));
}

void expand_list_diff(Expansion& e) {
  need_rank(e, 0, 1), need_rank(e, 1, 1);
  Value x = e.x(0), y = e.x(1);
  int64_t m = y.shape()[0];
  Value fresh = kOnesLike({x}, {DType::kBool});
  if (m != 0) {
    // The place where each element would stand among the sorted others holds its equal, if any.
    Value sorted = all_results(kSort, {y}, {-1, false})[0];
    Value place = kSearchsorted({sorted, x}, {false, false});
    fresh = kNotEqual({kGather({sorted, place}, {0, 0, "clip"}), x});
  }
  Value index = kCumsum({kOnesLike({x}, {DType::kInt64})}, {0}) - 1.0;
  e.result(kCompress({x, fresh}));
  e.result(kCompress({cast_to(index, e.attrs["out_idx"].dtype()), fresh}));
}

void expand_index_put(Expansion& e) {
  Value x = e.x(0), values = e.x(1);
  int count = e.inputs() - 2;
  if (count < 1 || count > x.rank())
    value_error("index_put: 1 to {} index vectors fit {}, got {}", x.rank(), x.type().str(), count);
  std::vector<Value> columns;
  int64_t n = 1;
  for (int i = 0; i < count; ++i) {
    Value index = e.x(2 + i);
    if (index.rank() != 1)
      value_error("index_put: indices must be vectors, got {}", index.type().str());
    if (index.shape()[0] == kUnknownDim)
      value_error("index_put: the lengths of the index vectors must be known, got {}",
                  index.type().str());
    if (index.shape()[0] != 1) n = index.shape()[0];
  }
  for (int i = 0; i < count; ++i) {
    Value index = e.x(2 + i);
    if (index.shape()[0] != n && index.shape()[0] != 1)
      value_error("index_put: index vectors must have one length or 1, got {} and {}", n,
                  index.shape()[0]);
    if (index.shape()[0] != n) index = kBroadcastTo({index}, {Ints{n}});
    columns.push_back(index);
  }
  Value places = e.graph.add(ir::op_of(kStack), columns, {Attr(1)})->out();
  Shape updates{n};
  for (int d = count; d < x.rank(); ++d) updates.push_back(x.shape()[d]);
  if (values.rank() == 1 && updates.rank() > 1 && values.shape()[0] == n) {
    for (int d = 1; d < updates.rank(); ++d) values = kExpandDims({values}, {-1});
  }
  values = kBroadcastTo({values}, {Attr(updates)});
  const OpDef& op = e.attrs.boolean("accumulate") ? kTensorScatterAdd : kTensorScatterUpdate;
  e.result(op({x, places, values}));
}

void expand_bitpack(Expansion& e) {
  Value x = e.x(0);
  int64_t last = x.rank() > 0 ? x.shape()[-1] : 0;
  if (x.rank() < 1 || last == kUnknownDim || last % 8 != 0)
    value_error("compare_and_bitpack: the last dim must be known and a multiple of 8, got {}",
                x.type().str());
  need_rank(e, 1, 0);
  Value bits = cast_to(kGreater({x, e.x(1)}), DType::kInt32);
  Ints shape;
  for (int d = 0; d + 1 < x.rank(); ++d) {
    if (x.shape()[d] == kUnknownDim)
      value_error("compare_and_bitpack: the shape must be known, got {}", x.type().str());
    shape.push_back(x.shape()[d]);
  }
  shape.push_back(last / 8), shape.push_back(8);
  const int32_t weights[] = {128, 64, 32, 16, 8, 4, 2, 1};
  Value weight =
      e.graph.constant(Tensor::from(std::vector<int32_t>(weights, weights + 8), Shape{8}));
  Value sum = kReduceSum({kReshape({bits}, {shape}) * weight}, {Ints{-1}});
  e.result(cast_to(sum, DType::kUInt8));
}

void ngram_type(TypeRuleCtx& c) {
  const Shape &state = c.shape(0), &scores = c.shape(1);
  int64_t n = c.attrs.integer("ngram_size");
  if (n < 1) c.fail("ngram_size must be 1 or more, got {}", n);
  if (state.rank() != 3 || scores.rank() != 3)
    c.fail("needs sequences [batch, beam, length] and scores [batch, beam, words]");
  for (int d = 0; d < 2; ++d) {
    if (dims_differ(state[d], scores[d]))
      c.fail("sequences and scores must have one batch and beam");
  }
  if (state[2] != kUnknownDim && n > state[2])
    c.fail("ngram_size {} is longer than the sequences", n);
  c.result(c.dtype(1), scores);
}

// What a forbidden word scores: the lowest number, so that a softmax of all stays finite.
constexpr double kForbidden = -std::numeric_limits<float>::max();

void ngram_loops(LoopCtx& c) {
  const Shape &state = c.in_type(0).shape, &scores = c.in_type(1).shape;
  loops::Nest& nest = c.nest;
  int64_t n = c.attrs.integer("ngram_size");
  Val length = nest.number(state[2]), words = nest.number(scores[2]), before = nest.number(n - 1);
  nest.parallel(state[0] * state[1], state[2] * n + scores[2], [&](Val row) {
    nest.loop(words, LoopKind::kVector, [&](Val i) {
      nest.store(c.out(), row * words + i, nest.load(c.in(1), row * words + i));
    });
    Val first = row * length;
    nest.loop(length - before, LoopKind::kSequential, [&](Val i) {
      loops::Var same = nest.var(nest.literal(DType::kInt64, int64_t{1}));
      nest.loop(before, LoopKind::kSequential, [&](Val k) {
        Val a = nest.load(c.in(0), first + i + k);
        Val b = nest.load(c.in(0), first + length - before + k);
        same.set(select(a == b, same.get(), nest.literal(DType::kInt64, int64_t{0})));
      });
      Val word = cast(nest.load(c.in(0), first + i + before), DType::kInt64);
      nest.if_(same.get() == 1 && word >= 0 && word < words, [&] {
        nest.store(c.out(), row * words + word, nest.literal(DType::kFloat32, kForbidden));
      });
    });
  });
}

void ngram_grad(Adjoint& a) {
  Value kept = kEqual({a.y(), a.x(1)});
  a.dx(1) += where(kept, a.dy(), 0.0);
}

}  // namespace

constexpr OpDef kNthElement = check({
    .name = "nth_element",
    .doc = "The n-th smallest element of the last dim (counted from 0), with reverse the n-th "
           "largest.",
    .in = {"input: real", "n: index[]"},
    .attr = {"reverse: bool = False"},
    .shard = "none",
    .expand = expand_nth_element,
    .cases = "input[2, 5]; input in distinct(-2, 2); n in ints(0, 4); reverse = False True; bad "
             "n[2]; bad input[]; skip zero_size: there must be n elements; skip scalar: the same; "
             "at ([3, 1, 2], 1) -> 2",
    .primitive = "NthElement(reverse)",
    .internal = true,
});

constexpr OpDef kListDiff = check({
    .name = "list_diff",
    .doc = "The elements of the vector x that y does not hold, in order, and their places; how "
           "many is known when it has run.",
    .in = {"x: real[n]", "y: real[m]"},
    .attr = {"out_idx: dtype = int32"},
    .out = {"out", "idx"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_list_diff,
    .cases = "x[6]; x in {1, 2, 3, 4}; y[2] [0]; y in {1, 4}; out_idx = int32 int64; bad x[2, 2]; "
             "bad y[]; no grad of x: chosen; no grad of y: compared",
    .primitive = "ListDiff(out_idx)",
    .internal = true,
});

constexpr OpDef kIndexPut = check({
    .name = "index_put",
    .doc = "x1 with x2 written at the places that the index vectors name, or added with "
           "accumulate; vector i indexes dim i.",
    .in = {"x1: number", "x2: number", "*indices: index"},
    .attr = {"accumulate: bool = False"},
    .shard = "none",
    .expand = expand_index_put,
    .cases = "x1[3, 4]; x2[2]; indices[2]; indices in permutation; accumulate = False True; bad "
             "indices[2, 1]; bad x2[3]; skip zero_size: the sizes belong together; skip scalar: "
             "the same; skip dtypes: one dtype",
    .internal = true,
});

constexpr OpDef kCompareAndBitpack = check({
    .name = "compare_and_bitpack",
    .doc = "x > threshold, eight of the last dim in one byte, the first as its highest bit; uint8.",
    .in = {"x: real", "threshold: real[]"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_bitpack,
    .cases = "x[2, 16]; threshold in (0, 1); bad x[2, 7]; bad threshold[2]; skip scalar: eight "
             "elements make a byte; at ([1, 2, 3, 4, 5, 6, 7, 8], 3) -> [31]",
    .primitive = "CompareAndBitpack()",
    .internal = true,
});

constexpr OpDef kCheckNumerics = check({
    .name = "check_numerics",
    .doc = "x; ValueError when it holds a NaN or an infinity.",
    .in = {"x: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },
    .cases = "default",
    .primitive = "CheckNumerics()",
    .internal = true,
});

constexpr OpDef kNoRepeatNgram = check({
    .name = "no_repeat_ngram",
    .doc = "Scores [batch, beam, words] with the lowest number where a word would repeat a group "
           "of ngram_size words of its sequence [batch, beam, length].",
    .in = {"state_seq: index[b, m, t]", "log_probs: float[b, m, w]"},
    .attr = {"ngram_size: int = 1"},
    .type = ngram_type,
    .shard = "none",
    .grad = ngram_grad,
    .loops = ngram_loops,
    .batch = batch_merge_all,
    .cases = "state_seq[2, 2, 6]; state_seq in ints(0, 2); log_probs[2, 2, 3]; ngram_size = 1 2 3; "
             "bad ngram_size = 0; bad ngram_size = 7; bad log_probs[2, 3, 3]; skip zero_size: "
             "sizes belong together; skip scalar: the same; skip dtypes: float16 has no such "
             "number; skip grad: the forbidden score is a constant too large for differences; "
             "skip grad2: the same",
    .primitive = "NoRepeatNGram(ngram_size)",
    .internal = true,
});

}  // namespace mycel::ops
