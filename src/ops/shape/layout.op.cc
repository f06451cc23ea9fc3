// Ops that reorder the elements of one operand.
#include <algorithm>
#include <numeric>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"

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
    c.fail("input_perm must name each of the {} axes once, got {}", s.rank(),
           c.attrs["input_perm"].str());
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
    value_error("moveaxis: source has {} axes, destination {}; they must be equally many",
                source.size(), destination.size());
  }
  Ints perm(rank, -1);
  std::vector<bool> taken(rank, false);
  for (size_t i = 0; i < source.size(); ++i) {
    int from = normalize_axis(source[i], rank, "moveaxis"),
        to = normalize_axis(destination[i], rank, "moveaxis");
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
  e.result(kTranspose(
      {e.x(0)}, {moved_axes(e.x(0).rank(), e.attrs.ints("source"), e.attrs.ints("destination"))}));
}

// NumPy's rollaxis: the axis is put before position `start`.
void expand_rollaxis(Expansion& e) {
  int rank = e.x(0).rank();
  int axis = normalize_axis(e.attrs.integer("axis"), rank, "rollaxis");
  int64_t start = e.attrs.integer("start");
  if (start < 0) start += rank;
  if (start < 0 || start > rank)
    value_error("rollaxis: start {} is outside [{}, {}]", start, -rank, rank);
  if (axis < start) --start;
  e.result(kTranspose({e.x(0)}, {moved_axes(rank, {axis}, {start})}));
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
  if (shifts.size() != dims.size())
    c.fail("{} shifts given for {} axes", shifts.size(), dims.size());
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
  if (shifts.size() != 1)
    value_error("roll: without dims there must be one shift, got {}", shifts.size());
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

}  // namespace

void transpose_moves(MoveCtx& c) {
  Ints perm = permutation(c.attrs["input_perm"], c.in().rank());
  Strides from = row_strides(c.in()), to = row_strides(c.out());
  Move& m = c.add();
  for (int d = 0; d < c.out().rank(); ++d) m.dim(c.out()[d], from[perm[d]], to[d]);
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

constexpr OpDef kTranspose = check({
    .name = "transpose",
    .doc = "Reorders the dims: dim i of the result is dim input_perm[i] of the operand; without "
           "input_perm the "
           "dims are reversed.",
    .in = {"input: any"},
    .attr = {"input_perm: int[]? = None"},
    .type = transpose_type,
    .shard = "... -> ... : permuted(input_perm)",
    .grad = transpose_grad,
    .loops = move_loops<transpose_moves>,
    .cases = "input_perm = None [2, 0, 1] [0, 2, 1] [-1, 1, 0] [1, 0, 2]; bad input_perm = [0, 1]; "
             "bad input_perm = "
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
    .cases = "source = 0 -1; destination = 1 2 | source = [0, 1]; destination = [-1, 0]; bad "
             "source = 3; "
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
    .cases = "axis = 0 2 -2; start = 0 1 3; bad start = 4; bad axis = 3; skip scalar: a scalar has "
             "no axes",
});

constexpr OpDef kT = check({
    .name = "t",
    .doc = "The transpose of a matrix; a scalar or vector as it is.",
    .in = {"input: any"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          if (e.x(0).rank() > 2)
            value_error("t: the operand has {} dims; at most 2 are allowed", e.x(0).rank());
          e.result(kTranspose({e.x(0)}));
        },
    .cases = "input[2, 3] [3] []; bad input[2, 3, 4]",
    .method = "t",
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
    .cases =
        "dims = 0 -1 [0, 2] []; bad dims = 3; bad dims = [0, 0]; skip scalar: a scalar has no axes",
    .onnx = "Slice",
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
    .cases = "shifts = 1 -2 7; dims = 0 -1; bad dims = 3 | shifts = [1, -1]; dims = [0, 2]; bad "
             "dims = [0]; skip scalar: "
             "a scalar has no axes",
    .onnx = "Concat",
    .primitive = "Roll(shifts, dims)",
    .internal = true,
});

constexpr OpDef kRoll = check({
    .name = "roll",
    .doc = "Shifts elements along the axes `dims`, cyclically; without dims, through the flattened "
           "operand.",
    .in = {"input: any"},
    .attr = {"shifts: int[]", "dims: int[]? = None"},
    .shard = "none",
    .expand = expand_roll,
    .cases = "shifts = 1 -2; dims = None 0 [0, 1]; bad dims = 3; skip scalar: a scalar has no axes",
    .method = "roll",
});

constexpr OpDef kRot90 = check({
    .name = "rot90",
    .doc =
        "Turns the plane of two dims by k times 90 degrees, from the first dim towards the second.",
    .in = {"input: any"},
    .attr = {"k: int = 1", "dims: int[2] = [0, 1]"},
    .shard = "none",
    .expand = expand_rot90,
    .cases = "input[2, 3, 4]; k = 0 1 2 3 -1; dims = [0, 1] [2, 0]; bad dims = [0, 0]; bad dims = "
             "[0, 3]; skip scalar: "
             "two dims are needed",
    .method = "rot90",
});

}  // namespace mycel::ops
