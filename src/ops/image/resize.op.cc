// Resized images and feature maps: one resampled axis after the other.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/image.h"
#include "ops/image/rooms.h"
#include "ops/pool/pool.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;

namespace {

struct Method {
  std::string name;         // as kResample's
  std::string coordinates;  // as kResample's
  double cubic = -0.75;
  bool drop_outside = false;
};

struct Axis {
  int axis;
  int64_t size;  // 0: from the scale
  double scale;  // 0: from the sizes
};

std::string coordinates(bool align_corners, bool half_pixel) {
  return align_corners ? "align_corners" : half_pixel ? "half_pixel" : "asymmetric";
}

// Output elements to one of input; 1 where that is not known.
double growth(Value x, const Axis& a) {
  int64_t n = x.shape()[a.axis];
  if (a.size == 0) return a.scale;
  return n == kUnknownDim || n == 0 ? 1 : static_cast<double>(a.size) / static_cast<double>(n);
}

// The axes that shrink most come first: less is left for the others.
Value resampled(Value x, std::vector<Axis> axes, const Method& m) {
  std::stable_sort(axes.begin(), axes.end(),
                   [&](const Axis& a, const Axis& b) { return growth(x, a) < growth(x, b); });
  for (const Axis& a : axes) {
    if (x.shape()[a.axis] == a.size && a.scale == 0) continue;  // every element meets itself
    x = kResample({x}, {a.axis, a.size, m.name, m.coordinates, a.scale, m.cubic, m.drop_outside});
  }
  return x;
}

void need_rank(const Expansion& e, int rank) {
  if (e.x(0).rank() == rank) return;
  value_error("{}: '{}' must have {} dims, got {}", e.op.name, e.op.inputs[0].name, rank,
              e.x(0).type().str());
}

[[noreturn]] void refuse_sizes(const Expansion& e, const char* name) {
  value_error(
      "{}: '{}' must be one positive number, or one for each of the {} dims behind batch "
      "and channels, got {}",
      e.op.name, name, e.x(0).rank() - 2, e.attrs[name].str());
}

// `size` attribute for the axes first, first + 1, …
std::vector<Axis> sized(const Expansion& e, int first, int count, const char* name) {
  const Attr::Ints& size = e.attrs.ints(name);
  std::vector<Axis> axes;
  if (size.size() != 1 && static_cast<int>(size.size()) != count) refuse_sizes(e, name);
  for (int d = 0; d < count; ++d) {
    int64_t n = size[size.size() == 1 ? 0 : d];
    if (n < 1) refuse_sizes(e, name);
    axes.push_back({first + d, n, 0});
  }
  return axes;
}

std::vector<Axis> scaled(const Expansion& e, int first, int count, const char* name) {
  const Attr::Floats& scale = e.attrs[name].floats();
  std::vector<Axis> axes;
  if (scale.size() != 1 && static_cast<int>(scale.size()) != count) refuse_sizes(e, name);
  for (int d = 0; d < count; ++d) {
    double s = scale[scale.size() == 1 ? 0 : d];
    if (!(s > 0) || !std::isfinite(s)) refuse_sizes(e, name);
    axes.push_back({first + d, 0, s});
  }
  return axes;
}

void check_corners(const Expansion& e) {
  if (e.attrs.boolean("align_corners") && e.attrs.boolean("half_pixel_centers"))
    value_error("{}: align_corners and half_pixel_centers exclude each other", e.op.name);
}

// [n, c, h, w] to `size`.
void resize_planes(Expansion& e, const std::string& method) {
  need_rank(e, 4);
  check_corners(e);
  bool half = e.attrs.boolean("half_pixel_centers");
  Method m{method, coordinates(e.attrs.boolean("align_corners"), half)};
  if (method == "cubic" && half) m.cubic = -0.5, m.drop_outside = true;
  bool last = e.op.attr_index("data_format") >= 0 && e.attrs.string("data_format") == "NHWC";
  e.result(resampled(e.x(0), sized(e, last ? 1 : 2, 2, "size"), m));
}

// One output element along an axis of half-pixel centres is the first input element, as published
// for ResizeLinear1D.
void expand_linear(Expansion& e) {
  need_rank(e, 3);
  std::vector<Axis> axes = sized(e, 2, 1, "size");
  std::string mode = e.attrs.string("coordinate_transformation_mode");
  if (axes[0].size == 1) mode = "align_corners";
  Value x = e.x(0);
  Value y = is_float(x.dtype()) ? x : cast_to(x, DType::kFloat64);
  e.result(cast_to(resampled(y, axes, {"linear", mode}), x.dtype()));
}

struct Mode {
  const char* name;
  int low, high;  // ranks
  Method method;
  bool corners;  // whether align_corners may be given
};
const Mode kModes[] = {
    {"nearest", 3, 5, {"nearest", "asymmetric"}, false},
    {"nearest-exact", 3, 5, {"nearest", "half_pixel"}, false},
    {"linear", 3, 3, {"linear", "half_pixel"}, true},
    {"bilinear", 4, 4, {"linear", "half_pixel"}, true},
    {"trilinear", 5, 5, {"linear", "half_pixel"}, true},
    {"bicubic", 4, 4, {"cubic", "half_pixel", -0.5, true}, true},
    {"area", 3, 5, {"area", ""}, false},
};

Value pooled(Value x, const std::vector<Axis>& axes) {
  Attr::Ints size;
  for (const Axis& a : axes) size.push_back(a.size);
  const OpDef& op = axes.size() == 1   ? kAdaptiveAvgPool1d
                    : axes.size() == 2 ? kAdaptiveAvgPool2d
                                       : kAdaptiveAvgPool3d;
  return op({x}, {size});
}

// The sizes that scales lead to.
void fix_sizes(const Expansion& e, std::vector<Axis>& axes) {
  for (Axis& a : axes) {
    int64_t n = e.x(0).shape()[a.axis];
    if (n == kUnknownDim)
      value_error("{}: give 'size', as dim {} of the operand is not known yet", e.op.name, a.axis);
    double to = std::floor(static_cast<double>(n) * a.scale);
    if (to < 1)
      value_error("{}: scale {} leaves nothing of dim {}, {} elements", e.op.name, a.scale, a.axis,
                  n);
    a = {a.axis, static_cast<int64_t>(to), 0};
  }
}

void expand_interpolate(Expansion& e) {
  const std::string& name = e.attrs.string("mode");
  const Mode& mode = *std::find_if(std::begin(kModes), std::end(kModes),
                                   [&](const Mode& m) { return name == m.name; });
  int rank = e.x(0).rank();
  if (rank < mode.low || rank > mode.high) {
    value_error("interpolate: mode {} takes operands of {}{} dims, got {}", name, mode.low,
                mode.low == mode.high ? "" : " to 5", e.x(0).type().str());
  }
  bool by_size = !e.attrs["size"].none();
  if (by_size != e.attrs["scale_factor"].none())
    value_error("interpolate: one of 'size' and 'scale_factor' must be given");
  if (!e.attrs["align_corners"].none() && e.attrs.boolean("align_corners") && !mode.corners)
    value_error("interpolate: mode {} takes no align_corners", name);
  bool again =
      !e.attrs["recompute_scale_factor"].none() && e.attrs.boolean("recompute_scale_factor");
  if (again && by_size)
    value_error("interpolate: recompute_scale_factor is for 'scale_factor', but 'size' was given");
  std::vector<Axis> axes =
      by_size ? sized(e, 2, rank - 2, "size") : scaled(e, 2, rank - 2, "scale_factor");
  if (!by_size && (again || name == "area")) fix_sizes(e, axes);
  if (name == "area") return e.result(pooled(e.x(0), axes));
  Method method = mode.method;
  if (mode.corners && !e.attrs["align_corners"].none() && e.attrs.boolean("align_corners"))
    method = {method.name, "align_corners"};
  if (name == "linear" && by_size && axes[0].size == 1) method.coordinates = "align_corners";
  e.result(resampled(e.x(0), axes, method));
}

void expand_upsample(Expansion& e, const Method& m) {
  need_rank(e, 5);
  bool by_size = !e.attrs["output_size"].none();
  if (by_size != e.attrs["scales"].none())
    value_error("{}: one of 'output_size' and 'scales' must be given", e.op.name);
  e.result(
      resampled(e.x(0), by_size ? sized(e, 2, 3, "output_size") : scaled(e, 2, 3, "scales"), m));
}

}  // namespace

constexpr OpDef kInterpolate = check({
    .name = "interpolate",
    .doc = "A map [n, c, ...] of another size, given or floor(old scale_factor). Modes: nearest "
           "(element floor(i s)), nearest-exact (floor((i + 1/2) s)), linear, bilinear and "
           "trilinear (between the two neighbours of (i + 1/2) s - 1/2 along 1, 2, 3 dims), "
           "bicubic (Keys 1981, parameter -1/2; taps outside are left out), area (means of "
           "adaptive windows). align_corners: positions i (old - 1) / (new - 1), bicubic with "
           "parameter -3/4. s is old / new, or 1 / scale_factor unless recompute_scale_factor.",
    .in = {"input: float[n, c, h, w]"},
    .attr = {"size: int[]? = None", "scale_factor: float[]? = None",
             "mode: str(nearest|nearest-exact|linear|bilinear|trilinear|bicubic|area) = nearest",
             "align_corners: bool? = None", "recompute_scale_factor: bool? = None"},
    .shard = "none",
    .expand = expand_interpolate,
    .cases = "input[2, 3, 4, 5]; size = [7, 3] 6; mode = nearest nearest-exact bilinear bicubic "
             "area; bad size = [1, 2, 3]; bad size = 0; bad mode = linear; bad align_corners = "
             "True | input[2, 3, 4, 5]; size = None; scale_factor = [1.5, 0.7] 2.0; "
             "recompute_scale_factor = False True; mode = nearest bilinear area | input[2, 3, 4, "
             "5]; size = [7, 3]; mode = bilinear bicubic; align_corners = True | input[2, 3, 5]; "
             "size = 8 1; mode = linear nearest area | input[1, 2, 3, 4, 2]; size = [2, 3, 5]; "
             "mode = trilinear nearest area; skip zero_size: nothing can be interpolated; skip "
             "scalar: dims are resized",
    .onnx = "Resize",
    .alias = "upsample",
});

constexpr OpDef kResizeBilinear = check({
    .name = "resize_bilinear",
    .doc = "Planes [n, c, h, w] of another size, bilinear: output i lies at i old/new, with "
           "half_pixel_centers at (i + 1/2) old/new - 1/2, with align_corners at i (old - 1) / "
           "(new - 1).",
    .in = {"x: float[n, c, h, w]"},
    .attr = {"size: int[2]", "align_corners: bool = False", "half_pixel_centers: bool = False"},
    .shard = "none",
    .expand = [](Expansion& e) { resize_planes(e, "linear"); },
    .cases = "x[2, 2, 3, 4]; size = [5, 2] [1, 7] [3, 4]; half_pixel_centers = False True; bad "
             "size = [0, 2] | x[1, 2, 3, 4]; size = [5, 2] [1, 9]; align_corners = True; "
             "half_pixel_centers = False; bad half_pixel_centers = True; skip zero_size: nothing "
             "can be interpolated; skip scalar: "
             "dims are resized",
    .primitive = "ResizeBilinear(size, align_corners, half_pixel_centers); "
                 "ResizeBilinearV2(align_corners, half_pixel_centers)",
});

constexpr OpDef kResizeNearest = check({
    .name = "resize_nearest_neighbor",
    .doc = "Planes of another size, each element the nearest: floor(i old/new), with "
           "half_pixel_centers floor((i + 1/2) old/new), with align_corners i (old - 1) / (new - "
           "1) rounded, halves up. data_format says whether they are [n, c, h, w] or [n, h, w, "
           "c].",
    .in = {"input_x: real[n, c, h, w]"},
    .attr = {"size: int[2]", "align_corners: bool = False", "half_pixel_centers: bool = False",
             "data_format: str(NCHW|NHWC) = NCHW"},
    .shard = "none",
    .expand = [](Expansion& e) { resize_planes(e, "nearest"); },
    .cases =
        "input_x[2, 2, 3, 4]; size = [5, 2] [1, 7]; half_pixel_centers = False True; "
        "data_format = NCHW NHWC; bad size = [0, 2] | input_x[1, 2, 3, 4]; size = [5, 2]; "
        "align_corners = True; half_pixel_centers = False; skip zero_size: an empty axis cannot "
        "be resampled; skip "
        "scalar: dims are resized",
    .primitive = "ResizeNearestNeighbor(size, align_corners)",
});

constexpr OpDef kResizeNearestV2 = check({
    .name = "resize_nearest_neighbor_v2",
    .doc = "resize_nearest_neighbor with data_format NHWC unless told otherwise.",
    .in = {"x: real[n, h, w, c]"},
    .attr = {"size: int[2]", "align_corners: bool = False", "half_pixel_centers: bool = False",
             "data_format: str(NHWC|NCHW) = NHWC"},
    .shard = "none",
    .expand = [](Expansion& e) { resize_planes(e, "nearest"); },
    .cases = "x[2, 3, 4, 2]; size = [5, 2]; half_pixel_centers = False True; data_format = NHWC "
             "NCHW; bad size = [0, 2]; skip zero_size: an empty axis cannot be resampled; skip "
             "scalar: dims are resized",
    .primitive = "ResizeNearestNeighborV2(align_corners, half_pixel_centers, data_format)",
    .internal = true,
});

constexpr OpDef kResizeBicubic = check({
    .name = "resize_bicubic",
    .doc = "Planes [n, c, h, w] of another size, bicubic (Keys 1981): with half_pixel_centers "
           "parameter -1/2 and taps outside left out, otherwise -3/4 and the border repeated; "
           "positions as in resize_bilinear.",
    .in = {"images: float[n, c, h, w]"},
    .attr = {"size: int[2]", "align_corners: bool = False", "half_pixel_centers: bool = False"},
    .shard = "none",
    .expand = [](Expansion& e) { resize_planes(e, "cubic"); },
    .cases =
        "images[2, 2, 3, 4]; size = [5, 2] [1, 7]; half_pixel_centers = False True; bad size "
        "= [0, 2] | images[1, 2, 3, 4]; size = [5, 2]; align_corners = True; "
        "half_pixel_centers = False; skip zero_size: nothing can be interpolated; skip scalar: "
        "dims are resized",
    .primitive = "ResizeBicubic(align_corners, half_pixel_centers)",
});

constexpr OpDef kResizeArea = check({
    .name = "resize_area",
    .doc = "Images [n, h, w, c] of another size, each element the mean over [i s, (i + 1) s) of "
           "both dims with s = old/new, or (old - 1) / (new - 1) with align_corners. Integers give "
           "float32.",
    .in = {"images: real[n, h, w, c]"},
    .attr = {"size: int[2]", "align_corners: bool = False"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_rank(e, 4);
          Value x = e.x(0);
          if (!is_float(x.dtype())) x = cast_to(x, DType::kFloat32);
          std::vector<Axis> axes = sized(e, 1, 2, "size");
          // With corners aligned one element is not the mean of all but of the whole axis.
          std::string at = coordinates(e.attrs.boolean("align_corners"), false);
          for (const Axis& a : axes)
            x = resampled(x, {a}, {"area", a.size == 1 ? "asymmetric" : at});
          e.result(x);
        },
    .cases = "images[2, 3, 5, 2]; size = [5, 2] [2, 7] [1, 1]; align_corners = False True; bad "
             "size = [0, 2]; skip zero_size: nothing can be averaged; skip scalar: dims are "
             "resized",
    .primitive = "ResizeArea(align_corners)",
});

constexpr OpDef kResizeLinear1d = check({
    .name = "resize_linear_1d",
    .doc = "Lines [n, c, w] of another length, linear between neighbours: position i (old - 1) / "
           "(new - 1), or (i + 1/2) old/new - 1/2 with half_pixel (0 for one element).",
    .in = {"x: real[n, c, w]"},
    .attr = {"size: int[1]",
             "coordinate_transformation_mode: str(align_corners|half_pixel) = align_corners"},
    .shard = "none",
    .expand = expand_linear,
    .cases = "x[2, 2, 5]; size = 1 3 9; coordinate_transformation_mode = align_corners "
             "half_pixel; bad size = 0; skip zero_size: nothing can be interpolated; skip scalar: "
             "dims are resized; skip dtypes: integers are truncated",
    .primitive = "ResizeLinear1D(coordinate_transformation_mode)",
});

constexpr OpDef kUpsampleNearest3d = check({
    .name = "upsample_nearest_3d",
    .doc = "Volumes [n, c, d, h, w] of another size, each element the nearest: floor(i s), s = 1 / "
           "scale or old/new.",
    .in = {"x: float[n, c, d, h, w]"},
    .attr = {"output_size: int[]? = None", "scales: float[]? = None"},
    .shard = "none",
    .expand = [](Expansion& e) { expand_upsample(e, {"nearest", "asymmetric"}); },
    .cases = "x[1, 2, 2, 3, 2]; output_size = [3, 2, 4]; bad output_size = [1, 2] | x[1, 2, 2, 3, "
             "2]; output_size = None; scales = [1.5, 2, 1]; skip zero_size: nothing can be "
             "interpolated; skip scalar: dims are resized",
    .primitive = "UpsampleNearest3D(output_size, scales)",
});

constexpr OpDef kUpsampleTrilinear3d = check({
    .name = "upsample_trilinear_3d",
    .doc = "Volumes [n, c, d, h, w] of another size, trilinear: positions (i + 1/2) s - 1/2 with s "
           "= 1 / scale or old/new, with align_corners i (old - 1) / (new - 1).",
    .in = {"x: float[n, c, d, h, w]"},
    .attr = {"output_size: int[]? = None", "scales: float[]? = None",
             "align_corners: bool = False"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          expand_upsample(e, {"linear", coordinates(e.attrs.boolean("align_corners"), true)});
        },
    .cases = "x[1, 2, 2, 3, 2]; output_size = [3, 2, 4]; align_corners = False True; bad "
             "output_size = [1, 2] | x[1, 2, 2, 3, 2]; output_size = None; scales = [1.5, 2, 1]; "
             "skip zero_size: nothing can be interpolated; skip scalar: dims are resized",
    .primitive = "UpsampleTrilinear3D(output_size, scales, align_corners)",
});

void register_resize() {
  ir::register_ops({&kInterpolate, &kResizeBilinear, &kResizeNearest, &kResizeNearestV2,
                    &kResizeBicubic, &kResizeArea, &kResizeLinear1d, &kUpsampleNearest3d,
                    &kUpsampleTrilinear3d});
}

}  // namespace mycel::ops
