// Ops that repeat the elements of one operand.
#include <algorithm>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/batching.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"
#include "ops/value.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::TypeRuleCtx;
namespace types = ir::types;
using ir::Value;
using Ints = Attr::Ints;

namespace {

void broadcast_to_type(TypeRuleCtx& c) {
  const Ints& dims = c.attrs.ints("shape");
  const Shape& from = c.shape(0);
  int lead = static_cast<int>(dims.size()) - from.rank();
  if (lead < 0) c.fail("shape {} has fewer dims than the operand", c.attrs["shape"].str());
  Shape to;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    int64_t have = d < lead ? 1 : from[d - lead], want = dims[d];
    if (want < -1 || (want == -1 && d < lead))
      c.fail("shape {} has a negative size", c.attrs["shape"].str());
    if (want == -1) want = have;  // kept
    if (have != 1 && have != want && have != kUnknownDim) {
      c.fail("a dim of size {} cannot become {}; only size 1 can be repeated", have, want);
    }
    to.push_back(want);
  }
  c.result(c.dtype(0), to);
}

void broadcast_like_type(TypeRuleCtx& c) {
  Shape s;
  if (!mycel::broadcast(c.shape(0), c.shape(1), &s) || (c.shape(1).known() && !(s == c.shape(1)))) {
    c.fail("the first operand cannot be repeated into the shape of the second");
  }
  c.result(c.dtype(0), c.shape(1));
}

// Repetitions per dim of the result, which may have more dims than the operand.
Ints multiples(const ir::AttrsView& attrs, int rank) {
  Ints m = attrs.ints("multiples");
  while (static_cast<int>(m.size()) < rank) m.insert(m.begin(), 1);
  return m;
}

void tile_type(TypeRuleCtx& c) {
  const Shape& s = c.shape(0);
  Ints m = multiples(c.attrs, s.rank());
  int lead = static_cast<int>(m.size()) - s.rank();
  Shape out;
  for (int d = 0; d < static_cast<int>(m.size()); ++d) {
    if (m[d] < 0) c.fail("multiples must not be negative, got {}", c.attrs["multiples"].str());
    int64_t n = d < lead ? 1 : s[d - lead];
    out.push_back(n == kUnknownDim ? n : n * m[d]);
  }
  c.result(c.dtype(0), out);
}

// Sums dim d of g over `count` repetitions: whole blocks one after the other (tile) or neighbours
// (repeat).
Value folded(Value g, int d, int64_t count, bool blocks) {
  const Shape s = g.shape();
  if (s.known()) {
    // Four dims serve any rank, so that the limit on ranks never matters.
    int64_t n = s[d] / count;
    Ints dims{s.size(0, d), blocks ? count : n, blocks ? n : count, s.size(d + 1, s.rank())};
    Shape result = s;
    result.set(d, n);
    return kReshape({kReduceSum({kReshape({g}, {dims})}, {Ints{blocks ? 1 : 2}, false})},
                    {Attr(result)});
  }
  std::vector<Value> parts;
  if (blocks) parts = all_results(kSplitEqual, {g}, {d, count});
  for (int64_t k = 0; k < count && !blocks; ++k) {
    Ints begin(s.rank(), 0), end(s.rank(), INT64_MAX), step(s.rank(), 1);
    begin[d] = k;
    step[d] = count;
    parts.push_back(kBasicSlice({g}, {begin, end, step}));
  }
  Value sum = parts[0];
  for (size_t k = 1; k < parts.size(); ++k) sum = sum + parts[k];
  return sum;
}

void tile_grad(Adjoint& a) {
  const Shape& s = a.x_type(0).shape;
  Ints m = multiples(a.attrs(), s.rank());
  if (std::count(m.begin(), m.end(), 0) > 0) return;  // an empty result: no influence
  Value g = a.dy();
  for (int d = 0; d < static_cast<int>(m.size()); ++d) {
    if (m[d] > 1) g = folded(g, d, m[d], true);
  }
  a.dx(0) += static_cast<int>(m.size()) > s.rank() ? shaped_like(a, g, 0) : g;
}

void repeat_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int64_t rep = c.attrs.integer("rep");
  int d = c.axis(c.attrs.integer("axis"));
  if (rep < 0) c.fail("rep must not be negative, got {}", rep);
  if (s[d] != kUnknownDim) s.set(d, s[d] * rep);
  c.result(c.dtype(0), s);
}

void repeat_grad(Adjoint& a) {
  int64_t rep = a.attrs().integer("rep"), axis = a.attrs().integer("axis");
  if (rep == 0) return;
  int rank = a.x_type(0).shape.rank();
  a.dx(0) += folded(a.dy(), static_cast<int>(axis < 0 ? axis + rank : axis), rep, false);
}

// Counts per element are known while compiling, so the sources are a constant list of indices.
void expand_repeat_interleave(Expansion& e) {
  Value x = e.x(0);
  const Ints& counts = e.attrs.ints("repeats");
  if (e.attrs["axis"].none()) x = kRavel({x});
  int axis = e.attrs["axis"].none()
                 ? 0
                 : normalize_axis(e.attrs.integer("axis"), x.rank(), "repeat_interleave");
  for (int64_t n : counts) {
    if (n < 0) value_error("repeat_interleave: repeats must not be negative, got {}", n);
  }
  if (counts.size() == 1) return e.result(kRepeatElements({x}, {counts[0], axis}));
  int64_t n = x.shape()[axis];
  if (n != kUnknownDim && n != static_cast<int64_t>(counts.size())) {
    value_error("repeat_interleave: {} repeats given for axis {} of size {}", counts.size(), axis,
                n);
  }
  std::vector<int64_t> from;
  for (size_t i = 0; i < counts.size(); ++i)
    from.insert(from.end(), counts[i], static_cast<int64_t>(i));
  Value index = e.graph.constant(Tensor::from(from, {static_cast<int64_t>(from.size())}));
  e.result(kGather({x, index}, {axis}));
}

}  // namespace

void broadcast_moves(MoveCtx& c) {
  Strides from = row_strides(c.in()), to = row_strides(c.out());
  int lead = c.out().rank() - c.in().rank();
  Move& m = c.add();
  for (int d = 0; d < c.out().rank(); ++d) {
    bool repeated = d < lead || c.in()[d - lead] == 1;
    m.dim(c.out()[d], repeated ? 0 : from[d - lead], to[d]);
  }
}

void tile_moves(MoveCtx& c) {
  Ints m = multiples(c.attrs, c.in().rank());
  Strides from = row_strides(c.in()), to = row_strides(c.out());
  int lead = c.out().rank() - c.in().rank();
  Move& move = c.add();
  for (int d = 0; d < c.out().rank(); ++d) {
    int64_t n = d < lead ? 1 : c.in()[d - lead];
    move.dim(m[d], 0, n * to[d]).dim(n, d < lead ? 0 : from[d - lead], to[d]);
  }
}

void repeat_moves(MoveCtx& c) {
  int axis = c.axis(c.attrs.integer("axis"));
  Strides from = row_strides(c.in()), to = row_strides(c.out());
  int64_t rep = c.attrs.integer("rep");
  Move& m = c.add();
  for (int d = 0; d < c.in().rank(); ++d) {
    m.dim(c.in()[d], from[d], to[d] * (d == axis ? rep : 1));
    if (d == axis) m.dim(rep, 0, to[d]);
  }
}

constexpr OpDef kBroadcastTo = check({
    .name = "broadcast_to",
    .doc = "Repeats dims of size 1, and puts new dims in front, until the shape is reached; -1 "
           "keeps a size.",
    .in = {"input: any"},
    .attr = {"shape: int[]"},
    .type = broadcast_to_type,
    .shard = "none",
    .moves = "b -> m : shape shape",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },  // additions to dx are summed back
    .loops = move_loops<broadcast_moves>,
    .batch = batch_broadcast,
    .cases =
        "input[3, 1]; shape = [3, 4] [2, 3, 1] [2, -1, 5] [3, 0]; bad shape = [3]; bad shape = [2, "
        "4] | input[]; "
        "shape = [] [2, 2]; skip zero_size: the shape names sizes; skip scalar: the shape has dims",
    .onnx = "Expand",
    .primitive = "BroadcastTo(shape)",
    .method = "broadcast_to expand",
    .alias = "expand",
});

constexpr OpDef kBroadcastLike = check({
    .name = "broadcast_like",
    .doc = "The first operand repeated into the shape of the second, whose values are not used.",
    .in = {"input: any", "other: any"},
    .type = broadcast_like_type,
    .shard = "none",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },
    .loops = move_loops<broadcast_moves>,
    .batch = batch_broadcast,
    .cases = "input[3, 1]; other[2, 3, 4]; no grad of other: only its shape is used; bad other[4, "
             "5]; skip dtypes: "
             "other is not read; skip zero_size: the shapes belong together; skip scalar: the "
             "shapes belong together",
    .onnx = "Expand",
    .method = "expand_as",
});

constexpr OpDef kTile = check({
    .name = "tile",
    .doc = "Repeats the whole operand multiples[i] times along dim i; the shorter of shape and "
           "multiples is filled "
           "with ones in front.",
    .in = {"input: any"},
    .attr = {"multiples: int[]"},
    .type = tile_type,
    .shard = "none",
    .grad = tile_grad,
    .loops = move_loops<tile_moves>,
    .batch = batch_tile,
    .cases = "input[2, 3]; multiples = [2, 1] [1, 3] [2, 2, 2] [2] [0, 1]; bad multiples = [-1]",
    .onnx = "Tile",
    .primitive = "Tile()",
    .method = "tile",
});

constexpr OpDef kRepeatElements = check({
    .name = "repeat_elements",
    .doc = "Repeats every element rep times along `axis`.",
    .in = {"x: any"},
    .attr = {"rep: int", "axis: int = 0"},
    .type = repeat_type,
    .shard = "none",
    .grad = repeat_grad,
    .loops = move_loops<repeat_moves>,
    .batch = batch_axis,
    .cases =
        "rep = 1 3 0; axis = 0 1 -1; bad axis = 3; bad rep = -1; skip scalar: a scalar has no axes",
    .onnx = "Gather",
});

constexpr OpDef kRepeatInterleave = check({
    .name = "repeat_interleave",
    .doc = "Repeats elements along `axis`, all equally often or each by its own count; without "
           "axis the operand is "
           "flattened.",
    .in = {"input: any"},
    .attr = {"repeats: int[]", "axis: int? = None"},
    .shard = "none",
    .expand = expand_repeat_interleave,
    .cases = "input[2, 3]; repeats = 2 [1, 0, 3]; axis = 1 -1; bad repeats = [1, 2]; bad repeats = "
             "[-1]; bad axis = 2 | "
             "repeats = 2; axis = None; skip zero_size: counts belong to sizes; skip scalar: a "
             "scalar has no axes",
    .method = "repeat repeat_interleave",
});

}  // namespace mycel::ops
