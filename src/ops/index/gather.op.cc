// Reading at places given by index tensors.
#include <algorithm>

#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"
#include "ops/value.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using ir::Value;
using loops::Val;
using Ints = Attr::Ints;

namespace {

bool agree(int64_t a, int64_t b) { return a == b || a == kUnknownDim || b == kUnknownDim; }

void gather_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &index = c.shape(1);
  int axis = c.axis(c.attrs.integer("axis"));
  int64_t given = c.attrs.integer("batch_dims");
  int batch = static_cast<int>(given < 0 ? given + index.rank() : given);
  if (batch < 0 || batch > axis || batch > index.rank()) {
    c.fail("batch_dims {} must lie in [0, {}]", given, std::min(axis, index.rank()));
  }
  Shape out;
  for (int d = 0; d < batch; ++d) {
    if (!agree(x[d], index[d])) c.fail("batch dim {} differs: {} and {}", d, x[d], index[d]);
    out.push_back(std::max(x[d], index[d]));
  }
  if (x.rank() - 1 + index.rank() - batch > kMaxRank)
    c.fail("the result would have more than {} dims", kMaxRank);
  for (int d = batch; d < axis; ++d) out.push_back(x[d]);
  for (int d = batch; d < index.rank(); ++d) out.push_back(index[d]);
  for (int d = axis + 1; d < x.rank(); ++d) out.push_back(x[d]);
  c.result(c.dtype(0), out);
}

void gather_grad(Adjoint& a) {
  // A parameter is there anyway; its zeros are part of the program then, which can do without them.
  bool kept = a.node().inputs[0].node->is_param();
  Value zeros = kept ? kZerosLike({a.x(0)}) : zeros_of(a, 0);
  a.dx(0) += kAxisScatterAdd({zeros, a.x(1), a.dy()},
                             {a.attrs()["axis"], a.attrs()["batch_dims"], a.attrs()["bounds"]});
}

void gather_d_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &index = c.shape(1);
  int axis = c.axis(c.attrs.integer("dim"));
  if (index.rank() != x.rank()) c.fail("index must have {} dims", x.rank());
  for (int d = 0; d < x.rank(); ++d) {
    if (d != axis && x[d] != kUnknownDim && index[d] > x[d])
      c.fail("index is longer than x in dim {}", d);
  }
  c.result(c.dtype(0), index);
}

void gather_nd_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &index = c.shape(1);
  if (index.rank() == 0) c.fail("indices must have a last dim that holds the index tuples");
  int64_t depth = index[-1];
  if (depth == kUnknownDim)
    c.fail("the length of an index tuple, the last dim of indices, must be known");
  if (depth > x.rank())
    c.fail("index tuples of {} entries are longer than the {} dims of the tensor", depth, x.rank());
  Shape out;
  if (index.rank() - 1 + x.rank() - depth > kMaxRank)
    c.fail("the result would have more than {} dims", kMaxRank);
  for (int d = 0; d + 1 < index.rank(); ++d) out.push_back(index[d]);
  for (int d = static_cast<int>(depth); d < x.rank(); ++d) out.push_back(x[d]);
  c.result(c.dtype(0), out);
}

void one_hot_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int64_t depth = c.attrs.integer("depth");
  if (depth < 0) c.fail("depth must not be negative, got {}", depth);
  if (c.dtype(1) != c.dtype(2)) c.fail_type("on_value and off_value must have one dtype");
  for (int i : {1, 2}) {
    if (c.shape(i).rank() != 0) c.fail("on_value and off_value must be scalars");
  }
  if (s.rank() == kMaxRank) c.fail("the result would have more than {} dims", kMaxRank);
  s.insert(normalize_axis(c.attrs.integer("axis"), s.rank() + 1, c.op.name.c_str()), depth);
  c.result(c.dtype(1), s);
}

// Where no kernel has looked at the indices first (generated C), those that would be an error are
// held inside: nothing else is safe.
void gather_loops(LoopCtx& c) {
  const Shape &x = c.in_type(0).shape, &index = c.in_type(1).shape;
  const int64_t a = c.attrs.integer("axis"), b = c.attrs.integer("batch_dims");
  const int axis = static_cast<int>(a < 0 ? a + x.rank() : a);
  const int batch = static_cast<int>(b < 0 ? b + index.rank() : b);
  const std::string& bounds = c.attrs.string("bounds");
  const int64_t outer = x.size(batch, axis), inner = x.size(axis + 1, x.rank());
  const int64_t count = index.size(batch, index.rank());
  loops::Nest& nest = c.nest;
  Val n = nest.number(x[axis]), many = nest.number(count), rows = nest.number(outer);
  Val length = nest.number(inner), zero = nest.index(0), last = n - 1;
  nest.parallel(x.size(0, axis) * count, inner, [&](Val task) {
    Val row = task / many, k = task % many;
    Val given = cast(nest.load(c.in(1), row / rows * many + k), DType::kInt64);
    Val at = given;
    if (bounds == "error") at = select(at < zero, at + n, at);
    if (bounds == "wrap") {
      at = at % n;
      at = select(at < zero, at + n, at);
    }
    at = max(min(at, last), zero);
    auto copy = [&](Val r) {
      Val v = nest.load(c.in(0), (row * n + at) * length + r), to = task * length + r;
      if (!bounds.starts_with("skip")) return nest.store(c.out(), to, v);
      Val inside = bounds == "skip" ? (given >= zero) & (given <= last) : given >= zero;
      Val none = loops::constant(nest, v.dtype(), int64_t{0});
      nest.store(c.out(), to, select(inside, v, none));
    };
    if (inner == 1) return copy(zero);
    nest.loop(length, loops::LoopKind::kVector, copy);
  });
}

// y[outer, k, inner] = indices[outer, inner] == k ? on : off.
void one_hot_loops(LoopCtx& c) {
  const Shape &s = c.in_type(0).shape, &y = c.out_type().shape;
  int64_t at = c.attrs.integer("axis");
  int axis = static_cast<int>(at < 0 ? at + y.rank() : at);
  int64_t inner_size = s.size(axis, s.rank());
  loops::Nest& nest = c.nest;
  Val depth = nest.number(y[axis]), inner = nest.number(inner_size);
  nest.parallel(s.size(), std::max<int64_t>(1, y[axis]), [&](Val i) {
    Val hot = cast(nest.load(c.in(0), i), DType::kInt64);
    Val yes = nest.load(c.in(1), nest.index(0)), no = nest.load(c.in(2), nest.index(0));
    Val outer = inner_size == 1 ? i : i / inner, rest = inner_size == 1 ? nest.index(0) : i % inner;
    Val step = inner_size == 1 ? nest.index(1) : inner;
    Val start = outer * depth * step + rest;
    nest.loop(depth, loops::LoopKind::kVector,
              [&](Val k) { nest.store(c.out(), start + k * step, select(hot == k, yes, no)); });
  });
}

void one_hot_grad(Adjoint& a) {
  Value hot = kOneHot({a.x(0), filled(a.graph(), 1, {}, a.y_type().dtype),
                       filled(a.graph(), 0, {}, a.y_type().dtype)},
                      {a.attrs()["depth"], a.attrs()["axis"]});
  Value on = hot * a.dy();
  if (a.wants(1)) a.dx(1) += on;  // summed to the scalar
  if (a.wants(2)) a.dx(2) += a.dy() - on;
}

}  // namespace

constexpr OpDef kGather = check({
    .name = "gather",
    .doc = "Slices of x along `axis` at the given indices: y[b, o, i, r] = x[b, o, indices[b, i], "
           "r], where b are "
           "batch_dims leading dims shared by both. Indices outside [-n, n) are an error, or are "
           "clipped, wrapped, or "
           "skipped (reading 0), as bounds says; these three treat negative indices as outside, "
           "and skip_negative does so beside an error for large ones.",
    .in = {"input_params: any", "input_indices: index"},
    .attr = {"axis: int", "batch_dims: int = 0",
             "bounds: str(error|clip|wrap|skip|skip_negative) = error"},
    .type = gather_type,
    .shard = "none",
    .grad = gather_grad,
    .loops = gather_loops,
    .batch = batch_gather,
    .cases = "input_params[4, 5, 6]; input_indices[2, 3]; input_indices in ints(-4, 3); axis = 0 1 "
             "-1; bad axis = 3; bad "
             "batch_dims = 3 | input_params[2, 5, 3]; input_indices[2, 4]; axis = 1 2; batch_dims "
             "= 1; input_indices in "
             "ints(0, 2) | input_params[4]; input_indices[]; axis = 0 | input_params[4, 2]; "
             "input_indices[5]; "
             "input_indices in ints(-9, 9); axis = 0; bounds = clip wrap skip; skip zero_size: an "
             "empty axis has no "
             "elements; skip scalar: a scalar has no axes",
    .onnx = "Gather",
    .primitive = "Gather(batch_dims); SparseGatherV2",
    .method = "gather",
});

constexpr OpDef kGatherD = check({
    .name = "gather_d",
    .doc = "Elements along `dim`: y[i, j, k] = x[i, index[i, j, k], k] for dim 1; index has the "
           "dims of x.",
    .in = {"x: any", "index: index"},
    .attr = {"dim: int"},
    .type = gather_d_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kElementsScatterAdd({zeros_of(a, 0), a.x(1), a.dy()}, {a.attrs()["dim"]});
        },
    .batch = batch_axis,
    .cases = "x[3, 4, 5]; index[3, 4, 2]; index in ints(-5, 4); dim = 2 -1 | x[3, 4]; index[5, 3]; "
             "index in ints(0, 2); dim "
             "= 0; bad dim = 2; bad index[5]; bad index[3, 9]; skip zero_size: an empty axis has "
             "no elements; skip scalar: "
             "a scalar has no axes",
    .onnx = "GatherElements",
    .primitive = "GatherD(dim)",
    .method = "gather_elements",
    .alias = "gather_elements",
});

constexpr OpDef kGatherNd = check({
    .name = "gather_nd",
    .doc = "Slices at index tuples: y[i, r] = x[indices[i, 0], …, indices[i, k-1], r]; the last "
           "dim of indices is k.",
    .in = {"input_x: any", "indices: index"},
    .type = gather_nd_type,
    .shard = "none",
    .grad = [](Adjoint& a) { a.dx(0) += kTensorScatterAdd({zeros_of(a, 0), a.x(1), a.dy()}); },
    .batch = batch_tuples,
    .cases = "input_x[3, 4]; indices[5, 1] [2, 3, 2] [5, 0]; indices in ints(-3, 2); bad "
             "indices[5, 3]; bad indices[]; skip "
             "zero_size: an empty axis has no elements; skip scalar: tuples have a dim",
    .onnx = "GatherND",
    .primitive = "GatherNd()",
    .method = "gather_nd",
});

constexpr OpDef kIndexSelect = check({
    .name = "index_select",
    .doc = "Slices of the operand along `axis` at the places in a vector of indices.",
    .in = {"input: any", "index: index"},
    .attr = {"axis: int"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          if (e.x(1).rank() > 1)
            value_error("index_select: index must be a vector, got {}", e.x(1).type().str());
          Value index = e.x(1).rank() == 0 ? kExpandDims({e.x(1)}, {0}) : e.x(1);
          e.result(kGather({e.x(0), index}, {e.attrs["axis"]}));
        },
    .cases = "input[3, 4]; index[5] []; index in ints(0, 2); axis = 0 -1; bad axis = 2; bad "
             "index[2, 2]; skip zero_size: an "
             "empty axis has no elements; skip scalar: a scalar has no axes",
});

constexpr OpDef kTake = check({
    .name = "take",
    .doc = "Elements at indices along an axis, or of the flattened operand without one; indices "
           "outside are clipped, "
           "wrapped, or an error.",
    .in = {"x: any", "indices: index"},
    .attr = {"axis: int? = None", "mode: str(raise|wrap|clip) = clip"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          bool flat = e.attrs["axis"].none();
          const std::string& mode = e.attrs.string("mode");
          e.result(kGather(
              {flat ? kRavel({e.x(0)}) : e.x(0), e.x(1)},
              {flat ? Attr(0) : e.attrs["axis"], 0, mode == "raise" ? "error" : mode.c_str()}));
        },
    .cases = "x[3, 4]; indices[5] [2, 2]; indices in ints(-7, 9); axis = None 0 -1; mode = clip "
             "wrap; bad axis = 2; skip "
             "zero_size: an empty axis has no elements; skip scalar: a scalar has no axes",
    .method = "take",
});

constexpr OpDef kOneHot = check({
    .name = "one_hot",
    .doc = "A new dim of size `depth` at `axis`: on_value where its index equals the operand's "
           "value, else off_value; "
           "values outside [0, depth) give off_value everywhere.",
    .in = {"indices: int", "on_value: any[]", "off_value: any[]"},
    .attr = {"depth: int", "axis: int = -1"},
    .type = one_hot_type,
    .shard = "none",
    .grad = one_hot_grad,
    .loops = one_hot_loops,
    .batch = batch_one_hot,
    .cases = "indices[2, 3] []; indices in ints(-1, 4); on_value[]; off_value[]; depth = 4; axis = "
             "-1 0; bad axis = 5; bad "
             "depth = -1; bad on_value[2]; skip dtypes: on and off have one dtype; skip zero_size: "
             "scalars are needed",
    .onnx = "OneHot",
    .primitive = "OneHot(axis)",
});

}  // namespace mycel::ops
