// Ops that put tensors together along an axis or take them apart.
#include <algorithm>
#include <numeric>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"
#include "ops/value.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::op_of;
using ir::Promote;
using ir::TypeRuleCtx;
using ir::Value;
using Ints = Attr::Ints;

std::vector<Value> all_results(const OpDef& op, std::vector<Value> inputs, ir::Attrs attrs) {
  ir::Graph& g = inputs[0].graph();
  ir::Node* node = g.add(op_of(op), std::move(inputs), std::move(attrs));
  std::vector<Value> out;
  for (uint32_t j = 0; j < node->types.size(); ++j) out.push_back(node->out(j));
  return out;
}

namespace {

std::vector<Value> operands(Expansion& e) {
  std::vector<Value> xs;
  for (int i = 0; i < e.inputs(); ++i) xs.push_back(e.x(i));
  return xs;
}

void need_operands(const Expansion& e) {
  if (e.inputs() == 0) type_error("{}: needs at least one tensor", e.op.name);
}

void concat_type(TypeRuleCtx& c) {
  if (c.inputs() == 0) type_error("{}: needs at least one tensor", c.op.name);
  Shape out = c.shape(0);
  if (out.rank() == 0) c.fail("scalars cannot be joined; give them a dim, or use stack");
  int axis = c.axis(c.attrs.integer("axis"));
  for (int i = 1; i < c.inputs(); ++i) {
    const Shape& s = c.shape(i);
    if (s.rank() != out.rank()) {
      c.fail("all tensors must have {} dims\nexpand_dims adds one; stack joins along a new one.",
             out.rank());
    }
    if (c.dtype(i) != c.dtype(0)) c.fail_type("all tensors must have one dtype");
    for (int d = 0; d < out.rank(); ++d) {
      bool unknown = s[d] == kUnknownDim || out[d] == kUnknownDim;
      if (d == axis) {
        out.set(d, unknown ? kUnknownDim : out[d] + s[d]);
      } else if (!unknown && s[d] != out[d]) {
        c.fail("sizes may differ along axis {} only, but dim {} differs", axis, d);
      } else {
        out.set(d, std::max(out[d], s[d]));  // the known one
      }
    }
  }
  c.result(c.dtype(0), out);
}

void concat_grad(Adjoint& a) {
  int64_t axis = a.attrs().integer("axis");
  int rank = a.y_type().shape.rank();
  if (axis < 0) axis += rank;
  bool known = true;
  for (int i = 0; i < a.inputs(); ++i)
    known &= a.x_type(i).shape[static_cast<int>(axis)] != kUnknownDim;
  if (!known) {
    std::vector<Value> in{a.dy()};
    for (int i = 0; i < a.inputs(); ++i) in.push_back(a.x(i));
    std::vector<Value> parts = all_results(kConcatGrad, in, {axis});
    for (int i = 0; i < a.inputs(); ++i) a.dx(i) += parts[i];
    return;
  }
  int64_t start = 0;
  for (int i = 0; i < a.inputs(); ++i) {
    int64_t n = a.x_type(i).shape[static_cast<int>(axis)];
    if (a.wants(i)) a.dx(i) += sliced(a.dy(), static_cast<int>(axis), start, n);
    start += n;
  }
}

// y and the tensors that were joined into it: the parts of y, cut at their sizes.
void concat_grad_type(TypeRuleCtx& c) {
  const int axis = c.axis(c.attrs.integer("axis"));
  const Shape& y = c.shape(0);
  int64_t total = 0;
  for (int i = 1; i < c.inputs(); ++i) {
    Shape part = c.shape(i);
    bool fits = part.rank() == y.rank();
    for (int d = 0; fits && d < y.rank(); ++d) {
      fits = d == axis || part[d] == y[d] || part[d] == kUnknownDim || y[d] == kUnknownDim;
    }
    if (!fits) c.fail("part {} of shape {} was not joined into {}", i - 1, part.str(), y.str());
    total = total < 0 || part[axis] == kUnknownDim ? kUnknownDim : total + part[axis];
    c.result(c.dtype(0), part);
  }
  if (total >= 0 && y[axis] != kUnknownDim && total != y[axis])
    c.fail("the parts have {} along axis {} together, y has {}", total, axis, y[axis]);
}

// Sizes of the parts; one -1 stands for what is left when the dim is known.
void split_v_type(TypeRuleCtx& c) {
  int axis = c.axis(c.attrs.integer("split_dim"));
  Ints sizes = c.attrs.ints("size_splits");
  const Attr& num = c.attrs["num_split"];
  if (sizes.empty()) c.fail("size_splits must not be empty");
  if (!num.none() && num.integer() != static_cast<int64_t>(sizes.size())) {
    c.fail("num_split is {}, but size_splits has {} entries", num.integer(), sizes.size());
  }
  int64_t total = 0, open = 0, n = c.shape(0)[axis];
  for (int64_t s : sizes) {
    if (s < -1) c.fail("size_splits must not be negative, got {}", c.attrs["size_splits"].str());
    open += s == -1;
    total += std::max<int64_t>(s, 0);
  }
  if (open > 1) c.fail("only one entry of size_splits may be -1");
  if (n != kUnknownDim && (open ? total > n : total != n)) {
    c.fail("size_splits {} do not add up to {}, the size of axis {}", c.attrs["size_splits"].str(),
           n, axis);
  }
  for (int64_t s : sizes) {
    Shape out = c.shape(0);
    out.set(axis, s >= 0 ? s : n == kUnknownDim ? n : n - total);
    c.result(c.dtype(0), out);
  }
}

void split_equal_type(TypeRuleCtx& c) {
  int axis = c.axis(c.attrs.integer("axis"));
  int64_t parts = c.attrs.integer("output_num");
  Shape out = c.shape(0);
  if (parts < 1) c.fail("output_num must be 1 or more, got {}", parts);
  if (out[axis] != kUnknownDim) {
    if (out[axis] % parts != 0)
      c.fail("axis {} of size {} cannot be cut into {} equal parts", axis, out[axis], parts);
    out.set(axis, out[axis] / parts);
  }
  for (int64_t j = 0; j < parts; ++j) c.result(c.dtype(0), out);
}

template <const char* axis_name>
void parts_grad(Adjoint& a) {
  std::vector<Value> parts;
  for (uint32_t j = 0; j < a.node().types.size(); ++j) parts.push_back(a.dy(static_cast<int>(j)));
  a.dx(0) += kConcat(parts, {a.attrs().integer(axis_name)});
}
constexpr char kAxisName[] = "axis", kSplitDimName[] = "split_dim";

int64_t known_size(const Expansion& e, int axis) {
  int64_t n = e.x(0).shape()[axis];
  if (n == kUnknownDim)
    value_error("{}: axis {} has an unknown size, so the number of parts is unknown", e.op.name,
                axis);
  return n;
}

void results_of(Expansion& e, const Ints& sizes, int axis) {
  e.results = all_results(kSplitV, {e.x(0)}, {sizes, axis});
}

// An int is the size of each part, the last may be smaller; a list gives the sizes.
void expand_split(Expansion& e) {
  int axis = normalize_axis(e.attrs.integer("axis"), e.x(0).rank(), "split");
  Ints sizes = e.attrs.ints("split_size_or_sections");
  if (sizes.size() == 1) {
    int64_t n = known_size(e, axis), step = sizes[0];
    if (step < 1) value_error("split: the size of a part must be 1 or more, got {}", step);
    sizes.assign(static_cast<size_t>(n / step), step);
    if (n % step || n == 0) sizes.push_back(n % step);
  }
  results_of(e, sizes, axis);
}

void expand_chunk(Expansion& e) {
  int axis = normalize_axis(e.attrs.integer("axis"), e.x(0).rank(), "chunk");
  int64_t n = known_size(e, axis), chunks = e.attrs.integer("chunks");
  if (chunks < 1) value_error("chunk: chunks must be 1 or more, got {}", chunks);
  int64_t step = std::max<int64_t>(1, (n + chunks - 1) / chunks);
  Ints sizes(static_cast<size_t>(n / step), step);
  if (n % step || n == 0) sizes.push_back(n % step);
  results_of(e, sizes, axis);
}

// NumPy's array_split: an int gives nearly equal parts (longer ones first), a list the cutting
// points.
void expand_tensor_split(Expansion& e) {
  int axis = normalize_axis(e.attrs.integer("axis"), e.x(0).rank(), "tensor_split");
  int64_t n = known_size(e, axis);
  const Ints& given = e.attrs.ints("indices_or_sections");
  Ints sizes;
  if (!e.attrs.boolean("at_indices")) {
    constexpr int64_t kMaxParts = 1 << 16;
    if (given.size() != 1 || given[0] < 1 || given[0] > kMaxParts)
      value_error("tensor_split: the number of parts must be 1 to {}, got {}", kMaxParts,
                  e.attrs["indices_or_sections"].str());
    for (int64_t j = 0; j < given[0]; ++j)
      sizes.push_back(n / given[0] + (j < n % given[0] ? 1 : 0));
    return results_of(e, sizes, axis);
  }
  Ints starts{0}, ends;
  for (int64_t at : given) {
    int64_t cut = std::clamp<int64_t>(at < 0 ? at + n : at, 0, n);
    ends.push_back(cut);
    starts.push_back(cut);
  }
  ends.push_back(n);
  // Cutting points that go back give empty parts, as in NumPy; slices need no order.
  for (size_t j = 0; j < starts.size(); ++j) {
    e.result(sliced(e.x(0), axis, starts[j], std::max<int64_t>(0, ends[j] - starts[j])));
  }
}

void expand_unstack(Expansion& e) {
  int axis = normalize_axis(e.attrs.integer("axis"), e.x(0).rank(), "unstack");
  int64_t n = e.x(0).shape()[axis];
  const Attr& num = e.attrs["num"];
  if (n == kUnknownDim && !num.none()) n = num.integer();
  if (n == kUnknownDim) n = known_size(e, axis);
  if (!num.none() && num.integer() != n)
    value_error("unstack: num is {}, but axis {} has size {}", num.integer(), axis, n);
  if (n == 0) value_error("unstack: axis {} has size 0, there is nothing to give", axis);
  for (Value part : all_results(kSplitEqual, {e.x(0)}, {axis, n}))
    e.result(kSqueeze({part}, {Ints{axis}}));
}

void expand_stack(Expansion& e) {
  need_operands(e);
  std::vector<Value> xs;
  for (Value x : operands(e)) {
    if (!(x.shape() == e.x(0).shape()) && x.shape().known() && e.x(0).shape().known()) {
      value_error("stack: all tensors must have one shape, got {} and {}", e.x(0).type().str(),
                  x.type().str());
    }
    xs.push_back(kExpandDims({x}, {e.attrs["axis"]}));
  }
  e.result(kConcat(xs, {e.attrs.integer("axis")}));
}

void expand_meshgrid(Expansion& e) {
  need_operands(e);
  int n = e.inputs();
  if (n > kMaxRank)
    value_error("meshgrid: {} vectors given; at most {} are supported", n, kMaxRank);
  Ints lengths;
  for (Value x : operands(e)) {
    if (x.rank() != 1) value_error("meshgrid: operands must be vectors, got {}", x.type().str());
    lengths.push_back(x.shape()[0]);
  }
  bool swapped = e.attrs.string("indexing") == "xy" && n > 1;
  if (swapped) std::swap(lengths[0], lengths[1]);
  for (int i = 0; i < n; ++i) {
    int at = swapped && i < 2 ? 1 - i : i;
    Ints dims(n, 1);
    dims[at] = -1;
    Value x = kReshape({e.x(i)}, {dims});
    if (std::count(lengths.begin(), lengths.end(), kUnknownDim) == 0) {
      e.result(kBroadcastTo({x}, {lengths}));
      continue;
    }
    for (int k = 0; k < n; ++k) {  // unknown lengths: repeated like each of the others
      if (k == i) continue;
      Ints other(n, 1);
      other[swapped && k < 2 ? 1 - k : k] = -1;
      Value like = kReshape({e.x(k)}, {other});
      x = kBroadcastLike({x, x + kZerosLike({like}, {x.dtype()})});
    }
    e.result(x);
  }
}

template <int least>
std::vector<Value> at_least(Expansion& e) {
  need_operands(e);
  std::vector<Value> xs;
  for (Value x : operands(e)) {
    xs.push_back(least == 1 ? kAtleast1d({x}) : least == 2 ? kAtleast2d({x}) : kAtleast3d({x}));
  }
  return xs;
}

}  // namespace

void concat_moves(MoveCtx& c) {
  int axis = c.axis(c.attrs.integer("axis"));
  const Shape& out = c.out();
  int64_t inner = out.size(axis + 1, out.rank()), start = 0;
  for (int i = 0; i < c.inputs(); ++i) {
    int64_t n = c.in(i)[axis] * inner;
    c.add(i).dim(out.size(0, axis), n, out[axis] * inner).dim(n, 1, 1).dst_offset = start;
    start += n;
  }
}

namespace {
void cut(MoveCtx& c, int axis) {
  const Shape& in = c.in();
  int64_t inner = in.size(axis + 1, in.rank()), start = 0;
  for (int j = 0; j < c.outputs(); ++j) {
    int64_t n = c.out(j)[axis] * inner;
    c.add(0, j).dim(in.size(0, axis), in[axis] * inner, n).dim(n, 1, 1).src_offset = start;
    start += n;
  }
}
}  // namespace

void split_v_moves(MoveCtx& c) { cut(c, c.axis(c.attrs.integer("split_dim"))); }
void split_moves(MoveCtx& c) { cut(c, c.axis(c.attrs.integer("axis"))); }

constexpr OpDef kConcat = check({
    .name = "concat",
    .doc = "Puts tensors one after the other along `axis`; all other dims agree.",
    .in = {"*tensors: any"},
    .attr = {"axis: int = 0"},
    .promote = Promote::kCommon,
    .type = concat_type,
    .shard = "... -> ... : whole(axis)",
    .moves = "m* -> m : axis axis",
    .grad = concat_grad,
    .loops = move_loops<concat_moves>,
    .cases = "tensors[2, 3, 4]; tensors count 1 3; axis = 0 1 -1; bad axis = 3 | tensors[2, 3] [2, "
             "1]; axis = 1; bad "
             "axis = 0; skip scalar: scalars have no axis",
    .onnx = "Concat",
    .primitive = "Concat(axis)",
    .alias = "cat",
});

constexpr OpDef kConcatGrad = check({
    .name = "concat_grad",
    .doc = "Cuts y into parts of the shapes of the other operands, whose values are not used.",
    .in = {"y: any", "*like: any"},
    .attr = {"axis: int"},
    .out = {"*parts"},
    .type = concat_grad_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          std::vector<Value> parts;
          for (uint32_t j = 0; j < a.node().types.size(); ++j)
            parts.push_back(a.dy(static_cast<int>(j)));
          a.dx(0) += kConcat(parts, {a.attrs().integer("axis")});
        },
    .loops = move_loops<split_moves>,
    .batch = batch_axis,
    .cases = "y[5, 2]; like[2, 2] [3, 2]; axis = 0; no grad of like: only its shape is used; skip "
             "dtypes: like is not "
             "read; skip zero_size: sizes belong together; skip scalar: scalars have no axis",
    .internal = true,
});

constexpr OpDef kSplitV = check({
    .name = "split_v",
    .doc = "Cuts axis split_dim into parts of the sizes size_splits, one of which may be -1: what "
           "is left.",
    .in = {"input: any"},
    .attr = {"size_splits: int[]", "split_dim: int", "num_split: int? = None"},
    .out = {"*parts"},
    .type = split_v_type,
    .shard = "... -> ... : whole(split_dim)",
    .moves = "m -> m* : split_dim axis",
    .grad = parts_grad<kSplitDimName>,
    .loops = move_loops<split_v_moves>,
    .cases = "input[2, 6, 2]; size_splits = [1, 5] [2, 0, 4] [3, -1] [6]; split_dim = 1 -2; bad "
             "size_splits = [1, 2]; bad "
             "size_splits = [7, -1]; bad split_dim = 3; skip zero_size: sizes are given; skip "
             "scalar: a scalar has no axes",
    .onnx = "Split",
    .primitive = "SplitV(size_splits, split_dim, num_split)",
    .internal = true,
});

constexpr OpDef kSplitEqual = check({
    .name = "split_equal",
    .doc = "Cuts an axis into output_num parts of equal size.",
    .in = {"input: any"},
    .attr = {"axis: int = 0", "output_num: int = 1"},
    .out = {"*parts"},
    .type = split_equal_type,
    .shard = "... -> ... : whole(axis)",
    .moves = "m -> m* : axis axis",
    .grad = parts_grad<kAxisName>,
    .loops = move_loops<split_moves>,
    .cases = "input[4, 6]; axis = 0 -1; output_num = 1 2; bad output_num = 5; bad output_num = 0; "
             "bad axis = 2; skip "
             "scalar: a scalar has no axes",
    .onnx = "Split",
    .primitive = "Split(axis, output_num)",
    .internal = true,
});

constexpr OpDef kSplit = check({
    .name = "split",
    .doc = "Cuts an axis into parts: an int is the size of each (the last may be smaller), a list "
           "gives the sizes.",
    .in = {"tensor: any"},
    .attr = {"split_size_or_sections: int[]", "axis: int = 0"},
    .out = {"*parts"},
    .shard = "none",
    .expand = expand_split,
    .cases = "tensor[5, 4]; split_size_or_sections = 2 5 [1, 4] [5]; axis = 0; bad "
             "split_size_or_sections = 0; bad "
             "split_size_or_sections = [1, 1]; bad axis = 2; skip zero_size: sizes are given; skip "
             "scalar: a scalar has "
             "no axes",
    .method = "split",
});

constexpr OpDef kChunk = check({
    .name = "chunk",
    .doc = "Cuts an axis into at most `chunks` parts of equal size, the last one smaller when it "
           "does not divide.",
    .in = {"input: any"},
    .attr = {"chunks: int", "axis: int = 0"},
    .out = {"*parts"},
    .shard = "none",
    .expand = expand_chunk,
    .cases = "input[5, 4]; chunks = 1 2 4 9; axis = 0 1 -1; bad chunks = 0; bad axis = 2; skip "
             "scalar: a scalar has no axes",
    .method = "chunk",
});

constexpr OpDef kTensorSplit = check({
    .name = "tensor_split",
    .doc = "Cuts an axis into that many nearly equal parts, the longer ones first; with "
           "at_indices, at those indices.",
    .in = {"input: any"},
    .attr = {"indices_or_sections: int[]", "axis: int = 0", "at_indices: bool = False"},
    .out = {"*parts"},
    .shard = "none",
    .expand = expand_tensor_split,
    .cases = "input[5, 4]; indices_or_sections = 2 3 7; axis = 0 -1; bad indices_or_sections = 0; "
             "bad axis = 2 | "
             "indices_or_sections = [1, 3] [-1] [4, 2]; at_indices = True; skip zero_size: indices "
             "name sizes; skip "
             "scalar: a scalar has no axes",
});

constexpr OpDef kUnstack = check({
    .name = "unstack",
    .doc = "The slices along `axis`, without that axis; num, when given, must be their number.",
    .in = {"x: any"},
    .attr = {"axis: int = 0", "num: int? = None"},
    .out = {"*parts"},
    .shard = "none",
    .expand = expand_unstack,
    .cases = "x[3, 4]; axis = 0 1 -1; bad axis = 2; bad num = 7; skip zero_size: there is nothing "
             "to give; skip scalar: a "
             "scalar has no axes",
    .primitive = "Unstack(axis, num)",
    .method = "unbind",
    .alias = "unbind",
});

constexpr OpDef kStack = check({
    .name = "stack",
    .doc = "Puts tensors of one shape next to each other along a new axis.",
    .in = {"*tensors: any"},
    .attr = {"axis: int = 0"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_stack,
    .cases = "tensors[2, 3]; tensors count 1 3; axis = 0 1 -1; bad axis = 3",
    .primitive = "Stack(axis)",
});

constexpr OpDef kMeshgrid = check({
    .name = "meshgrid",
    .doc = "Coordinate tensors of the grid spanned by vectors; xy exchanges the first two dims.",
    .in = {"*inputs: any"},
    .attr = {"indexing: str(xy|ij) = xy"},
    .out = {"*grids"},
    .shard = "none",
    .expand = expand_meshgrid,
    .cases = "inputs[2] [3]; indexing = xy ij | inputs[2] [3] [4]; skip zero_size: vectors; skip "
             "scalar: vectors are needed",
    .primitive = "Meshgrid(indexing)",
});

constexpr OpDef kHstack = check({
    .name = "hstack",
    .doc = "Joins vectors along their only dim, other tensors along the second.",
    .in = {"*tensors: any"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          std::vector<Value> xs = at_least<1>(e);
          int64_t axis = xs[0].rank() == 1 ? 0 : 1;
          e.result(kConcat(xs, {axis}));
        },
    .cases =
        "tensors[3] [2] | tensors[2, 3] [2, 1] | tensors[]; skip zero_size: shapes belong together",
});

constexpr OpDef kVstack = check({
    .name = "vstack",
    .doc = "Joins tensors along the first dim, vectors as rows.",
    .in = {"*tensors: any"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = [](Expansion& e) { e.result(kConcat(at_least<2>(e), {0})); },
    .cases =
        "tensors[3] [3] | tensors[2, 3] [1, 3] | tensors[]; skip zero_size: shapes belong together",
});

constexpr OpDef kDstack = check({
    .name = "dstack",
    .doc = "Joins tensors along the third dim, vectors and matrices as [1, n, 1] and [m, n, 1].",
    .in = {"*inputs: any"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = [](Expansion& e) { e.result(kConcat(at_least<3>(e), {2})); },
    .cases =
        "inputs[3] [3] | inputs[2, 3] [2, 3] | inputs[]; skip zero_size: shapes belong together",
});

constexpr OpDef kColumnStack = check({
    .name = "column_stack",
    .doc = "Joins vectors as the columns of a matrix, other tensors along the second dim.",
    .in = {"*tensors: any"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_operands(e);
          std::vector<Value> xs;
          for (Value x : operands(e)) xs.push_back(x.rank() < 2 ? kReshape({x}, {Ints{-1, 1}}) : x);
          e.result(kConcat(xs, {1}));
        },
    .cases =
        "tensors[3] [3] | tensors[2, 3] [2, 1] | tensors[]; skip zero_size: shapes belong together",
});

}  // namespace mycel::ops
