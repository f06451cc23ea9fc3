// Dropout. The mask is never stored: the gradient draws it again from the key.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/batching.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/all_ops.h"
#include "ops/random/philox.h"
#include "ops/random/random.h"
#include "ops/shape/shape.h"
#include "ops/value.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::TypeRuleCtx;
using ir::Value;
namespace types = ir::types;
using loops::Val;

namespace {

void dropout_type(TypeRuleCtx& c) {
  const Shape& key = c.shape(1);
  if (c.dtype(1) != DType::kUInt32 || key.rank() != 1 || (key[0] != 2 && key[0] != kUnknownDim)) {
    c.fail_type("the key must be uint32[2]");
  }
  double p = c.attrs.real("p");
  if (!(p >= 0 && p <= 1)) c.fail("p, the probability to drop, must lie in [0, 1], got {}", p);
  types::same_as_first(c);
}

// A word below keep · 2^32 keeps its element; both ends are exact.
void dropout_loops(LoopCtx& c) {
  double keep = 1 - c.attrs.real("p");
  DType d = c.out_type().dtype, compute = d == DType::kFloat64 ? d : DType::kFloat32;
  Val limit = c.nest.number(static_cast<int64_t>(std::llround(keep * 0x1p32)));
  Val scale = c.nest.number(keep > 0 ? 1 / keep : 0.0, compute);
  fill_random(
      c, c.in(1), 4,
      [&](const Val* w, Val* v) {
        for (int l = 0; l < 4; ++l) v[l] = w[l];
      },
      [&](Val word, Val i) {
        Val x = c.nest.load(c.in(0), i);
        return select(cast(word, DType::kInt64) < limit, x * scale, constant(x, 0.0));
      });
}

// Whole channels: one draw for each index of the first dims.
void expand_channels(Expansion& e) {
  Value x = e.x(0);
  int64_t dims = e.attrs.integer("dims");
  if (dims < 1 || dims > x.rank())
    value_error("dropout_channels: dims must lie in [1, {}], got {}", x.rank(), dims);
  if (!x.shape().known())
    value_error("dropout_channels: the shape must be known, got {}", x.type().str());
  Shape s;
  for (int d = 0; d < x.rank(); ++d) s.push_back(d < dims ? x.shape()[d] : 1);
  Value ones = filled(e.graph, 1, s, x.dtype());
  e.result(x * kDropoutElements({ones, e.x(1)}, {e.attrs["p"]}));
}

}  // namespace

namespace {

// One key for all examples: what is dropped is decided once.
bool batch_dropout(ir::Batching& b) {
  if (b.batched(1) || !b.out_shape().known()) return false;
  Value ones = filled(b.graph, 1, b.out_shape(), b.x(0).dtype());
  Value kept = b.emit(*b.node.op, {ones, b.x(1)}, b.node.attrs);
  return b.give(b.x(0) * kept);
}

}  // namespace

constexpr OpDef kDropoutElements = check({
    .name = "keyed_dropout",
    .doc = "Each element is 0 with probability p, else x / (1 - p); the element's word of the key "
           "decides.",
    .in = {"x: float", "key: int[2]"},
    .attr = {"p: float = 0.5"},
    .type = dropout_type,
    .shard = "none",
    .grad = [](Adjoint& a) { a.dx(0) += kDropoutElements({a.dy(), a.x(1)}, {a.attrs()["p"]}); },
    .loops = dropout_loops,
    .batch = batch_dropout,
    .cases = "x[3, 4] [3, 700]; key[2]; key dtypes uint32; key in ints(0, 4000000000); p = 0.0 0.3 "
             "1.0; bad p = 1.5; bad "
             "key[3]; skip zero_size: a key has two words; skip scalar: a key has two words",
    .random = true,
    .internal = true,
});

constexpr OpDef kDropoutChannels = check({
    .name = "keyed_dropout_channels",
    .doc = "Dropout of whole slices: one draw for each index of the first `dims` dims.",
    .in = {"x: float", "key: int[2]"},
    .attr = {"p: float = 0.5", "dims: int = 2"},
    .shard = "none",
    .expand = expand_channels,
    .cases = "x[3, 4, 5]; key[2]; key dtypes uint32; key in ints(0, 4000000000); p = 0.3; dims = 1 "
             "2; bad p = 1.5; bad dims = "
             "4; skip zero_size: a key has two words; skip scalar: a key has two words",
    .random = true,
    .internal = true,
});

void register_random() {
  ir::register_ops(
      {&kRandomBits, &kRandomUniform, &kRandomNormal, &kRandomInt, &kRandomGamma, &kRandomPoisson});
  ir::register_ops({&kRandomTruncatedNormal, &kRandomBernoulli, &kRandomLaplace,
                    &kRandomExponential, &kRandomGumbel, &kRandomMultinomial, &kRandomCategorical,
                    &kRandomPermutation, &kRandomShuffle});
  ir::register_ops({&kDropoutElements, &kDropoutChannels});
  ir::register_ops({&kRandomChoice, &kRandomCandidates});
}

}  // namespace mycel::ops
