// Maps read where a grid of normalised coordinates says (Jaderberg et al. 2015).
#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/rooms.h"
#include "ops/image/sample.h"
#include "ops/matmul/matmul.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

Value clipped(Value p, Value size) {
  p = where(less(p, 0.0), 0.0, p);
  Value top = size - 1.0;
  return where(kGreater({p, top}), top, p);
}

// Folded back into [low, low + span] as often as it takes.
Value reflected(Value p, double low, Value span) {
  span = where(less(span, 1e-6), 1e-6, span);  // one element: the clip that follows decides
  Value away = kAbs({p - low}), turns = kFloor({away / span}), rest = away - turns * span;
  Value odd = not_equal(turns - kFloor({turns * 0.5}) * 2.0, 0.0);
  return where(odd, span - rest, rest) + low;
}

// Coordinate g in [-1, 1] to a position among `size` elements.
Value position(Expansion& e, Value g, Value size) {
  bool corners = e.attrs.boolean("align_corners");
  Value p = corners ? (g + 1.0) * (size - 1.0) * 0.5 : ((g + 1.0) * size - 1.0) * 0.5;
  const std::string& padding = e.attrs.string("padding_mode");
  if (padding == "reflection") p = corners ? reflected(p, 0, size - 1.0) : reflected(p, -0.5, size);
  return padding == "zeros" ? p : clipped(p, size);
}

void expand_grid_sample(Expansion& e) {
  Value x = e.x(0), grid = e.x(1);
  int dims = x.rank() - 2;
  if (dims != 2 && dims != 3)
    value_error("{}: the map must have 4 or 5 dims, got {}", e.op.name, x.type().str());
  int64_t last = grid.rank() == x.rank() ? grid.shape()[-1] : 0;
  int64_t n = x.shape()[0], m = grid.rank() ? grid.shape()[0] : 0;
  if ((last != dims && last != kUnknownDim) || dims_differ(n, m)) {
    value_error(
        "{}: grid must hold {} coordinates for each point of each map, [n, ..., {}], got {} "
        "for {}",
        e.op.name, dims, dims, grid.type().str(), x.type().str());
  }
  Ints channels_last = {0}, back = {0, dims + 1};
  for (int d = 0; d < dims; ++d) channels_last.push_back(d + 2), back.push_back(d + 1);
  channels_last.push_back(1);
  Field field(kTranspose({x}, {channels_last}), false);
  std::vector<Value> p;
  for (int d = 0; d < dims; ++d) {  // the last coordinate is that of the first dim
    Value g = kSqueeze({sliced(grid, dims + 1, dims - 1 - d, 1)}, {Ints{-1}});
    p.push_back(position(e, g, cast_to(field.sizes[d], g.dtype())));
  }
  if (e.attrs.string("mode") == "nearest") {
    for (Value& v : p) v = cast_to(kRound({v}), DType::kInt64);
    return e.result(kTranspose({field.at(p)}, {back}));
  }
  e.result(kTranspose({field.linear(p)}, {back}));
}

// n coordinates: -1 to 1 with corners aligned, otherwise the centres of n equal parts.
Value coordinates(Expansion& e, int64_t n, bool corners) {
  double step = corners ? (n > 1 ? 2.0 / static_cast<double>(n - 1) : 0) : 2.0 / n;
  double first = corners ? (n > 1 ? -1.0 : 0) : -1.0 + 1.0 / n;
  Value i = e.graph.add(ir::op_of(kArange), {}, {0.0, static_cast<double>(n), 1.0, e.x(0).dtype()})
                ->out();
  return i * step + first;
}

void expand_affine_grid(Expansion& e) {
  Value theta = e.x(0);
  const Ints& size = e.attrs.ints("size");
  int64_t dims = static_cast<int64_t>(size.size()) - 2;
  auto may_be = [&](int d, int64_t n) {
    return theta.shape()[d] == n || theta.shape()[d] == kUnknownDim;
  };
  bool fits = (dims == 2 || dims == 3) && theta.rank() == 3 && may_be(1, dims) &&
              may_be(2, dims + 1) && may_be(0, size[0]);
  if (!fits) {
    value_error(
        "affine_grid: theta must be [n, 2, 3] for size (n, c, h, w) or [n, 3, 4] for (n, "
        "c, d, h, w), got {} for size {}",
        theta.type().str(), e.attrs["size"].str());
  }
  for (int64_t s : size)
    if (s < 1) value_error("affine_grid: size must be positive, got {}", e.attrs["size"].str());
  Ints points(size.begin() + 2, size.end());
  std::vector<Value> columns;
  for (int64_t d = dims - 1; d >= 0; --d) {
    Value c = coordinates(e, points[d], e.attrs.boolean("align_corners"));
    Ints shape(dims, 1);
    shape[d] = points[d];
    columns.push_back(kRavel({kBroadcastTo({kReshape({c}, {shape})}, {points})}));
  }
  columns.push_back(kOnesLike({columns[0]}));
  for (Value& c : columns) c = kExpandDims({c}, {-1});
  Value base = kConcat(columns, {-1});  // [points, dims + 1]
  Ints shape = {theta.shape()[0] == kUnknownDim ? -1 : size[0]};
  shape.insert(shape.end(), points.begin(), points.end());
  shape.push_back(dims);
  e.result(kReshape({kBatchMatmul({base, theta}, {false, true})}, {shape}));
}

}  // namespace

constexpr OpDef kGridSample = check({
    .name = "grid_sample",
    .doc = "Maps [n, c, h, w] or [n, c, d, h, w] at the points of a grid [n, ..., 2 or 3] of "
           "coordinates (x, y(, z)) in [-1, 1]: bilinear between the elements around a point, or "
           "the nearest (halves to even). Outside lie zeros, the border, or reflections. "
           "align_corners: -1 and 1 are the centres of the outer elements instead of their outer "
           "edges.",
    .in = {"input: float[n, c, h, w]", "grid: float[n, i, j, 2]"},
    .attr = {"mode: str(bilinear|nearest) = bilinear",
             "padding_mode: str(zeros|border|reflection) = zeros", "align_corners: bool = False"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_grid_sample,
    .cases = "input[2, 3, 4, 5]; grid[2, 3, 2, 2]; grid in (-0.9, 0.9); padding_mode = zeros "
             "border reflection; align_corners = False True; bad grid[2, 3, 2, 3]; bad grid[3, 3, "
             "2, 2]; bad input[2, 3, 4] | input[1, 2, 3, 4, 2]; grid[1, 2, 1, 3, 3] | input[2, 3, "
             "4, 5]; grid[2, 3, 2, 2]; grid in (-1.4, 1.4); mode = nearest; padding_mode = zeros "
             "border reflection; skip grad2: piecewise constant; skip zero_size: maps have "
             "elements; skip scalar: maps have dims; skip dtypes: rounding moves points between "
             "cells",
    .primitive = "GridSampler2D(mode=interpolation_mode, padding_mode, align_corners); "
                 "GridSampler3D(mode=interpolation_mode, padding_mode, align_corners)",
});

constexpr OpDef kAffineGrid = check({
    .name = "affine_grid",
    .doc = "The grid for grid_sample of affine maps theta [n, 2, 3] (or [n, 3, 4]) over size (n, "
           "c, h, w) (or (n, c, d, h, w)): theta (x, y, 1) at each point.",
    .in = {"theta: float[n, 2, 3]"},
    .attr = {"size: int[]", "align_corners: bool = False"},
    .shard = "none",
    .expand = expand_affine_grid,
    .cases = "theta[2, 2, 3]; size = [2, 1, 3, 4] [2, 1, 1, 2]; align_corners = False True; bad "
             "size = [2, 1, 3]; bad size = [2, 1, 0, 3] | theta[2, 3, 4]; size = [2, 1, 2, 3, 2]; "
             "skip zero_size: a map has elements; skip scalar: theta is a matrix",
    .primitive = "AffineGrid(align_corners)",
});

void register_grids() { ir::register_ops({&kGridSample, &kAffineGrid}); }

}  // namespace mycel::ops
