// Products of matrices: the primitive, NumPy's matmul over it, and the fully connected layer.
#include "ops/matmul/product.h"

#include "ir/adjoint.h"
#include "ir/batching.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/rooms.h"
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

namespace {

// Shape of the product under NumPy's rules.
void matmul_type(TypeRuleCtx& c) {
  const Shape &a = c.shape(0), &b = c.shape(1);
  bool ta = c.attrs.boolean("transpose_a"), tb = c.attrs.boolean("transpose_b");
  if (a.rank() == 0 || b.rank() == 0) c.fail("both operands need at least 1 dim");
  if (ta && a.rank() == 1) c.fail("transpose_a needs at least 2 dims");
  if (tb && b.rank() == 1) c.fail("transpose_b needs at least 2 dims");
  int64_t ka = ta ? a[-2] : a[-1], kb = b.rank() == 1 ? b[0] : tb ? b[-1] : b[-2];
  if (dims_differ(ka, kb)) {
    c.fail(
        "the dims that are summed over differ: {} and {}\n"
        "[..., n, k] times [..., k, m] gives [..., n, m]; transpose an operand where needed.",
        ka, kb);
  }
  Shape batch_a, batch_b, y;
  for (int d = 0; d < a.rank() - 2; ++d) batch_a.push_back(a[d]);
  for (int d = 0; d < b.rank() - 2; ++d) batch_b.push_back(b[d]);
  if (!mycel::broadcast(batch_a, batch_b, &y)) {
    c.fail("the batch dims {} and {} do not broadcast", batch_a.str(), batch_b.str());
  }
  if (a.rank() > 1) y.push_back(ta ? a[-1] : a[-2]);
  if (b.rank() > 1) y.push_back(tb ? b[-2] : b[-1]);
  c.result(c.dtype(0), y);
}

}  // namespace

void batch_matmul_type(TypeRuleCtx& c) {
  if (c.shape(0).rank() < 2 || c.shape(1).rank() < 2) c.fail("both operands need at least 2 dims");
  matmul_type(c);
}

namespace {

void matmul_loops(LoopCtx& c) {
  Product p = product_of(c.in_type(0).shape, c.attrs.boolean("transpose_a"), c.in_type(1).shape,
                         c.attrs.boolean("transpose_b"));
  emit_product(c.nest, c.in(0), c.in(1), c.out(), nullptr, p);
}

Value product(Value a, Value b, bool transpose_a, bool transpose_b) {
  return kBatchMatmul({a, b}, {transpose_a, transpose_b});
}

// All dims but the last in one, so that a weight shared by a batch gets its gradient in one
// product.
Value rows_of(Value v) { return v.rank() == 2 ? v : kCollapseDims({v}, {0, -2}); }

void batch_matmul_grad(Adjoint& g) {
  bool ta = g.attrs().boolean("transpose_a"), tb = g.attrs().boolean("transpose_b");
  if (g.wants(0)) {
    Value b = conj_of(g.x(1));
    g.dx(0) += ta ? product(b, g.dy(), tb, true) : product(g.dy(), b, false, !tb);
  }
  if (!g.wants(1)) return;
  Value a = conj_of(g.x(0)), dy = g.dy();
  if (g.x_type(1).shape.rank() == 2 && !ta) {
    a = rows_of(a);
    dy = rows_of(dy);
  }
  g.dx(1) += tb ? product(dy, a, true, ta) : product(a, dy, !ta, false);
}

void dense_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &w = c.shape(1);
  if (x.rank() == 0) c.fail("'{}' needs at least 1 dim", c.op.inputs[0].name);
  if (w.rank() != 2) c.fail("the weight has {} dims; expected 2: [out, in]", w.rank());
  if (dims_differ(x[-1], w[1])) {
    c.fail(
        "the last dim is {}, the weight [out, in] takes {}\n"
        "Give the layer in_channels={}, or flatten or reshape its input to [..., {}].",
        x[-1], w[1], x[-1], w[1]);
  }
  if (c.has(2) && (c.shape(2).rank() != 1 || dims_differ(c.shape(2)[0], w[0]))) {
    c.fail("the bias must have shape [{}]", w[0]);
  }
  Shape y = x;
  y.set(-1, w[0]);
  c.result(c.dtype(0), y);
}

void dense_loops(LoopCtx& c) {
  Product p = product_of(c.in_type(0).shape, false, c.in_type(1).shape, true);
  loops::Buf bias = c.has(2) ? c.in(2) : loops::Buf{};
  emit_product(c.nest, c.in(0), c.in(1), c.out(), c.has(2) ? &bias : nullptr, p);
}

void dense_grad(Adjoint& g) {
  Value dy = g.dy();
  if (dy.rank() == 1) dy = kExpandDims({dy}, {0});
  if (g.wants(0)) {
    Value dx = product(dy, conj_of(g.x(1)), false, false);
    g.dx(0) += g.x_type(0).shape.rank() == 1 ? kSqueeze({dx}, {Attr::Ints{0}}) : dx;
  }
  if (g.wants(1)) {
    Value x = conj_of(g.x(0));
    if (x.rank() == 1) x = kExpandDims({x}, {0});
    g.dx(1) += product(rows_of(dy), rows_of(x), true, false);
  }
  if (g.inputs() > 2 && g.wants(2)) g.dx(2) += dy;
}

// 1-D operands become a row on the left, a column on the right, and lose the dim of 1 afterwards.
void matmul_expand(Expansion& e) {
  Value a = e.x(0), b = e.x(1);
  bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = kExpandDims({a}, {0});
  if (column) b = kExpandDims({b}, {1});
  Value y = kBatchMatmul({a, b}, {e.attrs["transpose_a"], e.attrs["transpose_b"]});
  Attr::Ints drop;
  if (row) drop.push_back(column ? -2 : y.rank() - 2);
  if (column) drop.push_back(-1);
  e.result(drop.empty() ? y : kSqueeze({y}, {drop}));
}

}  // namespace

constexpr OpDef kBatchMatmul = check({
    .name = "batch_matmul",
    .doc = "Matrix products of the last two dims, y[…, i, j] = Σ_k a[…, i, k] b[…, k, j]; an "
           "operand may be "
           "given transposed, and batch dims broadcast.",
    .in = {"input_x: number", "mat2: number"},
    .attr = {"transpose_a: bool = False", "transpose_b: bool = False"},
    .promote = Promote::kCommon,
    .type = batch_matmul_type,
    .shard = "... m k, ... k n -> ... m n : sum(k)",
    .grad = batch_matmul_grad,
    .loops = matmul_loops,
    .cases = "input_x[b, m, k]; mat2[b, k, n] | input_x[b, k, m]; mat2[b, n, k]; transpose_a = "
             "True; transpose_b = "
             "True | input_x[b, m, k]; mat2[n, k]; transpose_b = True | input_x[m, k]; mat2[b, k, "
             "n] [c, b, k, n] | "
             "input_x[k, m]; mat2[2, 1, k, n]; transpose_a = True | input_x[b, 1, m, k]; mat2[3, "
             "k, n] | "
             "input_x[17, 9]; mat2[9, 33] | input_x[2, 3]; mat2[3, 4]; bad input_x[2, 3] mat2[4, "
             "5]; bad input_x[3] "
             "mat2[3, 4]; bad input_x[2, 2, 3] mat2[3, 3, 4]",
    .onnx = "MatMul",
    .primitive = "BatchMatMul(transpose_a, transpose_b)",
    .method = "bmm",
    .alias = "bmm",
});

constexpr OpDef kMatmul = check({
    .name = "matmul",
    .doc = "Matrix product by NumPy's rules: a 1-D operand is a row on the left and a column on "
           "the right, "
           "batch dims broadcast.",
    .in = {"input: number", "other: number"},
    .attr = {"transpose_a: bool = False", "transpose_b: bool = False"},
    .promote = Promote::kCommon,
    .type = matmul_type,
    .shard = "none",
    .expand = matmul_expand,
    .cases = "input[m, k]; other[k, n]; at ([1, 2, 3], [4, 5, 6]) -> 32 | input[k]; other[k] | "
             "input[k]; other[b, k, n] | input[b, m, k]; other[k] | "
             "input[k, m]; other[n, k]; transpose_a = True; transpose_b = True | input[k]; "
             "other[n, k]; transpose_b = "
             "True; bad input[3] other[4, 5]; bad input[] other[2]",
    .onnx = "MatMul",
    .primitive = "MatMul(transpose_a, transpose_b)",
    .method = "matmul mm __matmul__ __rmatmul__ __imatmul__",
    .alias = "mm",
});

namespace {

// A weight for each example makes a batch of products.
bool batch_dense(ir::Batching& b) {
  const Shape& s = b.shape(0);
  if (s.rank() == 0 || !s.known() || !b.out_shape().known()) return false;
  if (!b.batched(1) && !b.batched(2)) {
    std::vector<Value> in{b.x(0), b.x(1)};
    if (b.has(2)) in.push_back(b.x(2));
    return b.same(in, b.node.attrs);
  }
  Shape rows{b.size, s.size() / std::max<int64_t>(1, s[-1]), s[-1]};
  Value x = b.reshape(b.spread(0), rows);
  Value y = kBatchMatmul({x, b.x(1)}, {false, true});
  y = b.reshape(y, b.with_batch(b.out_shape()));
  if (b.has(2)) y = y + b.aligned(2, b.out_shape().rank());
  return b.give(y);
}

}  // namespace

constexpr OpDef kDense = check({
    .name = "dense",
    .doc = "Fully connected layer y = x Wᵀ + b with W stored as [out, in]; leading dims of x are a "
           "batch.",
    .in = {"input: number[n, i]", "weight: number[o, i]", "bias?: number[o]"},
    .promote = Promote::kCommon,
    .type = dense_type,
    .shard = "... i, o i, o -> ... o : sum(i)",
    .grad = dense_grad,
    .loops = dense_loops,
    .batch = batch_dense,
    .cases = "input[n, i] [b, n, i] [i]; weight[o, i]; bias[o]; bad input[2, 3] weight[4, 5] "
             "bias[4]; bad input[2, 3] "
             "weight[4, 3] bias[3]",
    .onnx = "Gemm",
});

void register_products() { ir::register_ops({&kBatchMatmul, &kMatmul, &kDense}); }

}  // namespace mycel::ops
