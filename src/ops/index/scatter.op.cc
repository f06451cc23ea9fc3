// Writing at places given by index tensors. All ops are functional: the result is a new tensor,
// whose memory may be the operand's when nobody else holds it.
#include <algorithm>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::TypeRuleCtx;
namespace types = ir::types;
using Ints = Attr::Ints;

// The tuple scatters share their cases; string literals join.
#define TUPLES(more)                                                                        \
  "input_x[3, 4]; indices[5, 1]; indices in ints(-3, 2); updates[5, 4]; " more              \
  "; bad updates[2, 5] | input_x[3, 4]; "                                                   \
  "indices[2, 3, 2]; updates[2, 3] | input_x[3, 4]; indices[2, 0]; updates[2, 3, 4]; skip " \
  "dtypes: both have one "                                                                  \
  "dtype; skip zero_size: an empty axis has no elements; skip scalar: tuples have a dim"

namespace {

bool fits(const Shape& have, const Shape& want) {
  bool ok = have.rank() == want.rank();
  for (int d = 0; ok && d < want.rank(); ++d) {
    ok = have[d] == want[d] || have[d] == kUnknownDim || want[d] == kUnknownDim;
  }
  return ok;
}

void need_updates(TypeRuleCtx& c, const Shape& want) {
  if (!fits(c.shape(2), want)) c.fail("updates must have shape {}", want.str());
  if (c.dtype(2) != c.dtype(0))
    c.fail_type("updates must have the dtype of the tensor that they are written to");
  types::same_as_first(c);
}

void axis_scatter_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &index = c.shape(1);
  int axis = c.axis(c.attrs.integer("axis"));
  int64_t given = c.attrs.integer("batch_dims");
  int batch = static_cast<int>(given < 0 ? given + index.rank() : given);
  if (batch < 0 || batch > axis || batch > index.rank()) {
    c.fail("batch_dims {} must lie in [0, {}]", given, std::min(axis, index.rank()));
  }
  Shape want;
  for (int d = 0; d < axis; ++d) want.push_back(x[d]);
  for (int d = batch; d < index.rank(); ++d) want.push_back(index[d]);
  for (int d = axis + 1; d < x.rank(); ++d) want.push_back(x[d]);
  need_updates(c, want);
}

void tuples_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &index = c.shape(1);
  if (index.rank() == 0) c.fail("indices must have a last dim that holds the index tuples");
  int64_t depth = index[-1];
  if (depth == kUnknownDim)
    c.fail("the length of an index tuple, the last dim of indices, must be known");
  if (depth > x.rank())
    c.fail("index tuples of {} entries are longer than the {} dims of the tensor", depth, x.rank());
  Shape want;
  for (int d = 0; d + 1 < index.rank(); ++d) want.push_back(index[d]);
  for (int d = static_cast<int>(depth); d < x.rank(); ++d) want.push_back(x[d]);
  need_updates(c, want);
}

Value at_tuples(Adjoint& a, Value v) { return kGatherNd({v, a.x(1)}); }

// True where an update is the last one for its place: only that one shows in the result. Shaped to
// broadcast against the updates. Empty when shapes are not known: then equal indices share the
// gradient.
Value last_of_place(Adjoint& a) {
  const Shape &x = a.x_type(0).shape, &index = a.x_type(1).shape;
  if (!x.known() || !index.known()) return {};
  int depth = static_cast<int>(index[-1]);
  Shape tuples, places;
  for (int d = 0; d + 1 < index.rank(); ++d) tuples.push_back(index[d]);
  for (int d = 0; d < depth; ++d) places.push_back(x[d]);
  int64_t count = tuples.size();
  Value number = a.graph()
                     .add(op_of(kArange), {}, {0.0, static_cast<double>(count), 1.0, DType::kInt64})
                     ->out();
  number = kReshape({number}, {Attr(tuples)});
  Value place = kTensorScatterUpdate({filled(a.graph(), 0, places, DType::kInt64), a.x(1), number});
  Value last = kEqual({kGatherNd({place, a.x(1)}), number});
  for (int d = depth; d < x.rank(); ++d) tuples.push_back(1);
  return kReshape({last}, {Attr(tuples)});
}

void update_grad(Adjoint& a) {
  if (a.wants(0)) {
    const ir::Type& u = a.x_type(2);
    Value hole = u.shape.known() ? filled(a.graph(), 0, u.shape, u.dtype) : kZerosLike({a.x(2)});
    a.dx(0) += kTensorScatterUpdate({a.dy(), a.x(1), hole});
  }
  if (!a.wants(2)) return;
  Value g = at_tuples(a, a.dy()), last = last_of_place(a);
  a.dx(2) += last ? where(last, g, 0.0) : g;
}

// d/du_i of x·Π u: the product of everything else at the place. Where u_i is not 0 that is y / u_i;
// where it is the only zero, the product of the others.
void mul_grad(Adjoint& a) {
  if (a.wants(0)) a.dx(0) += kTensorScatterMul({a.dy(), a.x(1), conj_of(a.x(2))});
  if (!a.wants(2)) return;
  Value u = a.x(2), zero = equal(u, 0.0);
  Value others = kTensorScatterMul({a.x(0), a.x(1), where(zero, 1.0, u)});
  Value zeros = at_tuples(a, kTensorScatterAdd({zeros_of(a, 0), a.x(1), cast_to(zero, u.dtype())}));
  Value part = at_tuples(a, others);
  Value rest = where(zero, where(equal(zeros, 1.0), part, 0.0),
                     where(equal(zeros, 0.0), part / where(zero, 1.0, u), 0.0));
  a.dx(2) += at_tuples(a, a.dy()) * conj_of(rest);
}

void div_grad(Adjoint& a) {
  if (a.wants(0)) a.dx(0) += kTensorScatterDiv({a.dy(), a.x(1), conj_of(a.x(2))});
  if (a.wants(2)) a.dx(2) -= at_tuples(a, a.dy()) * conj_of(at_tuples(a, a.y()) / a.x(2));
}

// min and max: whoever equals the result shares its gradient, evenly among ties.
void extreme_grad(Adjoint& a) {
  DType t = a.y_type().dtype;
  Value y = a.y(), mine = cast_to(kEqual({a.x(0), y}), t);
  Value theirs = cast_to(kEqual({a.x(2), at_tuples(a, y)}), t);
  Value share = a.dy() / kTensorScatterAdd({mine, a.x(1), theirs});
  if (a.wants(0)) a.dx(0) += mine * share;
  if (a.wants(2)) a.dx(2) += theirs * at_tuples(a, share);
}

void expand_index_add(Expansion& e) {
  Value index = e.x(1);
  if (index.rank() > 1)
    value_error("index_add: indices must be a vector, got {}", index.type().str());
  if (index.rank() == 0) index = kExpandDims({index}, {0});
  e.result(kAxisScatterAdd(
      {e.x(0), index, e.x(2)},
      {e.attrs["axis"], 0, e.attrs.boolean("check_index_bound") ? "error" : "skip"}));
}

// A mask along the axis, so that equal indices need no care.
void expand_index_fill(Expansion& e) {
  Value x = e.x(0), index = e.x(1);
  int axis = normalize_axis(e.attrs.integer("axis"), x.rank(), "index_fill");
  if (index.rank() > 1)
    value_error("index_fill: index must be a vector, got {}", index.type().str());
  index = kReshape({index}, {Ints{-1, 1}});
  int64_t n = x.shape()[axis];
  Value none;
  if (n != kUnknownDim) {
    none = filled(e.graph, 0, {n}, DType::kBool);
  } else {
    Value line = x;  // one element per place of the axis
    for (int d = 0; d < x.rank(); ++d) line = d == axis ? line : sliced(line, d, 0, 1);
    none = kZerosLike({kRavel({line})}, {DType::kBool});
  }
  Value yes = kOnesLike({kReshape({index}, {Ints{-1}})}, {DType::kBool});
  Ints dims(x.rank(), 1);
  dims[axis] = -1;
  Value mask = kReshape({kTensorScatterUpdate({none, index, yes})}, {dims});
  e.result(kMaskedFill({x, mask, e.x(2)}));
}

void expand_masked_fill(Expansion& e) {
  Value x = e.x(0), v = e.x(2);
  if (v.rank() != 0) value_error("masked_fill: value must be a scalar, got {}", v.type().str());
  e.result(kSelect({e.x(1), cast_to(v, x.dtype()), x}));
}

void expand_scatter_nd(Expansion& e) {
  Value zeros = filled(e.graph, 0, Shape(e.attrs.ints("shape")), e.x(1).dtype());
  e.result(kTensorScatterAdd({zeros, e.x(0), e.x(1)}));
}

}  // namespace

constexpr OpDef kAxisScatterAdd = check({
    .name = "axis_scatter_add",
    .doc = "The inverse of gather: y = x, then y[b, o, indices[b, i], r] += updates[b, o, i, r]; "
           "bounds as for gather.",
    .in = {"x: number", "indices: index", "updates: number"},
    .attr = {"axis: int", "batch_dims: int = 0",
             "bounds: str(error|clip|wrap|skip|skip_negative) = error"},
    .type = axis_scatter_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          if (!a.wants(2)) return;
          a.dx(2) += kGather({a.dy(), a.x(1)},
                             {a.attrs()["axis"], a.attrs()["batch_dims"], a.attrs()["bounds"]});
        },
    .batch = batch_gather,
    .cases = "x[4, 5]; indices[3]; indices in ints(-4, 3); updates[3, 5]; axis = 0; bad updates[2, "
             "5]; bad axis = 2 | x[2, "
             "5, 3]; indices[2, 4]; updates[2, 4, 3]; axis = 1; batch_dims = 1 | x[2, 3]; "
             "indices[2, 2]; updates[2, 2, 2]; "
             "axis = 1; indices in ints(-9, 9); bounds = clip wrap skip; skip dtypes: both have "
             "one dtype; skip zero_size: "
             "an empty axis has no elements; skip scalar: a scalar has no axes",
    .onnx = "ScatterElements(reduction='add')",
    .internal = true,
});

constexpr OpDef kIndexAdd = check({
    .name = "index_add",
    .doc = "x with y added at the given places of an axis: places named several times add several "
           "times, in order. "
           "Without check_index_bound, indices outside are skipped; use_lock changes nothing, as "
           "no two threads ever "
           "write one element.",
    .in = {"x: number", "indices: index", "y: number"},
    .attr = {"axis: int", "use_lock: bool = True", "check_index_bound: bool = True"},
    .shard = "none",
    .expand = expand_index_add,
    .cases = "x[4, 5]; indices[3]; indices in ints(0, 3); y[3, 5]; axis = 0; use_lock = True "
             "False; check_index_bound = True "
             "False; bad y[2, 5]; bad axis = 2; skip dtypes: both have one dtype; skip zero_size: "
             "an empty axis has no "
             "elements; skip scalar: a scalar has no axes",
    .primitive = "IndexAdd(axis, use_lock, check_index_bound)",
});

constexpr OpDef kIndexFill = check({
    .name = "index_fill",
    .doc = "x with the slices at the given places of an axis replaced by a scalar.",
    .in = {"x: any", "index: index", "value: any[]"},
    .attr = {"axis: int"},
    .shard = "none",
    .expand = expand_index_fill,
    .cases = "x[4, 5]; index[3] []; index in ints(-4, 3); value[]; axis = 0 -1; bad axis = 2; bad "
             "index[2, 2]; skip dtypes: "
             "values are converted; skip zero_size: an empty axis has no elements; skip scalar: a "
             "scalar has no axes",
    .method = "index_fill",
});

constexpr OpDef kMaskedFill = check({
    .name = "masked_fill",
    .doc = "value where mask holds, else the operand; operand and mask broadcast.",
    .in = {"input_x: any", "mask: bool", "value: any[]"},
    .shard = "none",
    .expand = expand_masked_fill,
    .cases = "input_x[2, 3]; mask[2, 3] [3] []; value[]; bad mask[4]; bad value[3]; skip "
             "zero_size: value is a scalar",
    .primitive = "MaskedFill",
    .method = "masked_fill",
});

constexpr OpDef kTensorScatterUpdate = check({
    .name = "tensor_scatter_update",
    .doc = "y = x, then y[indices[i]] = updates[i] in order, so that of equal indices the last one "
           "stays; the last dim "
           "of indices holds index tuples.",
    .in = {"input_x: any", "indices: index", "updates: any"},
    .type = tuples_type,
    .shard = "none",
    .grad = update_grad,
    .batch = batch_tuples,
    .cases = TUPLES("bad indices[4]"),
    .onnx = "ScatterND",
    .primitive = "TensorScatterUpdate",
});

constexpr OpDef kTensorScatterAdd = check({
    .name = "tensor_scatter_add",
    .doc = "y = x, then y[indices[i]] += updates[i] in order; the last dim of indices holds index "
           "tuples.",
    .in = {"input_x: any", "indices: index", "updates: any"},
    .type = tuples_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          if (a.wants(2)) a.dx(2) += at_tuples(a, a.dy());
        },
    .batch = batch_tuples,
    .cases = TUPLES("bad indices[4]"),
    .onnx = "ScatterND(reduction='add')",
    .primitive = "TensorScatterAdd",
    .method = "scatter_add",
});

constexpr OpDef kTensorScatterSub = check({
    .name = "tensor_scatter_sub",
    .doc = "y = x, then y[indices[i]] -= updates[i] in order; the last dim of indices holds index "
           "tuples.",
    .in = {"input_x: number", "indices: index", "updates: number"},
    .type = tuples_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          if (a.wants(2)) a.dx(2) -= at_tuples(a, a.dy());
        },
    .batch = batch_tuples,
    .cases = TUPLES("bad indices[4]"),
    .primitive = "TensorScatterSub",
    .method = "scatter_sub",
});

constexpr OpDef kTensorScatterMul = check({
    .name = "tensor_scatter_mul",
    .doc = "y = x, then y[indices[i]] *= updates[i] in order; the last dim of indices holds index "
           "tuples.",
    .in = {"input_x: any", "indices: index", "updates: any"},
    .type = tuples_type,
    .shard = "none",
    .grad = mul_grad,
    .batch = batch_tuples,
    .cases = TUPLES("bad indices[4]"),
    .onnx = "ScatterND(reduction='mul')",
    .primitive = "TensorScatterMul",
    .method = "scatter_mul",
});

constexpr OpDef kTensorScatterDiv = check({
    .name = "tensor_scatter_div",
    .doc = "y = x, then y[indices[i]] /= updates[i] in order (integers truncate, division by 0 "
           "gives 0); the last dim "
           "of indices holds index tuples.",
    .in = {"input_x: number", "indices: index", "updates: number"},
    .type = tuples_type,
    .shard = "none",
    .grad = div_grad,
    .batch = batch_tuples,
    .cases = TUPLES("updates in (1, 2)"),
    .primitive = "TensorScatterDiv",
    .method = "scatter_div",
});

constexpr OpDef kTensorScatterMin = check({
    .name = "tensor_scatter_min",
    .doc = "y = x, then y[indices[i]] = min(y[indices[i]], updates[i]) (NaN wins); the last dim of "
           "indices holds index "
           "tuples. Ties share the gradient evenly.",
    .in = {"input_x: real", "indices: index", "updates: real"},
    .type = tuples_type,
    .shard = "none",
    .grad = extreme_grad,
    .batch = batch_tuples,
    .cases = TUPLES("input_x in distinct(-2, 2); updates in distinct(-1.9, 1.9)"),
    .onnx = "ScatterND(reduction='min')",
    .primitive = "TensorScatterMin",
    .method = "scatter_min",
});

constexpr OpDef kTensorScatterMax = check({
    .name = "tensor_scatter_max",
    .doc = "y = x, then y[indices[i]] = max(y[indices[i]], updates[i]) (NaN wins); the last dim of "
           "indices holds index "
           "tuples. Ties share the gradient evenly.",
    .in = {"input_x: real", "indices: index", "updates: real"},
    .type = tuples_type,
    .shard = "none",
    .grad = extreme_grad,
    .batch = batch_tuples,
    .cases = TUPLES("input_x in distinct(-2, 2); updates in distinct(-1.9, 1.9)"),
    .onnx = "ScatterND(reduction='max')",
    .primitive = "TensorScatterMax",
    .method = "scatter_max",
});

constexpr OpDef kScatterNd = check({
    .name = "scatter_nd",
    .doc = "A tensor of zeros with updates added at index tuples.",
    .in = {"indices: index", "updates: number"},
    .attr = {"shape: int[]"},
    .shard = "none",
    .expand = expand_scatter_nd,
    .cases = "indices[5, 1]; indices in ints(-3, 2); updates[5, 4]; shape = [3, 4]; bad shape = "
             "[3]; bad updates[4, 4]; skip "
             "zero_size: the shape is given; skip scalar: tuples have a dim",
    .primitive = "ScatterNd",
});

}  // namespace mycel::ops
