#include "ops/attention/attention.h"

#include "ir/expansion.h"
#include "ops/all_ops.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Value;
using Ints = Attr::Ints;

namespace {

// Heads before positions, whatever the operands' layout; the move is its own inverse.
Value turned(const Expansion& e, Value v) {
  if (!e.attrs.boolean("heads_last")) return v;
  if (v.rank() != 4) {
    value_error("{}: with heads_last operands have 4 dims [batch, positions, heads, size], got {}",
                e.op.name, v.type().str());
  }
  return kTranspose({v}, {Ints{0, 2, 1, 3}});
}

Value product(Value a, Value b, bool transpose_a, bool transpose_b) {
  return kBatchMatmul({a, b}, {transpose_a, transpose_b});
}

// softmax(scale q kᵀ + mask); `mask` and `scale` are the positions of those operands.
Value probabilities(const Expansion& e, Value q, Value k, int mask, int scale) {
  Value scores = product(q, k, false, true);
  if (e.has(scale)) scores = scores * e.x(scale);
  if (e.has(mask)) scores = scores + e.x(mask);
  return kSoftmax({scores}, {-1});
}

void expand_attention(Expansion& e) {
  Value q = turned(e, e.x(0)), k = turned(e, e.x(1)), v = turned(e, e.x(2));
  e.result(turned(e, product(probabilities(e, q, k, 3, 4), v, false, false)));
}

void expand_attention_grad(Expansion& e) {
  Value q = turned(e, e.x(0)), k = turned(e, e.x(1)), v = turned(e, e.x(2));
  Value dy = turned(e, e.x(3)), p = probabilities(e, q, k, 4, 5);
  Value dp = product(dy, v, false, true);
  Value ds = p * (dp - kReduceSum({p * dp}, {Ints{-1}, true}));
  if (e.has(5)) ds = ds * e.x(5);
  e.result(turned(e, product(ds, k, false, false)));
  e.result(turned(e, product(ds, q, true, false)));
  e.result(turned(e, product(p, dy, true, false)));
}

}  // namespace

constexpr OpDef kAttention = check({
    .name = "attention",
    .doc = "softmax(scale q kᵀ + mask) v over the last two dims [positions, size], leading dims "
           "being a batch; heads_last: operands and result are [batch, positions, heads, size].",
    .in = {"q: float[b, h, s, d]", "k: float[b, h, t, d]", "v: float[b, h, t, e]",
           "mask?: float[s, t]", "scale?: float[]"},
    .attr = {"heads_last: bool = False"},
    .shard = "none",
    .expand = expand_attention,
    .cases = "q[2, 3, 4, 5]; k[2, 3, 6, 5]; v[2, 3, 6, 7]; mask[4, 6] [2, 1, 1, 6]; scale[] | "
             "q[2, 4, 3, 5]; k[2, 6, 3, 5]; v[2, 6, 3, 7]; mask[4, 6]; scale[]; heads_last = True "
             "| q[33, 8]; k[70, 8]; v[70, 9]; mask[33, 70]; scale[]; skip grad: as for small "
             "ones; skip grad2: as for small ones",
    .internal = true,
});

constexpr OpDef kAttentionGrad = check({
    .name = "attention_grad",
    .doc = "Gradients of attention with respect to q, k and v; the probabilities are computed "
           "again.",
    .in = {"q: float[b, h, s, d]", "k: float[b, h, t, d]", "v: float[b, h, t, e]",
           "dy: float[b, h, s, e]", "mask?: float[s, t]", "scale?: float[]"},
    .attr = {"heads_last: bool = False"},
    .out = {"dq", "dk", "dv"},
    .shard = "none",
    .expand = expand_attention_grad,
    .cases =
        "q[2, 3, 4, 5]; k[2, 3, 6, 5]; v[2, 3, 6, 7]; dy[2, 3, 4, 7]; mask[4, 6] [2, 1, 1, "
        "6]; scale[]; skip grad2: the first order suffices; skip dtypes: roundings between its "
        "parts | "
        "q[2, 4, 3, 5]; k[2, 6, 3, 5]; v[2, 6, 3, 7]; dy[2, 4, 3, 7]; mask[4, 6]; scale[]; "
        "heads_last = True; skip grad2: as above; skip dtypes: as above | q[33, 8]; k[70, 8]; "
        "v[70, 9]; dy[33, 9]; "
        "mask[33, 70]; scale[]; skip grad: as for small ones; skip grad2: as for small ones; skip "
        "dtypes: as above",
    .internal = true,
});

void register_attention() { ir::register_ops({&kAttention, &kAttentionGrad}); }

}  // namespace mycel::ops
