// Ops that give the same elements, in the same order, another shape: views, which cost nothing.
#include <algorithm>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::TypeRuleCtx;
using ir::Value;

namespace {

void reshape_type(TypeRuleCtx& c) {
  const Attr::Ints& dims = c.attrs.ints("shape");
  const Shape& from = c.shape(0);
  Shape to;
  int open = -1;
  int64_t rest = 1;  // product of the sizes given
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < -1)
      c.fail("shape must have no negative entries but one -1, got {}", c.attrs["shape"].str());
    if (dims[d] == -1 && open >= 0)
      c.fail("only one entry of shape may be -1, got {}", c.attrs["shape"].str());
    if (dims[d] == -1) open = static_cast<int>(d);
    to.push_back(dims[d]);
  }
  if (open >= 0) to.set(open, 1);
  rest = to.size();
  if (!from.known()) {
    if (open >= 0) to.set(open, kUnknownDim);
  } else if (open < 0) {
    if (rest != from.size()) {
      c.fail(
          "{} elements do not fill shape {}\n"
          "The product of the new shape must be {}; one entry may be -1, which stands for the "
          "rest.",
          from.size(), to.str(), from.size());
    }
  } else {
    if (rest == 0)
      c.fail("-1 cannot be found beside a dim of size 0 in {}", c.attrs["shape"].str());
    if (from.size() % rest != 0) {
      c.fail("{} elements cannot be divided into shape {}", from.size(), c.attrs["shape"].str());
    }
    to.set(open, from.size() / rest);
  }
  c.result(c.dtype(0), to);
}

void expand_dims_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  if (s.rank() == kMaxRank) c.fail("the result would have more than {} dims", kMaxRank);
  s.insert(normalize_axis(c.attrs.integer("axis"), s.rank() + 1, c.op.name.c_str()), 1);
  c.result(c.dtype(0), s);
}

void squeeze_type(TypeRuleCtx& c) {
  const Shape& s = c.shape(0);
  bool drop[kMaxRank] = {};
  const Attr& axes = c.attrs["axis"];
  if (axes.none() || axes.ints().empty()) {
    for (int d = 0; d < s.rank(); ++d) {
      if (s[d] == kUnknownDim)
        c.fail("whether dim {} has size 1 is not known yet: name the axes to drop", d);
      drop[d] = s[d] == 1;
    }
  } else {
    for (int64_t a : axes.ints()) {
      int d = c.axis(a);
      if (s[d] != 1 && s[d] != kUnknownDim)
        c.fail("axis {} has size {}; only size 1 can be dropped", a, s[d]);
      drop[d] = true;
    }
  }
  Shape out;
  for (int d = 0; d < s.rank(); ++d) {
    if (!drop[d]) out.push_back(s[d]);
  }
  c.result(c.dtype(0), out);
}

void collapse_type(TypeRuleCtx& c) {
  const Shape& s = c.shape(0);
  if (s.rank() == 0) return c.result(c.dtype(0), {1});
  int from = c.axis(c.attrs.integer("start_dim")), to = c.axis(c.attrs.integer("end_dim"));
  if (from > to) c.fail("start_dim {} lies behind end_dim {}", from, to);
  Shape out;
  for (int d = 0; d < from; ++d) out.push_back(s[d]);
  bool known = std::none_of(s.begin() + from, s.begin() + to + 1,
                            [](int64_t n) { return n == kUnknownDim; });
  out.push_back(known ? s.size(from, to + 1) : kUnknownDim);
  for (int d = to + 1; d < s.rank(); ++d) out.push_back(s[d]);
  c.result(c.dtype(0), out);
}

void view_grad(Adjoint& a) { a.dx(0) += shaped_like(a, a.dy(), 0); }

// atleast_nd: dims of size 1 in front; for three, as NumPy does, one behind a vector or matrix.
template <int rank>
void expand_atleast(Expansion& e) {
  Value x = e.x(0);
  if (rank == 3 && (x.rank() == 1 || x.rank() == 2)) x = kExpandDims({x}, {-1});
  while (x.rank() < rank) x = kExpandDims({x}, {0});
  e.result(x);
}

}  // namespace

Value shaped_like(Adjoint& a, Value v, int i) {
  const Shape& s = a.x_type(i).shape;
  auto unknown = std::count(s.begin(), s.end(), kUnknownDim);
  if (unknown > 1 || (unknown == 1 && std::count(s.begin(), s.end(), 0) > 0))
    return kReshapeLike({v, a.x(i)});
  return kReshape({v}, {Attr(s)});
}

constexpr OpDef kReshape = check({
    .name = "reshape",
    .doc = "The elements in row-major order under another shape; one entry may be -1 and follows "
           "from the "
           "others. Shares memory with its operand.",
    .in = {"input: any"},
    .attr = {"shape: int[]"},
    .type = reshape_type,
    .shard = "none",
    .grad = view_grad,
    .loops = move_loops<identity_moves>,
    .batch = batch_view,
    .cases = "input[2, 3, 4]; shape = [24] [4, 6] [-1, 2] [2, 3, 4, 1]; bad shape = [5]; bad shape "
             "= [-1, -1]; "
             "bad shape = [7, -1] | input[]; shape = [] [1, 1] | input[0, 3]; shape = [3, 0] [0]; "
             "bad shape = "
             "[0, -1]; skip zero_size: shapes name sizes; skip scalar: shapes name sizes",
    .onnx = "Reshape",
    .primitive = "Reshape()",
    .method = "reshape view",
    .view = true,
});

constexpr OpDef kReshapeLike = check({
    .name = "reshape_like",
    .doc = "The first operand under the shape of the second, whose values are not used.",
    .in = {"input: any", "other: any"},
    .type =
        [](TypeRuleCtx& c) {
          const Shape &a = c.shape(0), &b = c.shape(1);
          if (a.known() && b.known() && a.size() != b.size()) c.fail("the shapes differ in size");
          c.result(c.dtype(0), b);
        },
    .shard = "none",
    .grad = view_grad,
    .loops = move_loops<identity_moves>,
    .batch = batch_view,
    .cases =
        "input[2, 6]; other[3, 4]; no grad of other: only its shape is used; skip dtypes: other is "
        "not read; "
        "bad other[5]; skip zero_size: sizes belong together; skip scalar: sizes belong together",
    .onnx = "Reshape",
    .method = "reshape_as view_as",
    .view = true,
});

constexpr OpDef kExpandDims = check({
    .name = "expand_dims",
    .doc = "Puts a dim of size 1 at `axis`, in [-rank - 1, rank].",
    .in = {"input_x: any"},
    .attr = {"axis: int"},
    .type = expand_dims_type,
    .shard = "none",
    .grad = view_grad,
    .loops = move_loops<identity_moves>,
    .batch = batch_view,
    .cases = "axis = 0 1 -1 3; bad axis = 5 | input_x[]; axis = 0 -1",
    .onnx = "Unsqueeze",
    .primitive = "ExpandDims()",
    .method = "expand_dims unsqueeze",
    .alias = "unsqueeze",
    .view = true,
});

constexpr OpDef kSqueeze = check({
    .name = "squeeze",
    .doc = "Drops the dims `axis`, which must have size 1; without axis, all dims of size 1.",
    .in = {"input: any"},
    .attr = {"axis: int[]? = None"},
    .type = squeeze_type,
    .shard = "none",
    .grad = view_grad,
    .loops = move_loops<identity_moves>,
    .batch = batch_view,
    .cases = "input[1, 3, 1]; axis = None 0 -1 [0, 2]; bad axis = 1 | input[3, 2]; axis = None",
    .onnx = "Squeeze",
    .primitive = "Squeeze(axis)",
    .method = "squeeze",
    .view = true,
});

constexpr OpDef kCollapseDims = check({
    .name = "collapse_dims",
    .doc =
        "Merges the dims from start_dim to end_dim, both included, into one; a scalar becomes [1].",
    .in = {"input: any"},
    .attr = {"start_dim: int", "end_dim: int = -1"},
    .type = collapse_type,
    .shard = "none",
    .grad = view_grad,
    .loops = move_loops<identity_moves>,
    .batch = batch_view,
    .cases = "start_dim = 0 1 -1; end_dim = -1 2; bad start_dim = 3",
    .onnx = "Reshape",
    .view = true,
    .internal = true,
});

constexpr OpDef kFlatten = check({
    .name = "flatten",
    .doc = "Merges the dims from start_dim to end_dim, both included; order F transposes the "
           "operand first.",
    .in = {"input: any"},
    .attr = {"order: str(C|F) = C", "start_dim: int = 1", "end_dim: int = -1"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          Value x = e.x(0);
          if (e.attrs.string("order") == "F" && x.rank() > 1) x = kTranspose({x});
          bool vector = x.rank() < 2;  // start_dim = 1, the default, is allowed too
          int64_t from = e.attrs.integer("start_dim"), to = e.attrs.integer("end_dim");
          if (vector && (from < -1 || from > 1 || to < -1 || to > 0)) {
            value_error("flatten: dims {} to {} are not those of {}", from, to, x.type().str());
          }
          e.result(kCollapseDims({x}, {vector ? Attr(0) : e.attrs["start_dim"],
                                       vector ? Attr(-1) : e.attrs["end_dim"]}));
        },
    .cases =
        "order = C F; start_dim = 0 1; end_dim = -1 2; bad end_dim = 3 | input[3]; end_dim = -1 "
        "0; bad end_dim = 1; bad start_dim = 2",
    .onnx = "Flatten",
    .primitive = "Flatten()",
});

constexpr OpDef kRavel = check({
    .name = "ravel",
    .doc = "All elements in row-major order in one dim.",
    .in = {"input: any"},
    .shard = "none",
    .expand = [](Expansion& e) { e.result(kCollapseDims({e.x(0)}, {0, -1})); },
    .cases = "default",
    .method = "ravel",
});

constexpr OpDef kAtleast1d = check({
    .name = "atleast_1d",
    .doc = "The operand, a scalar as a vector of one element.",
    .in = {"inputs: any"},
    .shard = "none",
    .expand = expand_atleast<1>,
    .cases = "inputs[] [3] [2, 3]",
});

constexpr OpDef kAtleast2d = check({
    .name = "atleast_2d",
    .doc = "The operand with dims of size 1 in front until there are two.",
    .in = {"inputs: any"},
    .shard = "none",
    .expand = expand_atleast<2>,
    .cases = "inputs[] [3] [2, 3]",
});

constexpr OpDef kAtleast3d = check({
    .name = "atleast_3d",
    .doc = "The operand with three dims or more: [] gives [1, 1, 1], [n] gives [1, n, 1], [m, n] "
           "gives [m, n, 1].",
    .in = {"inputs: any"},
    .shard = "none",
    .expand = expand_atleast<3>,
    .cases = "inputs[] [3] [2, 3] [2, 3, 4]",
});

}  // namespace mycel::ops
