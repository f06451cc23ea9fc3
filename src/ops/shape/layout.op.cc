// Ops that reorder or repeat the elements of one operand.
#include <algorithm>
#include <numeric>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
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

// The permutation as non-negative axes; None or [] reverses the dims.
Ints permutation(const Attr& attr, int rank) {
  Ints perm(rank);
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (attr.none() || attr.ints().empty()) return perm;
  perm = attr.ints();
  for (int64_t& p : perm) p += p < 0 ? rank : 0;
  return perm;
}

void transpose_type(TypeRuleCtx& c) {
  const Shape& s = c.shape(0);
  Ints perm = permutation(c.attrs["input_perm"], s.rank());
  Ints sorted = perm, axes(s.rank());
  std::sort(sorted.begin(), sorted.end());
  std::iota(axes.begin(), axes.end(), 0);
  if (sorted != axes) {
    c.fail("input_perm must name each of the {} axes once, got {}", s.rank(), c.attrs["input_perm"].str());
  }
  Shape out;
  for (int64_t p : perm) out.push_back(s[static_cast<int>(p)]);
  c.result(c.dtype(0), out);
}

void transpose_grad(Adjoint& a) {
  Ints perm = permutation(a.attrs()["input_perm"], a.y_type().shape.rank()), inverse(perm.size());
  for (size_t d = 0; d < perm.size(); ++d) inverse[perm[d]] = static_cast<int64_t>(d);
  a.dx(0) += kTranspose({a.dy()}, {inverse});
}

void expand_swapaxes(Expansion& e) {
  int rank = e.x(0).rank();
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[normalize_axis(e.attrs.integer("axis0"), rank, "swapaxes")],
            perm[normalize_axis(e.attrs.integer("axis1"), rank, "swapaxes")]);
  e.result(kTranspose({e.x(0)}, {perm}));
}

// As NumPy: the axes not named keep their order around those that are.
Ints moved_axes(int rank, const Ints& source, const Ints& destination) {
  if (source.size() != destination.size()) {
    value_error("moveaxis: source has {} axes, destination {}; they must be equally many", source.size(),
                destination.size());
  }
  Ints perm(rank, -1);
  std::vector<bool> taken(rank, false);
  for (size_t i = 0; i < source.size(); ++i) {
    int from = normalize_axis(source[i], rank, "moveaxis"), to = normalize_axis(destination[i], rank, "moveaxis");
    if (taken[from] || perm[to] >= 0) value_error("moveaxis: an axis is named twice");
    taken[from] = true;
    perm[to] = from;
  }
  int next = 0;
  for (int64_t& p : perm) {
    if (p >= 0) continue;
    while (taken[next]) ++next;
    p = next++;
  }
  return perm;
}

void expand_moveaxis(Expansion& e) {
  e.result(kTranspose({e.x(0)}, {moved_axes(e.x(0).rank(), e.attrs.ints("source"), e.attrs.ints("destination"))}));
}

// NumPy's rollaxis: the axis is put before position `start`.
void expand_rollaxis(Expansion& e) {
  int rank = e.x(0).rank();
  int axis = normalize_axis(e.attrs.integer("axis"), rank, "rollaxis");
  int64_t start = e.attrs.integer("start");
  if (start < 0) start += rank;
  if (start < 0 || start > rank) value_error("rollaxis: start {} is outside [{}, {}]", start, -rank, rank);
  if (axis < start) --start;
  e.result(kTranspose({e.x(0)}, {moved_axes(rank, {axis}, {start})}));
}

void broadcast_to_type(TypeRuleCtx& c) {
  const Ints& dims = c.attrs.ints("shape");
  const Shape& from = c.shape(0);
  int lead = static_cast<int>(dims.size()) - from.rank();
  if (lead < 0) c.fail("shape {} has fewer dims than the operand", c.attrs["shape"].str());
  Shape to;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    int64_t have = d < lead ? 1 : from[d - lead], want = dims[d];
    if (want < -1 || (want == -1 && d < lead)) c.fail("shape {} has a negative size", c.attrs["shape"].str());
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

// Sums dim d of g over `count` repetitions: whole blocks one after the other (tile) or neighbours (repeat).
Value folded(Value g, int d, int64_t count, bool blocks) {
  const Shape s = g.shape();
  if (s.known()) {
    // Four dims serve any rank, so that the limit on ranks never matters.
    int64_t n = s[d] / count;
    Ints dims{s.size(0, d), blocks ? count : n, blocks ? n : count, s.size(d + 1, s.rank())};
    Shape result = s;
    result.set(d, n);
    return kReshape({kReduceSum({kReshape({g}, {dims})}, {Ints{blocks ? 1 : 2}, false})}, {Attr(result)});
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
  int axis = e.attrs["axis"].none() ? 0 : normalize_axis(e.attrs.integer("axis"), x.rank(), "repeat_interleave");
  for (int64_t n : counts) {
    if (n < 0) value_error("repeat_interleave: repeats must not be negative, got {}", n);
  }
  if (counts.size() == 1) return e.result(kRepeatElements({x}, {counts[0], axis}));
  int64_t n = x.shape()[axis];
  if (n != kUnknownDim && n != static_cast<int64_t>(counts.size())) {
    value_error("repeat_interleave: {} repeats given for axis {} of size {}", counts.size(), axis, n);
  }
  std::vector<int64_t> from;
  for (size_t i = 0; i < counts.size(); ++i) from.insert(from.end(), counts[i], static_cast<int64_t>(i));
  Value index = e.graph.constant(Tensor::from(from, {static_cast<int64_t>(from.size())}));
  e.result(kGather({x, index}, {axis}));
}

void flip_type(TypeRuleCtx& c) {
  bool seen[kMaxRank] = {};
  for (int64_t a : c.attrs.ints("dims")) {
    if (seen[c.axis(a)]) c.fail("axis {} is named twice", a);
    seen[c.axis(a)] = true;
  }
  types::same_as_first(c);
}

void roll_type(TypeRuleCtx& c) {
  const Ints &shifts = c.attrs.ints("shifts"), &dims = c.attrs.ints("dims");
  if (shifts.size() != dims.size()) c.fail("{} shifts given for {} axes", shifts.size(), dims.size());
  for (int64_t a : dims) c.axis(a);
  types::same_as_first(c);
}

void roll_grad(Adjoint& a) {
  Ints back = a.attrs().ints("shifts");
  for (int64_t& s : back) s = -s;
  a.dx(0) += kRollAxes({a.dy()}, {back, a.attrs()["dims"]});
}

void expand_roll(Expansion& e) {
  Value x = e.x(0);
  Ints shifts = e.attrs.ints("shifts");
  if (!e.attrs["dims"].none()) {
    const Ints& dims = e.attrs.ints("dims");
    if (shifts.size() == 1) shifts.resize(dims.size(), shifts[0]);
    return e.result(kRollAxes({x}, {shifts, dims}));
  }
  if (shifts.size() != 1) value_error("roll: without dims there must be one shift, got {}", shifts.size());
  Value flat = kRollAxes({kRavel({x})}, {shifts, Ints{0}});
  e.result(kReshapeLike({flat, x}));
}

void expand_rot90(Expansion& e) {
  const Ints& dims = e.attrs.ints("dims");
  int rank = e.x(0).rank();
  int64_t a = normalize_axis(dims[0], rank, "rot90"), b = normalize_axis(dims[1], rank, "rot90");
  if (a == b) value_error("rot90: dims must name two axes, got {} twice", dims[0]);
  Value x = e.x(0);
  int64_t k = ((e.attrs.integer("k") % 4) + 4) % 4;
  if (k == 2) return e.result(kFlip({x}, {Ints{a, b}}));
  if (k == 1) x = kFlip({x}, {Ints{b}});
  if (k != 0) x = kSwapaxes({x}, {a, b});
  if (k == 3) x = kFlip({x}, {Ints{b}});
  e.result(x);
}

void flip_fixed(Expansion& e, int axis, int least) {
  if (e.x(0).rank() < least) value_error("{}: the operand needs {} dims or more", e.op.name, least);
  e.result(kFlip({e.x(0)}, {Ints{axis}}));
}

void depth_to_space_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int64_t b = c.attrs.integer("block_size");
  if (s.rank() < 3) c.fail("the operand needs channel, height and width dims");
  if (b < 1) c.fail("block_size must be 1 or more, got {}", b);
  int64_t channels = s[-3];
  if (channels != kUnknownDim && channels % (b * b) != 0) c.fail("{} channels are no multiple of {}", channels, b * b);
  if (channels != kUnknownDim) s.set(-3, channels / (b * b));
  for (int d : {-2, -1}) {
    if (s[d] != kUnknownDim) s.set(d, s[d] * b);
  }
  c.result(c.dtype(0), s);
}

void space_to_depth_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int64_t b = c.attrs.integer("block_size");
  if (s.rank() < 3) c.fail("the operand needs channel, height and width dims");
  if (b < 1) c.fail("block_size must be 1 or more, got {}", b);
  if (s[-3] != kUnknownDim) s.set(-3, s[-3] * b * b);
  for (int d : {-2, -1}) {
    if (s[d] == kUnknownDim) continue;
    if (s[d] % b != 0) c.fail("height and width must be multiples of block_size {}", b);
    s.set(d, s[d] / b);
  }
  c.result(c.dtype(0), s);
}

// The six-dim copy between [c, h, w] blocks and pixels; `deep` is the shape with many channels.
void block_move(MoveCtx& c, const Shape& deep, const Shape& flat, bool to_flat) {
  int64_t b = c.attrs.integer("block_size"), channels = flat[-3], h = deep[-2], w = deep[-1];
  bool depth_first = c.attrs.string("mode") == "DCR";  // block index outside the channel, or inside it
  int64_t plane = h * w, deep_image = deep[-3] * plane, flat_image = flat[-3] * flat[-2] * flat[-1];
  int64_t block = depth_first ? channels * plane : plane, channel = depth_first ? plane : b * b * plane;
  Move& m = c.add();
  auto dim = [&](int64_t n, int64_t in_deep, int64_t in_flat) {
    m.dim(n, to_flat ? in_deep : in_flat, to_flat ? in_flat : in_deep);
  };
  dim(deep.size(0, deep.rank() - 3), deep_image, flat_image);
  dim(channels, channel, flat[-2] * flat[-1]);
  dim(h, w, b * flat[-1]);
  dim(b, b * block, flat[-1]);
  dim(w, 1, b);
  dim(b, block, 1);
}

}  // namespace

void transpose_moves(MoveCtx& c) {
  Ints perm = permutation(c.attrs["input_perm"], c.in().rank());
  Strides from = row_strides(c.in()), to = row_strides(c.out());
  Move& m = c.add();
  for (int d = 0; d < c.out().rank(); ++d) m.dim(c.out()[d], from[perm[d]], to[d]);
}

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

void flip_moves(MoveCtx& c) {
  Strides strides = row_strides(c.in());
  bool flipped[kMaxRank] = {};
  for (int64_t a : c.attrs.ints("dims")) flipped[c.axis(a)] = true;
  Move& m = c.add();
  for (int d = 0; d < c.in().rank(); ++d) {
    m.dim(c.in()[d], flipped[d] ? -strides[d] : strides[d], strides[d]);
    if (flipped[d]) m.src_offset += strides[d] * (c.in()[d] - 1);
  }
}

// Every rolled axis falls into two parts; the moves are their products.
void roll_moves(MoveCtx& c) {
  Strides strides = row_strides(c.in());
  int64_t shift[kMaxRank] = {};
  const Ints &shifts = c.attrs.ints("shifts"), &dims = c.attrs.ints("dims");
  for (size_t i = 0; i < dims.size(); ++i) {
    int d = c.axis(dims[i]);
    int64_t n = c.in()[d];
    if (n) shift[d] = (((shift[d] + shifts[i] % n) % n) + n) % n;
  }
  std::vector<Move> parts(1);
  for (int d = 0; d < c.in().rank(); ++d) {
    int64_t n = c.in()[d], s = strides[d], k = shift[d];
    std::vector<Move> next;
    for (const Move& m : parts) {
      Move low = m;  // elements that stay in front of the end
      low.dim(n - k, s, s).dst_offset += k * s;
      next.push_back(low);
      if (k == 0) continue;
      Move high = m;  // elements that come round
      high.dim(k, s, s).src_offset += (n - k) * s;
      next.push_back(high);
    }
    parts = std::move(next);
  }
  c.moves = std::move(parts);
}

void depth_to_space_moves(MoveCtx& c) { block_move(c, c.in(), c.out(), true); }
void space_to_depth_moves(MoveCtx& c) { block_move(c, c.out(), c.in(), false); }

constexpr OpDef kTranspose = check({
    .name = "transpose",
    .doc = "Reorders the dims: dim i of the result is dim input_perm[i] of the operand; without input_perm the "
           "dims are reversed.",
    .in = {"input: any"},
    .attr = {"input_perm: int[]? = None"},
    .type = transpose_type,
    .shard = "... -> ... : permuted(input_perm)",
    .grad = transpose_grad,
    .loops = move_loops<transpose_moves>,
    .cases = "input_perm = None [2, 0, 1] [0, 2, 1] [-1, 1, 0] [1, 0, 2]; bad input_perm = [0, 1]; bad input_perm = "
             "[0, 0, 1] | input[40, 70]; input_perm = [1, 0]",
    .onnx = "Transpose",
    .primitive = "Transpose()",
    .alias = "permute",
});

constexpr OpDef kSwapaxes = check({
    .name = "swapaxes",
    .doc = "Exchanges two dims.",
    .in = {"input: any"},
    .attr = {"axis0: int", "axis1: int"},
    .shard = "none",
    .expand = expand_swapaxes,
    .cases = "axis0 = 0 -1; axis1 = 1 2; bad axis0 = 3; skip scalar: a scalar has no axes",
    .method = "swapaxes swapdims",
    .alias = "swapdims",
});

constexpr OpDef kMoveaxis = check({
    .name = "moveaxis",
    .doc = "Moves the dims `source` to the places `destination`; the others keep their order.",
    .in = {"x: any"},
    .attr = {"source: int[]", "destination: int[]"},
    .shard = "none",
    .expand = expand_moveaxis,
    .cases = "source = 0 -1; destination = 1 2 | source = [0, 1]; destination = [-1, 0]; bad source = 3; "
             "bad source = [0, 0]; bad source = [0, 1, 2]; skip scalar: a scalar has no axes",
    .method = "moveaxis movedim",
    .alias = "movedim",
});

constexpr OpDef kRollaxis = check({
    .name = "rollaxis",
    .doc = "Moves dim `axis` backwards until it lies before position `start`.",
    .in = {"x: any"},
    .attr = {"axis: int", "start: int = 0"},
    .shard = "none",
    .expand = expand_rollaxis,
    .cases = "axis = 0 2 -2; start = 0 1 3; bad start = 4; bad axis = 3; skip scalar: a scalar has no axes",
});

constexpr OpDef kT = check({
    .name = "t",
    .doc = "The transpose of a matrix; a scalar or vector as it is.",
    .in = {"input: any"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          if (e.x(0).rank() > 2) value_error("t: the operand has {} dims; at most 2 are allowed", e.x(0).rank());
          e.result(kTranspose({e.x(0)}));
        },
    .cases = "input[2, 3] [3] []; bad input[2, 3, 4]",
    .method = "t",
});

constexpr OpDef kBroadcastTo = check({
    .name = "broadcast_to",
    .doc = "Repeats dims of size 1, and puts new dims in front, until the shape is reached; -1 keeps a size.",
    .in = {"input: any"},
    .attr = {"shape: int[]"},
    .type = broadcast_to_type,
    .shard = "none",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },  // additions to dx are summed back
    .loops = move_loops<broadcast_moves>,
    .cases = "input[3, 1]; shape = [3, 4] [2, 3, 1] [2, -1, 5] [3, 0]; bad shape = [3]; bad shape = [2, 4] | input[]; "
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
    .cases = "input[3, 1]; other[2, 3, 4]; no grad of other: only its shape is used; bad other[4, 5]; skip dtypes: "
             "other is not read; skip zero_size: the shapes belong together; skip scalar: the shapes belong together",
    .method = "expand_as",
});

constexpr OpDef kTile = check({
    .name = "tile",
    .doc = "Repeats the whole operand multiples[i] times along dim i; the shorter of shape and multiples is filled "
           "with ones in front.",
    .in = {"input: any"},
    .attr = {"multiples: int[]"},
    .type = tile_type,
    .shard = "none",
    .grad = tile_grad,
    .loops = move_loops<tile_moves>,
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
    .cases = "rep = 1 3 0; axis = 0 1 -1; bad axis = 3; bad rep = -1; skip scalar: a scalar has no axes",
});

constexpr OpDef kRepeatInterleave = check({
    .name = "repeat_interleave",
    .doc = "Repeats elements along `axis`, all equally often or each by its own count; without axis the operand is "
           "flattened.",
    .in = {"input: any"},
    .attr = {"repeats: int[]", "axis: int? = None"},
    .shard = "none",
    .expand = expand_repeat_interleave,
    .cases = "input[2, 3]; repeats = 2 [1, 0, 3]; axis = 1 -1; bad repeats = [1, 2]; bad repeats = [-1]; bad axis = 2 | "
             "repeats = 2; axis = None; skip zero_size: counts belong to sizes; skip scalar: a scalar has no axes",
    .method = "repeat repeat_interleave",
});

constexpr OpDef kFlip = check({
    .name = "flip",
    .doc = "Reverses the order of elements along the axes `dims`.",
    .in = {"input: any"},
    .attr = {"dims: int[]"},
    .type = flip_type,
    .shard = "... -> ... : whole(dims)",
    .grad = [](Adjoint& a) { a.dx(0) += kFlip({a.dy()}, {a.attrs()["dims"]}); },
    .loops = move_loops<flip_moves>,
    .cases = "dims = 0 -1 [0, 2] []; bad dims = 3; bad dims = [0, 0]; skip scalar: a scalar has no axes",
    .primitive = "ReverseV2(dims)",
    .method = "flip reverse",
    .alias = "reverse",
});

constexpr OpDef kFliplr = check({
    .name = "fliplr",
    .doc = "Reverses the second dim.",
    .in = {"input: any"},
    .shard = "none",
    .expand = [](Expansion& e) { flip_fixed(e, 1, 2); },
    .cases = "input[2, 3]; bad input[3]; skip scalar: two dims are needed",
    .method = "fliplr",
});

constexpr OpDef kFlipud = check({
    .name = "flipud",
    .doc = "Reverses the first dim.",
    .in = {"input: any"},
    .shard = "none",
    .expand = [](Expansion& e) { flip_fixed(e, 0, 1); },
    .cases = "input[2, 3]; bad input[]; skip scalar: a dim is needed",
    .method = "flipud",
});

constexpr OpDef kRollAxes = check({
    .name = "roll_axes",
    .doc = "Shifts elements along axes; those that leave at one end come in at the other.",
    .in = {"input: any"},
    .attr = {"shifts: int[]", "dims: int[]"},
    .type = roll_type,
    .shard = "... -> ... : whole(dims)",
    .grad = roll_grad,
    .loops = move_loops<roll_moves>,
    .cases = "shifts = 1 -2 7; dims = 0 -1; bad dims = 3 | shifts = [1, -1]; dims = [0, 2]; bad dims = [0]; skip scalar: "
             "a scalar has no axes",
    .primitive = "Roll(shifts, dims)",
    .internal = true,
});

constexpr OpDef kRoll = check({
    .name = "roll",
    .doc = "Shifts elements along the axes `dims`, cyclically; without dims, through the flattened operand.",
    .in = {"input: any"},
    .attr = {"shifts: int[]", "dims: int[]? = None"},
    .shard = "none",
    .expand = expand_roll,
    .cases = "shifts = 1 -2; dims = None 0 [0, 1]; bad dims = 3; skip scalar: a scalar has no axes",
    .method = "roll",
});

constexpr OpDef kRot90 = check({
    .name = "rot90",
    .doc = "Turns the plane of two dims by k times 90 degrees, from the first dim towards the second.",
    .in = {"input: any"},
    .attr = {"k: int = 1", "dims: int[2] = [0, 1]"},
    .shard = "none",
    .expand = expand_rot90,
    .cases = "input[2, 3, 4]; k = 0 1 2 3 -1; dims = [0, 1] [2, 0]; bad dims = [0, 0]; bad dims = [0, 3]; skip scalar: "
             "two dims are needed",
    .method = "rot90",
});

constexpr OpDef kDepthToSpace = check({
    .name = "depth_to_space",
    .doc = "Spreads blocks of block_size² channels over pixels: [.., b·b·c, h, w] to [.., c, h·b, w·b]; DCR takes the "
           "block index from the slowest part of the channel, CRD from the fastest.",
    .in = {"x: any"},
    .attr = {"block_size: int", "mode: str(DCR|CRD) = DCR"},
    .type = depth_to_space_type,
    .shard = "none",
    .grad = [](Adjoint& a) {
          a.dx(0) += kSpaceToDepth({a.dy()}, {a.attrs()["block_size"], a.attrs()["mode"]});
        },
    .loops = move_loops<depth_to_space_moves>,
    .cases = "x[2, 8, 2, 3] [4, 1, 2]; block_size = 2; mode = DCR CRD; bad x[2, 3, 2, 2]; bad x[4, 4]; bad block_size = "
             "0; skip zero_size: channels come in blocks; skip scalar: three dims are needed",
    .onnx = "DepthToSpace",
    .primitive = "DepthToSpace(block_size)",
});

constexpr OpDef kSpaceToDepth = check({
    .name = "space_to_depth",
    .doc = "Gathers blocks of block_size² pixels into channels: [.., c, h·b, w·b] to [.., b·b·c, h, w]; the inverse of "
           "depth_to_space.",
    .in = {"x: any"},
    .attr = {"block_size: int", "mode: str(DCR|CRD) = DCR"},
    .type = space_to_depth_type,
    .shard = "none",
    .grad = [](Adjoint& a) {
          a.dx(0) += kDepthToSpace({a.dy()}, {a.attrs()["block_size"], a.attrs()["mode"]});
        },
    .loops = move_loops<space_to_depth_moves>,
    .cases = "x[2, 2, 4, 6] [1, 2, 4]; block_size = 2; mode = DCR CRD; bad x[2, 3, 3, 2]; bad x[4, 4]; bad block_size = "
             "0; skip zero_size: pixels come in blocks; skip scalar: three dims are needed",
    .onnx = "SpaceToDepth",
    .primitive = "SpaceToDepth(block_size)",
});

constexpr OpDef kPixelShuffle = check({
    .name = "pixel_shuffle",
    .doc = "[.., c·r², h, w] to [.., c, h·r, w·r], the block index being the fastest part of the channel.",
    .in = {"input: any"},
    .attr = {"upscale_factor: int"},
    .shard = "none",
    .expand =
        [](Expansion& e) { e.result(kDepthToSpace({e.x(0)}, {e.attrs["upscale_factor"], "CRD"})); },
    .cases = "input[2, 8, 2, 3]; upscale_factor = 2; bad input[3, 2, 2]; skip zero_size: channels come in blocks; skip "
             "scalar: three dims are needed",
});

constexpr OpDef kPixelUnshuffle = check({
    .name = "pixel_unshuffle",
    .doc = "[.., c, h·r, w·r] to [.., c·r², h, w]: the inverse of pixel_shuffle.",
    .in = {"input: any"},
    .attr = {"downscale_factor: int"},
    .shard = "none",
    .expand =
        [](Expansion& e) { e.result(kSpaceToDepth({e.x(0)}, {e.attrs["downscale_factor"], "CRD"})); },
    .cases = "input[2, 2, 4, 6]; downscale_factor = 2; bad input[3, 3, 2]; skip zero_size: pixels come in blocks; skip "
             "scalar: three dims are needed",
});

}  // namespace mycel::ops
