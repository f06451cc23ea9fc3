// Layer normalisation: statistics over the trailing dims of each sample.
#include "ir/adjoint.h"
#include "ir/batching.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/norm/norm.h"
#include "ops/norm/norm_loops.h"
#include "ops/norm/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::TypeRuleCtx;
using ir::Value;

namespace {

struct Axes {
  int norm, params;
};
Axes axes_of(const ir::AttrsView& a, int rank, const char* op) {
  return {normalize_axis(a.integer("begin_norm_axis"), rank, op),
          normalize_axis(a.integer("begin_params_axis"), rank, op)};
}

Shape from_axis(const Shape& s, int axis) {
  return Shape(std::span<const int64_t>(s.begin() + axis, s.end()));
}

bool fits(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < a.rank(); ++d) {
    if (dims_differ(a[d], b[d])) return false;
  }
  return true;
}

void layer_norm_type(TypeRuleCtx& c) {
  const Shape& x = c.shape(0);
  if (x.rank() == 0) c.fail("'{}' needs at least 1 dim", c.op.inputs[0].name);
  Axes axes = axes_of(c.attrs, x.rank(), c.op.name.c_str());
  for (int i : {1, 2}) {
    if (c.has(i) && !fits(c.shape(i), from_axis(x, axes.params))) {
      c.fail("'{}' must have shape {}", c.op.inputs[i].name, from_axis(x, axes.params).str());
    }
  }
  Shape statistics = x;
  for (int d = axes.norm; d < x.rank(); ++d) statistics.set(d, 1);
  c.result(c.dtype(0), x);
  c.result(c.dtype(0), statistics);
  c.result(c.dtype(0), statistics);
}

LayerSizes sizes_of(const LoopCtx& c) {
  const Shape& x = c.in_type(0).shape;
  Axes axes = axes_of(c.attrs, x.rank(), c.op.name.c_str());
  return {x.size(0, axes.norm), x.size(axes.norm, x.rank()), x.size(axes.params, x.rank())};
}

void layer_norm_loops(LoopCtx& c) {
  NormBufs b{c.in(0), c.out(0), nullptr, nullptr, c.out(1), c.out(2)};
  loops::Buf gamma = c.has(1) ? c.in(1) : loops::Buf{}, beta = c.has(2) ? c.in(2) : loops::Buf{};
  if (c.has(1)) b.scale = &gamma;
  if (c.has(2)) b.offset = &beta;
  emit_layer_norm(c.nest, sizes_of(c), c.attrs.real("epsilon"), b);
}

Attr::Ints range(int from, int to) {
  Attr::Ints v;
  for (int d = from; d < to; ++d) v.push_back(d);
  return v;
}

// Elements per statistic, as a value of x's dtype.
Value count_of(Adjoint& a, const Attr::Ints& axes) {
  const Shape& x = a.x_type(0).shape;
  int64_t n = 1;
  for (int64_t d : axes)
    n = x[static_cast<int>(d)] == kUnknownDim || n < 0 ? -1 : n * x[static_cast<int>(d)];
  if (n >= 0) return a.scalar(a.x_type(0).dtype, static_cast<double>(n));
  return kReduceSum({ones_of(a.x(0))}, {axes, true});
}

void layer_norm_grad(Adjoint& a) {
  int rank = a.x_type(0).shape.rank();
  Attr::Ints axes = range(axes_of(a.attrs(), rank, "layer_norm").norm, rank);
  auto given = [&](size_t i) { return a.node().inputs.size() > i && a.node().inputs[i]; };
  if (a.has_dy(0)) {
    Value gamma = given(1) ? a.x(1) : Value();
    std::vector<Value> d =
        all_results(kLayerNormDx, {a.x(0), gamma, a.y(1), a.y(2), a.dy(0)}, a.attrs().all());
    a.dx(0) += d[0];
    if (given(1)) a.dx(1) += d[1];
    if (given(2)) a.dx(2) += d[2];
  }
  // The statistics as results of their own: the mean of x, and the mean of (x - mean)².
  if (a.has_dy(1)) a.dx(0) += spread(a, a.dy(1) / count_of(a, axes));
  if (a.has_dy(2)) a.dx(0) += (a.x(0) - a.y(1)) * (a.dy(2) * 2.0 / count_of(a, axes));
}

void layer_norm_dx_type(TypeRuleCtx& c) {
  const Shape& x = c.shape(0);
  Shape params = from_axis(x, axes_of(c.attrs, x.rank(), c.op.name.c_str()).params);
  if (!fits(x, c.shape(4))) c.fail("x and dy must have one shape");
  c.result(c.dtype(0), x);
  c.result(c.dtype(c.has(1) ? 1 : 0), params);
  c.result(c.dtype(c.has(1) ? 1 : 0), params);
}

void layer_norm_dx_loops(LoopCtx& c) {
  NormGradBufs b{c.in(0), c.in(4), nullptr, c.in(2), c.in(3), c.out(0), c.out(1), c.out(2)};
  loops::Buf gamma = c.has(1) ? c.in(1) : loops::Buf{};
  if (c.has(1)) b.scale = &gamma;
  emit_layer_norm_dx(c.nest, sizes_of(c), c.attrs.real("epsilon"), b);
}

void expand_layer_norm_dx(Expansion& e) {
  Value x = e.x(0), dy = e.x(4);
  Axes axes = axes_of(e.attrs, x.rank(), "layer_norm");
  Attr::Ints normed = range(axes.norm, x.rank()), leading = range(0, axes.params);
  Value factor = kRsqrt({e.x(3) + e.attrs.real("epsilon")});
  Value normal = (x - e.x(2)) * factor;
  Value g = e.has(1) ? dy * e.x(1) : dy;
  auto mean = [&](Value v) { return kReduceMean({v}, {normed, true}); };
  auto total = [&](Value v) { return leading.empty() ? v : kReduceSum({v}, {leading}); };
  DType param_dtype = e.has(1) ? e.x(1).dtype() : x.dtype();
  e.result(cast_to((g - mean(g) - normal * mean(g * normal)) * factor, x.dtype()));
  e.result(cast_to(total(dy * normal), param_dtype));
  e.result(cast_to(total(dy), param_dtype));
}

}  // namespace

namespace {

// The batch is one more dim in front; a scale and offset of each example are applied apart.
bool batch_layer_norm(ir::Batching& b) {
  bool own = b.batched(1) || b.batched(2);
  ir::Attrs attrs = b.node.attrs;
  for (const char* name : {"begin_norm_axis", "begin_params_axis"}) {
    int i = b.node.op->attr_index(name);
    int64_t axis = b.attrs.integer(name);
    if (axis >= 0) attrs.set(static_cast<size_t>(i), ir::Attr(axis + 1));
  }
  if (!own) {
    std::vector<Value> in;
    for (int i = 0; i < b.inputs(); ++i) in.push_back(b.x(i));
    return b.same(in, attrs);
  }
  b.same({b.spread(0)}, attrs);
  int rank = b.shape(0).rank();
  if (b.has(1)) b.results[0] = b.results[0] * b.aligned(1, rank);
  if (b.has(2)) b.results[0] = b.results[0] + b.aligned(2, rank);
  return true;
}

}  // namespace

constexpr OpDef kLayerNorm = check({
    .name = "layer_norm",
    .doc = "y = (x - mean) / sqrt(variance + epsilon) gamma + beta with mean and (biased) variance "
           "over the dims from "
           "begin_norm_axis on; gamma and beta have the shape of x from begin_params_axis on.",
    .in = {"input_x: float", "gamma?: float", "beta?: float"},
    .attr = {"begin_norm_axis: int = 1", "begin_params_axis: int = 1", "epsilon: float = 1e-7"},
    .out = {"y", "mean", "variance"},
    .type = layer_norm_type,
    .shard = "none",
    .grad = layer_norm_grad,
    .loops = layer_norm_loops,
    .batch = batch_layer_norm,
    .cases =
        "input_x[3, 8]; gamma[8]; beta[8]; begin_norm_axis = 1 -1; epsilon = 1e-5; fd 1e-5; bad "
        "gamma[3]; bad "
        "begin_norm_axis = 2 | input_x[2, 3, 4]; gamma[3, 4]; beta[3, 4] | input_x[2, 3, 4]; "
        "gamma[4]; beta[4]; "
        "begin_params_axis = 2 | input_x[2, 3, 4]; gamma[3, 4]; beta[3, 4]; begin_norm_axis = 2",
    .onnx = "LayerNormalization",
    .primitive = "LayerNorm(begin_norm_axis, begin_params_axis, epsilon)",
});

constexpr OpDef kLayerNormDx = check({
    .name = "layer_norm_dx",
    .doc = "Gradients of layer_norm: with n = (x - mean) r, r = 1 / sqrt(variance + epsilon) and g "
           "= dy gamma, dx = r (g "
           "- mean(g) - n mean(g n)), dgamma = Σ dy n, dbeta = Σ dy.",
    .in = {"x: float", "gamma?: float", "mean: float", "variance: float", "dy: float"},
    .attr = {"begin_norm_axis: int = 1", "begin_params_axis: int = 1", "epsilon: float = 1e-7"},
    .out = {"dx", "dgamma", "dbeta"},
    .type = layer_norm_dx_type,
    .shard = "none",
    .loops = layer_norm_dx_loops,
    .expand = expand_layer_norm_dx,
    .cases = "x[3, 8]; gamma[8]; mean[3, 1]; variance[3, 1]; variance in (0.5, 2); dy[3, 8] | "
             "x[40, 3, 4]; gamma[4]; "
             "mean[40, 1, 1]; variance[40, 1, 1]; dy[40, 3, 4]; begin_params_axis = 2",
    .internal = true,
});

void register_layer_norm() { ir::register_ops({&kLayerNorm, &kLayerNormDx}); }

}  // namespace mycel::ops
