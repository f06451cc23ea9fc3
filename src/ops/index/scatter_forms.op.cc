// Scatters per element, and further forms of the tuple scatters.
#include "ir/expansion.h"
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
using ir::TypeRuleCtx;
namespace types = ir::types;

namespace {

void elements_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &index = c.shape(1);
  int axis = c.axis(c.attrs.integer("axis"));
  if (index.rank() != x.rank()) c.fail("indices must have {} dims", x.rank());
  for (int d = 0; d < x.rank(); ++d) {
    if (d != axis && x[d] != kUnknownDim && index[d] > x[d])
      c.fail("indices are longer than the tensor in dim {}", d);
  }
  const Shape& u = c.shape(2);
  bool fits = u.rank() == index.rank();
  for (int d = 0; fits && d < u.rank(); ++d)
    fits = u[d] == index[d] || u[d] == kUnknownDim || index[d] == kUnknownDim;
  if (!fits) c.fail("updates must have shape {}", index.str());
  if (c.dtype(2) != c.dtype(0))
    c.fail_type("updates must have the dtype of the tensor that they are written to");
  types::same_as_first(c);
}

// Only the last update of a place shows in the result and has a gradient.
void elements_update_grad(Adjoint& a) {
  const ir::Attr& axis = a.attrs()["axis"];
  const ir::Type &x = a.x_type(0), &u = a.x_type(2);
  if (a.wants(0)) {
    Value hole = u.shape.known() ? filled(a.graph(), 0, u.shape, u.dtype) : kZerosLike({a.x(2)});
    a.dx(0) += kElementsScatterUpdate({a.dy(), a.x(1), hole}, {axis});
  }
  if (!a.wants(2)) return;
  Value g = kGatherD({a.dy(), a.x(1)}, {axis});
  if (x.shape.known() && u.shape.known()) {
    double count = static_cast<double>(u.shape.size());
    Value number = a.graph().add(op_of(kArange), {}, {0.0, count, 1.0, DType::kInt64})->out();
    number = kReshape({number}, {Attr(u.shape)});
    Value place = kElementsScatterUpdate(
        {filled(a.graph(), 0, x.shape, DType::kInt64), a.x(1), number}, {axis});
    g = where(kEqual({kGatherD({place, a.x(1)}, {axis}), number}), g, 0.0);
  }
  a.dx(2) += g;
}

void expand_elements(Expansion& e) {
  const OpDef& op =
      e.attrs.string("reduction") == "add" ? kElementsScatterAdd : kElementsScatterUpdate;
  e.result(op({e.x(0), e.x(1), e.x(2)}, {e.attrs["axis"]}));
}

// The k-th place where the mask holds takes the k-th update.
void expand_masked_scatter(Expansion& e) {
  Value x = e.x(0), mask = e.x(1), updates = e.x(2);
  if (updates.dtype() != x.dtype())
    type_error("masked_scatter: updates have dtype {}, must have {}", name_of(updates.dtype()),
               name_of(x.dtype()));
  mask = x.shape().known() && !(mask.shape() == x.shape()) ? kBroadcastTo({mask}, {Attr(x.shape())})
                                                           : mask;
  Value flat = kRavel({mask});
  Value place = where(flat, kCumsum({cast_to(flat, DType::kInt64)}, {0}) - 1.0, -1.0);
  Value taken = kGather({kRavel({updates}), place}, {0, 0, "skip_negative"});
  e.result(kSelect({mask, kReshapeLike({taken, x}), x}));
}

void expand_sequence_mask(Expansion& e) {
  Value lengths = e.x(0);
  int64_t longest = e.attrs.integer("maxlen");
  if (longest < 0) value_error("sequence_mask: maxlen must not be negative, got {}", longest);
  Value steps =
      e.graph.add(op_of(kArange), {}, {0.0, static_cast<double>(longest), 1.0, lengths.dtype()})
          ->out();
  e.result(kLess({steps, kExpandDims({lengths}, {-1})}));
}

}  // namespace

constexpr OpDef kElementsScatterAdd = check({
    .name = "elements_scatter_add",
    .doc = "The inverse of gather_d: y = x, then y[i, indices[i, j], k] += updates[i, j, k] for "
           "axis 1.",
    .in = {"x: number", "indices: index", "updates: number"},
    .attr = {"axis: int"},
    .type = elements_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          if (a.wants(2)) a.dx(2) += kGatherD({a.dy(), a.x(1)}, {a.attrs()["axis"]});
        },
    .batch = batch_axis,
    .cases = "x[3, 4]; indices[3, 6]; indices in ints(-4, 3); updates[3, 6]; axis = 1; bad "
             "updates[2, 5]; bad axis = 2 | x[3, 4]; "
             "indices[5, 2]; indices in ints(0, 2); updates[5, 2]; axis = 0; skip dtypes: both "
             "have one dtype; skip "
             "zero_size: an empty axis has no elements; skip scalar: a scalar has no axes",
    .onnx = "ScatterElements(reduction='add')",
    .internal = true,
});

constexpr OpDef kElementsScatterUpdate = check({
    .name = "elements_scatter_update",
    .doc = "y = x, then y[i, indices[i, j], k] = updates[i, j, k] in order, for axis 1.",
    .in = {"x: any", "indices: index", "updates: any"},
    .attr = {"axis: int"},
    .type = elements_type,
    .shard = "none",
    .grad = elements_update_grad,
    .batch = batch_axis,
    .cases = "x[3, 4]; indices[3, 6]; indices in ints(-4, 3); updates[3, 6]; axis = 1; bad "
             "updates[2, 5]; bad axis = 2 | x[3, "
             "4]; indices[5, 2]; indices in ints(0, 2); updates[5, 2]; axis = 0; skip dtypes: both "
             "have one dtype; skip "
             "zero_size: an empty axis has no elements; skip scalar: a scalar has no axes",
    .onnx = "ScatterElements",
    .internal = true,
});

constexpr OpDef kTensorScatterElements = check({
    .name = "tensor_scatter_elements",
    .doc = "y = x, then y[i, indices[i, j], k] = (add: +=) updates[i, j, k] in order, for axis 1; "
           "indices and updates have "
           "the dims of x.",
    .in = {"input_x: number", "indices: index", "updates: number"},
    .attr = {"axis: int = 0", "reduction: str(none|add) = none"},
    .type = elements_type,
    .shard = "none",
    .expand = expand_elements,
    .cases = "input_x[3, 4]; indices[2, 4]; indices in ints(-3, 2); updates[2, 4]; axis = 0; "
             "reduction = none add; bad "
             "updates[2, 5]; bad axis = 2; skip dtypes: both have one dtype; skip zero_size: an "
             "empty axis has no elements; "
             "skip scalar: a scalar has no axes",
    .onnx = "ScatterElements",
    .primitive = "TensorScatterElements(axis, reduction)",
});

constexpr OpDef kMaskedScatter = check({
    .name = "masked_scatter",
    .doc = "x with the places where mask holds filled from updates, both in row-major order.",
    .in = {"x: any", "mask: bool", "updates: any"},
    .shard = "none",
    .expand = expand_masked_scatter,
    .cases = "x[2, 3]; mask[2, 3] [3]; updates[7]; bad mask[4]; skip dtypes: both have one dtype; "
             "skip zero_size: updates "
             "belong to places",
    .primitive = "MaskedScatter",
    .method = "masked_scatter",
});

constexpr OpDef kSequenceMask = check({
    .name = "sequence_mask",
    .doc = "y[.., j] = j < lengths[..], for j below maxlen.",
    .in = {"lengths: index"},
    .attr = {"maxlen: int"},
    .shard = "none",
    .expand = expand_sequence_mask,
    .cases = "lengths[2, 3] []; lengths in ints(0, 5); maxlen = 4 0; bad maxlen = -1",
});

}  // namespace mycel::ops
