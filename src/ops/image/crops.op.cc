// Windows of images read at points between pixels: crop and resize, region of interest alignment.
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/rooms.h"
#include "ops/image/sample.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

void need(const Expansion& e, int operand, int rank, int64_t last) {
  const Shape& s = e.x(operand).shape();
  if (s.rank() == rank && (last < 0 || s[-1] == last || s[-1] == kUnknownDim)) return;
  value_error("{}: '{}' must have {} dims{}, got {}", e.op.name, e.op.inputs[operand].name, rank,
              last < 0 ? "" : fmt::format(", the last of size {}", last),
              e.x(operand).type().str());
}

Value column(Value boxes, int64_t i) { return sliced(boxes, 1, i, 1); }  // [m, 1]

// 0 to n - 1 as one row of v's dtype.
Value counted(Expansion& e, int64_t n, DType d) {
  return e.graph.add(ir::op_of(kArange), {}, {0.0, static_cast<double>(n), 1.0, d})->out();
}

Value between(Value p, Value low, Value high) {
  p = where(kLess({p, low}), low, p);
  return where(kGreater({p, high}), high, p);
}

// Positions [m, n] along one dim of a crop from `from` to `to` of it.
Value crop_positions(Expansion& e, Value from, Value to, int64_t n, Value size) {
  const std::string& method = e.attrs.string("method");
  Value i = counted(e, n, from.dtype()), top = size - 1.0;
  if (method == "bilinear_v2") {  // centres of n equal parts of the whole pixels of the window
    Value first = kTrunc({from * size}), count = kTrunc({to * size}) - first + 1.0;
    count = where(less(count, 1.0), 1.0, count);
    Value p = (i + 0.5) * (count / static_cast<double>(n)) - 0.5;
    return between(first + between(p, number(p, 0), count - 1.0), number(p, 0), top);
  }
  if (n == 1) return (from + to) * top * 0.5;
  return from * top + i * ((to - from) * top / static_cast<double>(n - 1));
}

void expand_crop(Expansion& e) {
  need(e, 0, 4, -1), need(e, 1, 2, 4), need(e, 2, 1, -1);
  const Ints& size = e.attrs.ints("crop_size");
  if (size[0] < 1 || size[1] < 1)
    value_error("{}: crop_size must be positive, got {}", e.op.name, e.attrs["crop_size"].str());
  DType d = e.x(0).dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Value boxes = cast_to(e.x(1), d);
  Field field(cast_to(e.x(0), d), true);
  Value height = cast_to(field.sizes[0], d), width = cast_to(field.sizes[1], d);
  Value y =
      kExpandDims({crop_positions(e, column(boxes, 0), column(boxes, 2), size[0], height)}, {2});
  Value x =
      kExpandDims({crop_positions(e, column(boxes, 1), column(boxes, 3), size[1], width)}, {1});
  Value map = kReshape({cast_to(e.x(2), DType::kInt64)}, {Ints{-1, 1, 1}});
  const std::string& method = e.attrs.string("method");
  Value crop;
  if (method == "nearest") {
    // Halves away from zero, as published.
    auto whole = [](Value p) { return cast_to(kFloor({p + 0.5}), DType::kInt64); };
    crop = field.at({whole(y), whole(x)}, map);
  } else {
    crop = field.linear({y, x}, map);
  }
  if (method == "bilinear_v2") return e.result(crop);
  auto outside = [](Value p, Value n) {
    return kLogicalOr({less(p, 0.0), kGreater({p, n - 1.0})});
  };
  Value out = kExpandDims({kLogicalOr({outside(y, height), outside(x, width)})}, {-1});
  e.result(where(out, e.attrs.real("extrapolation_value"), crop));
}

// [r, cells, samples per cell] positions along one dim, as [r, cells * samples].
Value roi_positions(Expansion& e, Value from, Value to, int64_t cells, int64_t samples,
                    bool at_least_one) {
  Value extent = to - from;
  if (at_least_one) extent = where(less(extent, 1.0), 1.0, extent);
  double count = static_cast<double>(cells * samples);
  return from + (counted(e, cells * samples, from.dtype()) + 0.5) * (extent / count);
}

void expand_roi_align(Expansion& e) {
  need(e, 0, 4, -1), need(e, 1, 2, 5);
  int64_t ph = e.attrs.integer("pooled_height"), pw = e.attrs.integer("pooled_width");
  int64_t samples = e.attrs.integer("sample_num"), mode = e.attrs.integer("roi_end_mode");
  if (ph < 1 || pw < 1)
    value_error("roi_align: pooled_height and pooled_width must be positive, got {} and {}", ph,
                pw);
  if (samples < 1)
    value_error("roi_align: sample_num must be 1 or more, got {}: results have one size", samples);
  if (mode != 0 && mode != 1) value_error("roi_align: roi_end_mode must be 0 or 1, got {}", mode);
  double scale = e.attrs.real("spatial_scale");
  Field field(kTranspose({e.x(0)}, {Ints{0, 2, 3, 1}}), true);
  Value rois = e.x(1);
  DType d = rois.dtype();
  auto edge = [&](int64_t i) { return column(rois, i) * scale; };
  auto end = [&](int64_t i) { return (column(rois, i) + static_cast<double>(mode)) * scale; };
  Value y = kExpandDims({roi_positions(e, edge(2), end(4), ph, samples, mode == 0)}, {2});
  Value x = kExpandDims({roi_positions(e, edge(1), end(3), pw, samples, mode == 0)}, {1});
  Value height = cast_to(field.sizes[0], d), width = cast_to(field.sizes[1], d);
  // Up to one pixel outside the border's elements count; beyond it lie zeros.
  auto outside = [](Value p, Value n) { return kLogicalOr({less(p, -1.0), kGreater({p, n})}); };
  Value out = kExpandDims({kLogicalOr({outside(y, height), outside(x, width)})}, {-1});
  Value map = kReshape({cast_to(column(rois, 0), DType::kInt64)}, {Ints{-1, 1, 1}});
  Value v = field.linear(
      {between(y, number(y, 0), height - 1.0), between(x, number(x, 0), width - 1.0)}, map);
  v = where(out, 0.0, v);
  int64_t c = v.shape()[-1];
  if (c == kUnknownDim) value_error("roi_align: the number of channels must be known");
  v = kReshape({v}, {Ints{-1, ph, samples, pw, samples, c}});
  e.result(kTranspose({kReduceMean({v}, {Ints{2, 4}})}, {Ints{0, 3, 1, 2}}));
}

}  // namespace

constexpr OpDef kCropAndResize = check({
    .name = "crop_and_resize",
    .doc = "Windows of images [n, h, w, c], each resized to crop_size: box (y1, x1, y2, x2) in "
           "parts of h - 1 and w - 1, of image box_indices. Point i of m lies at y1 (h - 1) + i "
           "(y2 - y1) (h - 1) / (m - 1), the middle for m = 1; bilinear or nearest, "
           "extrapolation_value outside. bilinear_v2 takes the centres of m parts of the pixels "
           "trunc(y1 h) to trunc(y2 h), the border repeated. Integers give float32.",
    .in = {"image: real[n, h, w, c]", "boxes: float[m, 4]", "box_indices: index[m]"},
    .attr = {"crop_size: int[2]", "method: str(bilinear|nearest|bilinear_v2) = bilinear",
             "extrapolation_value: float = 0"},
    .shard = "none",
    .expand = expand_crop,
    .cases = "image[2, 4, 5, 3]; boxes[3, 4]; boxes in (0.1, 0.9); box_indices[3]; box_indices in "
             "ints(0, 1); crop_size = [3, 4] [1, 2]; extrapolation_value = 0.5; bad boxes[3, 5]; "
             "bad image[4, 5, 3]; bad crop_size = [0, 2] | image[2, 4, 5, 3]; boxes[3, 4]; boxes "
             "in (-0.3, 1.3); box_indices[3]; box_indices in ints(0, 1); crop_size = [3, 4]; "
             "method = nearest bilinear_v2 bilinear; skip grad: jumps at the border; skip grad2: "
             "as grad; skip zero_size: images have elements; skip scalar: images have dims; skip "
             "dtypes: rounding moves points between pixels",
    .primitive = "CropAndResize(method, extrapolation_value)",
});

constexpr OpDef kRoiAlign = check({
    .name = "roi_align",
    .doc = "Regions of maps [n, c, h, w] as [r, c, pooled_height, pooled_width]: roi (map, x1, y1, "
           "x2, y2) times spatial_scale, x2 and y2 plus roi_end_mode before; with mode "
           "0 the sides are at least 1 long. Each cell is the mean of sample_num x sample_num "
           "bilinear samples. "
           "Points more than a pixel "
           "outside are 0 (He et al. 2017).",
    .in = {"features: float[n, c, h, w]", "rois: float[r, 5]"},
    .attr = {"pooled_height: int", "pooled_width: int", "spatial_scale: float",
             "sample_num: int = 2", "roi_end_mode: int = 1"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_roi_align,
    .cases = "features[2, 3, 5, 6]; rois[3, 5]; rois in (0.1, 0.9); pooled_height = 2; "
             "pooled_width = 3; spatial_scale = 0.5 1.0; sample_num = 1 2; roi_end_mode = 0 1; bad "
             "rois[3, 4]; bad sample_num = 0; bad pooled_height = 0; bad roi_end_mode = 2; skip "
             "zero_size: maps have elements; skip scalar: maps have dims; skip dtypes: rounding "
             "moves points between cells",
    .primitive = "ROIAlign(pooled_height, pooled_width, spatial_scale, sample_num, roi_end_mode)",
});

void register_crops() { ir::register_ops({&kCropAndResize, &kRoiAlign}); }

}  // namespace mycel::ops
