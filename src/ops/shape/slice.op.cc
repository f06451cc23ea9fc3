// Cutting regions out of a tensor and writing into them: basic indexing.
#include <algorithm>
#include <limits>

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/shape/batching.h"
#include "ops/shape/moves.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::op_of;
using ir::TypeRuleCtx;
using ir::Value;
namespace types = ir::types;
using Ints = Attr::Ints;

namespace {

constexpr int64_t kLow =
    std::numeric_limits<int64_t>::min();  // "from the very start / to the very end"
constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();  // of an axis, whatever its size

struct Range {
  int64_t first, step, count;
};

// Python's slice semantics: negative positions count from the end, positions outside are clamped.
Range range_of(int64_t begin, int64_t end, int64_t step, int64_t n) {
  auto clamped = [&](int64_t p) {
    if (p < 0) p = p < -n ? -1 : p + n;
    return step > 0 ? std::clamp<int64_t>(p, 0, n) : std::clamp<int64_t>(p, -1, n - 1);
  };
  int64_t from = clamped(begin), to = clamped(end);
  int64_t span = step > 0 ? to - from : from - to;
  int64_t size = step > 0 ? step : -step;
  return {from, step, span > 0 ? (span - 1) / size + 1 : 0};
}

Shape sliced_shape(TypeRuleCtx& c, const Shape& s) {
  const Ints &begin = c.attrs.ints("begin"), &end = c.attrs.ints("end"),
             &steps = c.attrs.ints("strides");
  size_t rank = static_cast<size_t>(s.rank());
  if (begin.size() != rank || end.size() != rank || steps.size() != rank) {
    c.fail("begin, end and strides need {} entries each", rank);
  }
  Shape out;
  for (int d = 0; d < s.rank(); ++d) {
    if (steps[d] == 0) c.fail("strides must not be 0");
    if (s[d] == kUnknownDim) {
      out.push_back(kUnknownDim);
      continue;
    }
    out.push_back(range_of(begin[d], end[d], steps[d], s[d]).count);
  }
  return out;
}

void slice_type(TypeRuleCtx& c) { c.result(c.dtype(0), sliced_shape(c, c.shape(0))); }

void slice_update_type(TypeRuleCtx& c) {
  Shape region = sliced_shape(c, c.shape(0));
  const Shape& v = c.shape(1);
  bool fits = v.rank() == region.rank();
  for (int d = 0; fits && d < v.rank(); ++d) {
    fits = v[d] == region[d] || v[d] == kUnknownDim || region[d] == kUnknownDim;
  }
  if (!fits) c.fail("value must have the shape {} of the region", region.str());
  if (c.dtype(1) != c.dtype(0))
    c.fail_type("value must have the dtype of the tensor that it is written to");
  types::same_as_first(c);
}

Value like_slice(Adjoint& a, Value v) {
  return kBasicSlice({v}, {a.attrs()["begin"], a.attrs()["end"], a.attrs()["strides"]});
}
Value written(Adjoint& a, Value base, Value v) {
  return kSliceUpdate({base, v}, {a.attrs()["begin"], a.attrs()["end"], a.attrs()["strides"]});
}

void slice_update_grad(Adjoint& a) {
  if (a.wants(1)) a.dx(1) += like_slice(a, a.dy());
  if (!a.wants(0)) return;
  Value hole = a.x_type(1).shape.known()
                   ? filled(a.graph(), 0, a.x_type(1).shape, a.x_type(1).dtype)
                   : kZerosLike({a.x(1)});
  a.dx(0) += written(a, a.dy(), hole);
}

// begin and size, as published: size -1 means up to the end.
void begin_size_type(TypeRuleCtx& c) {
  const Shape& s = c.shape(0);
  const Ints &begin = c.attrs.ints("begin"), &size = c.attrs.ints("size");
  if (static_cast<int>(begin.size()) != s.rank() || static_cast<int>(size.size()) != s.rank()) {
    c.fail("begin and size need {} entries each", s.rank());
  }
  Shape out;
  for (int d = 0; d < s.rank(); ++d) {
    if (begin[d] < 0 || size[d] < -1) c.fail("begin must not be negative and size not below -1");
    if (s[d] != kUnknownDim && begin[d] + std::max<int64_t>(size[d], 0) > s[d]) {
      c.fail("dim {}: begin {} and size {} reach beyond {}", d, begin[d], size[d], s[d]);
    }
    out.push_back(size[d] >= 0 ? size[d] : s[d] == kUnknownDim ? s[d] : s[d] - begin[d]);
  }
  c.result(c.dtype(0), out);
}

void expand_slice(Expansion& e) {
  const Ints &begin = e.attrs.ints("begin"), &size = e.attrs.ints("size");
  Ints end(begin.size(), kHigh);
  for (size_t d = 0; d < begin.size(); ++d) {
    if (size[d] >= 0) end[d] = begin[d] + size[d];
  }
  e.result(kBasicSlice({e.x(0)}, {begin, end, Ints(begin.size(), 1)}));
}

void expand_narrow(Expansion& e) {
  Value x = e.x(0);
  int axis = normalize_axis(e.attrs.integer("axis"), x.rank(), "narrow");
  int64_t start = e.attrs.integer("start"), length = e.attrs.integer("length"), n = x.shape()[axis];
  if (start < 0 && n != kUnknownDim) start += n;
  bool from_end = start < 0 && n == kUnknownDim && start + length <= 0;
  if ((start < 0 && !from_end) || length < 0 || (n != kUnknownDim && start + length > n)) {
    value_error("narrow: start {} and length {} reach beyond axis {} of size {}", start, length,
                axis, n);
  }
  e.result(sliced(x, axis, start, length));
}

// strided_slice with the five bit masks of its published form, as a basic slice, the axes to drop
// after it and the places of new ones.
struct Indexing {
  Ints begin, end, strides;
  Ints dropped, added;
};

Indexing indexing_of(const Expansion& e, int rank) {
  Ints begin = e.attrs.ints("begin"), end = e.attrs.ints("end"), strides = e.attrs.ints("strides");
  int64_t begin_mask = e.attrs.integer("begin_mask"), end_mask = e.attrs.integer("end_mask");
  int64_t ellipsis = e.attrs.integer("ellipsis_mask"), fresh = e.attrs.integer("new_axis_mask");
  int64_t shrink = e.attrs.integer("shrink_axis_mask");
  int count = static_cast<int>(begin.size());
  if (strides.empty()) strides.assign(begin.size(), 1);
  if (end.size() != begin.size() || strides.size() != begin.size()) {
    value_error("{}: begin, end and strides must have one length", e.op.name);
  }
  if (ellipsis & (ellipsis - 1)) value_error("{}: only one ellipsis is allowed", e.op.name);
  auto bit = [](int64_t mask, int i) { return (mask >> i & 1) != 0; };
  int used = 0;
  for (int i = 0; i < count; ++i) used += !bit(ellipsis, i) && !bit(fresh, i);
  if (used > rank) value_error("{}: {} indices given for {} dims", e.op.name, used, rank);
  Indexing x;
  int axis = 0, place = 0;  // of the operand; of the result
  auto whole = [&](int dims) {
    for (int k = 0; k < dims; ++k, ++axis, ++place) {
      x.begin.push_back(0);
      x.end.push_back(kHigh);
      x.strides.push_back(1);
    }
  };
  for (int i = 0; i < count; ++i) {
    if (bit(ellipsis, i)) {
      whole(rank - used);
    } else if (bit(fresh, i)) {
      x.added.push_back(place++);
    } else if (bit(shrink, i)) {
      int64_t n = e.x(0).shape()[axis], p = begin[i];
      if (n != kUnknownDim && (p < -n || p >= n)) {
        fail(ErrorKind::kIndex, "{}: index {} is outside [{}, {}] of dim {}", e.op.name, p, -n,
             n - 1, axis);
      }
      x.begin.push_back(p);
      x.end.push_back(p == -1 ? kHigh : p + 1);
      x.strides.push_back(1);
      x.dropped.push_back(axis++);
    } else {
      if (strides[i] == 0) value_error("{}: strides must not be 0", e.op.name);
      x.begin.push_back(!bit(begin_mask, i) ? begin[i] : strides[i] > 0 ? 0 : kHigh);
      x.end.push_back(!bit(end_mask, i) ? end[i] : strides[i] > 0 ? kHigh : kLow);
      x.strides.push_back(strides[i]);
      ++axis;
      ++place;
    }
  }
  whole(rank - axis);
  return x;
}

Value indexed(Value x, const Indexing& i) {
  x = kBasicSlice({x}, {i.begin, i.end, i.strides});
  if (!i.dropped.empty()) x = kSqueeze({x}, {i.dropped});
  for (int64_t place : i.added) x = kExpandDims({x}, {place});
  return x;
}

void expand_strided_slice(Expansion& e) {
  e.result(indexed(e.x(0), indexing_of(e, e.x(0).rank())));
}

// x with x[index] = value: the value is repeated into the region, as NumPy does.
void expand_strided_slice_update(Expansion& e) {
  Value x = e.x(0), v = e.x(1);
  Indexing i = indexing_of(e, x.rank());
  if (v.dtype() != x.dtype())
    type_error("{}: value has dtype {}, must have {}", e.op.name, name_of(v.dtype()),
               name_of(x.dtype()));
  Value like = indexed(x, i);
  // NumPy lets a value have more leading dims of size 1 than the region.
  while (v.rank() > like.rank() && v.shape()[0] == 1) v = kSqueeze({v}, {Ints{0}});
  v = like.shape().known() ? kBroadcastTo({v}, {Attr(like.shape())}) : kBroadcastLike({v, like});
  for (size_t k = i.added.size(); k-- > 0;) v = kSqueeze({v}, {Ints{i.added[k]}});
  for (int64_t axis : i.dropped) v = kExpandDims({v}, {axis});
  e.result(kSliceUpdate({x, v}, {i.begin, i.end, i.strides}));
}

// Per-dim source or destination of the region: {offset, strides}.
void region_move(MoveCtx& c, const Shape& whole, const Shape& region, int operand, bool read) {
  const Ints &begin = c.attrs.ints("begin"), &end = c.attrs.ints("end"),
             &steps = c.attrs.ints("strides");
  Strides outer = row_strides(whole), inner = row_strides(region);
  Move& m = c.add(operand);
  for (int d = 0; d < whole.rank(); ++d) {
    Range r = range_of(begin[d], end[d], steps[d], whole[d]);
    int64_t offset = r.first * outer[d], step = r.step * outer[d];
    if (read) {
      m.dim(r.count, step, inner[d]).src_offset += offset;
    } else {
      m.dim(r.count, inner[d], step).dst_offset += offset;
    }
  }
}

}  // namespace

Value sliced(Value x, int axis, int64_t start, int64_t length) {
  Ints begin(x.rank(), 0), end(x.rank(), kHigh), steps(x.rank(), 1);
  begin[axis] = start;
  end[axis] = start < 0 && start + length == 0 ? kHigh : start + length;
  return kBasicSlice({x}, {begin, end, steps});
}

void slice_moves(MoveCtx& c) { region_move(c, c.in(), c.out(), 0, true); }

void slice_update_moves(MoveCtx& c) {
  c.whole();
  region_move(c, c.out(), c.in(1), 1, false);
}

constexpr OpDef kBasicSlice = check({
    .name = "basic_slice",
    .doc = "x[begin:end:strides] with one entry per dim, as Python slices: negative positions "
           "count from the end, "
           "those outside are clamped, strides may be negative.",
    .in = {"x: any"},
    .attr = {"begin: int[]", "end: int[]", "strides: int[]"},
    .type = slice_type,
    .shard = "none",
    .moves = "m -> m : begin each, end each, strides each",
    .grad = [](Adjoint& a) { a.dx(0) += written(a, zeros_of(a, 0), a.dy()); },
    .loops = move_loops<slice_moves>,
    .batch = batch_slice,
    .cases = "x[5, 6]; begin = [1, 0] [-4, 3] [9, 0]; end = [4, 6] [-1, 100]; strides = [1, 1] [2, "
             "3] | x[5, 6]; begin = "
             "[4, -1] [100, 3]; end = [-100, 0] [1, -7]; strides = [-1, -2]; bad strides = [0, 1]; "
             "bad begin = [0]; skip "
             "scalar: indices per dim | x[]; begin = []; end = []; strides = []",
    .onnx = "Slice",
    .internal = true,
});

constexpr OpDef kSliceUpdate = check({
    .name = "slice_update",
    .doc =
        "x with the region x[begin:end:strides] replaced by value, which has the region's shape.",
    .in = {"x: any", "value: any"},
    .attr = {"begin: int[]", "end: int[]", "strides: int[]"},
    .type = slice_update_type,
    .shard = "none",
    .grad = slice_update_grad,
    .loops = move_loops<slice_update_moves>,
    .batch = batch_slice,
    .cases = "x[5, 6]; value[2, 3]; begin = [1, 0] [-4, 1]; end = [5, 6]; strides = [2, 2] | x[5, "
             "6]; value[2, 3]; begin = "
             "[3, -1]; end = [-100, 0]; strides = [-2, -2]; bad value[3, 2]; bad strides = [0, 1]; "
             "skip scalar: indices "
             "per dim; skip dtypes: both have one dtype; skip zero_size: the region has a size",
    .internal = true,
});

constexpr OpDef kSlice = check({
    .name = "slice",
    .doc = "The region of the given size from begin on; a size of -1 reaches to the end.",
    .in = {"input_x: any"},
    .attr = {"begin: int[]", "size: int[]"},
    .type = begin_size_type,
    .shard = "none",
    .expand = expand_slice,
    .cases = "input_x[5, 6]; begin = [0, 0] [2, 3]; size = [1, 2] [-1, 3] [3, -1]; bad size = [6, "
             "1]; bad begin = [-1, 0]; "
             "bad begin = [0]; skip zero_size: sizes are given; skip scalar: sizes are given",
    .onnx = "Slice",
    .primitive = "Slice()",
});

constexpr OpDef kNarrow = check({
    .name = "narrow",
    .doc = "Elements [start, start + length) of one axis.",
    .in = {"input: any"},
    .attr = {"axis: int", "start: int", "length: int"},
    .shard = "none",
    .expand = expand_narrow,
    .cases = "input[5, 6]; axis = 0 -1; start = 0 2 -3; length = 0 3; bad length = 7; bad axis = "
             "2; skip zero_size: sizes "
             "are given; skip scalar: a scalar has no axes",
    .method = "narrow",
});

constexpr OpDef kStridedSlice = check({
    .name = "strided_slice",
    .doc = "x[begin:end:strides] for the leading dims. Bit i of a mask changes entry i: begin_mask "
           "and end_mask ignore "
           "the position, ellipsis_mask stands for as many whole dims as are missing, "
           "new_axis_mask puts a dim of size "
           "1, shrink_axis_mask takes the element at begin and drops the dim.",
    .in = {"input_x: any"},
    .attr = {"begin: int[]", "end: int[]", "strides: int[] = []", "begin_mask: int = 0",
             "end_mask: int = 0", "ellipsis_mask: int = 0", "new_axis_mask: int = 0",
             "shrink_axis_mask: int = 0"},
    .shard = "none",
    .expand = expand_strided_slice,
    .cases = "input_x[5, 6, 4]; begin = [1, -2] [3, 2]; end = [4, -5] [0, 6]; strides = [1, -1] "
             "[2, 1]; begin_mask = 0 1; "
             "end_mask = 0 2; skip zero_size: positions are given; skip scalar: positions are "
             "given | begin = [1, 0, 2]; "
             "end = [2, 0, 4]; strides = []; begin_mask = 0; end_mask = 0; ellipsis_mask = 2; "
             "new_axis_mask = 0 4; "
             "shrink_axis_mask = 0 1; bad ellipsis_mask = 3; bad begin = [0]",
    .primitive =
        "StridedSlice(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)",
});

constexpr OpDef kStridedSliceUpdate = check({
    .name = "strided_slice_update",
    .doc = "The tensor after x[begin:end:strides] = value, with the masks of strided_slice; value "
           "is repeated into the "
           "region as NumPy does.",
    .in = {"input_x: any", "value: any"},
    .attr = {"begin: int[]", "end: int[]", "strides: int[] = []", "begin_mask: int = 0",
             "end_mask: int = 0", "ellipsis_mask: int = 0", "new_axis_mask: int = 0",
             "shrink_axis_mask: int = 0"},
    .shard = "none",
    .expand = expand_strided_slice_update,
    .cases = "input_x[5, 6]; value[] [1] [2, 1]; begin = [1, 0]; end = [5, 6]; strides = [2, 1]; "
             "skip zero_size: positions "
             "are given; skip scalar: positions are given; skip dtypes: both have one dtype; bad "
             "value[7] | value[6]; "
             "begin = [-1]; end = [0]; strides = [1]; shrink_axis_mask = 1",
    .internal = true,
});

}  // namespace mycel::ops
