// Sliding patches of two or three spatial dims as channels, and the maximum of patches plus a
// filter (grey-scale dilation): gathers by a constant table of places.
#include <limits>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/image.h"
#include "ops/image/rooms.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

struct Windows {
  Ints count;                   // along each dim
  int64_t patches, elements;    // their number, elements of one
  std::vector<int64_t> places;  // [elements * patches] in the flat plane; -1 outside
};

constexpr double kMostPlaces = 1 << 28;  // in the table of what goes where

Windows windows_of(const Expansion& e, const Ints& size, const Ints& kernel, const Ints& stride,
                   const Ints& rate, bool same) {
  int dims = static_cast<int>(size.size());
  Windows w;
  Ints before(size.size(), 0);
  for (int d = 0; d < dims; ++d) {
    if (kernel[d] < 1 || stride[d] < 1 || rate[d] < 1)
      value_error("{}: windows, strides and rates must be 1 or more", e.op.name);
    int64_t reach = (kernel[d] - 1) * rate[d] + 1;
    int64_t n = same ? (size[d] + stride[d] - 1) / stride[d]
                     : (size[d] < reach ? 0 : (size[d] - reach) / stride[d] + 1);
    if (n < 1)
      value_error("{}: a window of {} elements does not fit into {}", e.op.name, reach, size[d]);
    w.count.push_back(n);
    if (same) before[d] = std::max<int64_t>(0, (n - 1) * stride[d] + reach - size[d]) / 2;
  }
  double table = 1;
  for (int d = 0; d < dims; ++d)
    table *= static_cast<double>(w.count[d]) * static_cast<double>(kernel[d]);
  if (table > kMostPlaces) {
    value_error("{}: windows of {} at {} places are more than {} elements", e.op.name,
                Attr(kernel).str(), Attr(w.count).str(), kMostPlaces);
  }
  w.patches = Shape(w.count).size(), w.elements = Shape(kernel).size();
  for (int64_t k = 0; k < w.elements; ++k) {
    for (int64_t p = 0; p < w.patches; ++p) {
      int64_t place = 0, rest_k = k, rest_p = p, scale = 1;
      for (int d = dims - 1; d >= 0; --d) {
        int64_t at = rest_p % w.count[d] * stride[d] + rest_k % kernel[d] * rate[d] - before[d];
        rest_p /= w.count[d], rest_k /= kernel[d];
        place = place < 0 || at < 0 || at >= size[d] ? -1 : place + at * scale;
        scale *= size[d];
      }
      w.places.push_back(place);
    }
  }
  return w;
}

Ints spatial_size(const Expansion& e, int dims) {
  const Shape& s = e.x(0).shape();
  if (s.rank() != dims + 2 || !s.known())
    value_error("{}: the operand must be [n, c] and {} spatial dims of known size, got {}",
                e.op.name, dims, e.x(0).type().str());
  return Ints(s.begin() + 2, s.end());
}

// A setting of all dims, [1, 1, spatial...] or, channels last, [1, spatial..., 1], as its spatial
// part.
Ints spatial_part(const Expansion& e, const char* name, int dims, bool channels_last = false) {
  const Ints& v = e.attrs.ints(name);
  if (v.size() == 1) return Ints(static_cast<size_t>(dims), v[0]);
  if (static_cast<int>(v.size()) == dims) return v;
  if (static_cast<int>(v.size()) == dims + 2 && v[0] == 1) {
    if (channels_last && v.back() == 1) return Ints(v.begin() + 1, v.end() - 1);
    if (!channels_last && v[1] == 1) return Ints(v.begin() + 2, v.end());
  }
  value_error("{}: '{}' must be {} spatial numbers or {}, got {}", e.op.name, name, dims,
              channels_last ? "[1, rows, columns, 1]" : "[1, 1, spatial...]", e.attrs[name].str());
}

bool is_same(const Expansion& e, const char* name) {
  const std::string& mode = e.attrs.string(name);
  return mode == "same" || mode == "SAME";
}

// [n, c, elements, patches] of the elements at the windows' places.
Value gathered(Expansion& e, Value x, const Windows& w) {
  const Shape& s = x.shape();
  Value flat = kReshape({x}, {Ints{s[0], s[1], s.size(2, s.rank())}});
  Value places = e.graph.constant(Tensor::from(w.places, Shape{w.elements, w.patches}));
  return kGather({flat, places}, {2, 0, "skip"});
}

void as_channels(Expansion& e, int dims, const Ints& kernel, const Ints& stride, const Ints& rate) {
  Windows w = windows_of(e, spatial_size(e, dims), kernel, stride, rate, is_same(e, "padding"));
  const Shape& s = e.x(0).shape();
  Value y = kTranspose({gathered(e, e.x(0), w)}, {Ints{0, 2, 1, 3}});
  Ints shape{s[0], w.elements * s[1]};
  shape.insert(shape.end(), w.count.begin(), w.count.end());
  e.result(kReshape({y}, {shape}));
}

void expand_image_patches(Expansion& e) {
  as_channels(e, 2, spatial_part(e, "ksizes", 2, true), spatial_part(e, "strides", 2, true),
              spatial_part(e, "rates", 2, true));
}

void expand_volume_patches(Expansion& e) {
  as_channels(e, 3, spatial_part(e, "kernel_size", 3), spatial_part(e, "strides", 3),
              Ints{1, 1, 1});
}

void expand_dilation(Expansion& e) {
  Value x = e.x(0), filter = e.x(1);
  Ints size = spatial_size(e, 2);
  const Shape& f = filter.shape();
  if (f.rank() != 3 || !f.known() || f[0] != x.shape()[1])
    value_error("dilation2d: the filter must be [{}, rows, columns] of known size, got {}",
                x.shape()[1], filter.type().str());
  Ints kernel{f[1], f[2]};
  Windows w = windows_of(e, size, kernel, spatial_part(e, "stride", 2),
                         spatial_part(e, "dilation", 2), is_same(e, "pad_mode"));
  std::vector<uint8_t> inside;
  for (int64_t place : w.places) inside.push_back(place >= 0);
  Value known =
      cast_to(e.graph.constant(Tensor::from(inside, Shape{w.elements, w.patches})), DType::kBool);
  Value weights = kReshape({filter}, {Ints{f[0], w.elements, 1}});
  Value sums = gathered(e, x, w) + weights;
  sums = where(known, sums, -std::numeric_limits<double>::infinity());
  Value y = kReduceMax({sums}, {Ints{2}});
  e.result(kReshape({y}, {Ints{x.shape()[0], f[0], w.count[0], w.count[1]}}));
}

}  // namespace

constexpr OpDef kExtractImagePatches = check({
    .name = "extract_image_patches",
    .doc = "Sliding patches of images [n, c, h, w] as channels: [n, rows * columns * c, oh, ow], "
           "the channels of an element together. ksizes, strides and rates are [1, rows, columns, "
           "1]; padding same or valid.",
    .in = {"x: number[n, c, h, w]"},
    .attr = {"ksizes: int[]", "strides: int[]", "rates: int[]",
             "padding: str(valid|same|VALID|SAME) = valid"},
    .shard = "none",
    .expand = expand_image_patches,
    .cases = "x[2, 3, 5, 6]; ksizes = [1, 2, 3, 1] [2, 2]; strides = [1, 1, 1, 1] [1, 1, 2, 1]; "
             "rates = [1, 1, 1, 1] [2, 1]; padding = valid SAME; bad x[3, 5, 6]; bad ksizes = [1, "
             "9, 9, 1]; bad strides = [2, 1, 1, 1, 1]; skip zero_size: patches must fit; skip "
             "scalar: images have dims",
    .primitive = "ExtractImagePatches(ksizes, strides, rates, padding)",
    .internal = true,
});

constexpr OpDef kExtractVolumePatches = check({
    .name = "extract_volume_patches",
    .doc = "Sliding patches of volumes [n, c, d, h, w] as channels: [n, elements * c, od, oh, ow], "
           "the channels of an element together. kernel_size and strides are [1, 1, depth, rows, "
           "columns]; padding same or valid.",
    .in = {"input_x: number[n, c, d, h, w]"},
    .attr = {"kernel_size: int[]", "strides: int[]", "padding: str(valid|same|VALID|SAME)"},
    .shard = "none",
    .expand = expand_volume_patches,
    .cases =
        "input_x[1, 2, 3, 4, 3]; kernel_size = [1, 1, 2, 3, 2] 2; strides = [1, 1, 1, 1, 1] 2; "
        "padding = VALID same; bad input_x[2, 3, 4, 3]; bad kernel_size = 5; skip zero_size: "
        "patches must fit; skip scalar: volumes have dims",
    .primitive = "ExtractVolumePatches(kernel_size, strides, padding)",
    .internal = true,
});

constexpr OpDef kDilation2d = check({
    .name = "dilation2d",
    .doc = "Grey-scale dilation: the maximum of patch plus filter at each place of images [n, c, "
           "h, w] with filters [c, rows, columns]; what lies outside never wins.",
    .in = {"x: float[n, c, h, w]", "filter: float[c, i, j]"},
    .attr = {"stride: int[]", "dilation: int[]", "pad_mode: str(SAME|VALID|same|valid) = SAME",
             "data_format: str(NCHW) = NCHW"},
    .promote = ir::Promote::kCommon,
    .shard = "none",
    .expand = expand_dilation,
    .cases = "x[2, 3, 5, 6]; x in distinct(-9, 9); filter[3, 2, 3]; stride = 1 [1, 1, 2, 1]; "
             "dilation = 1 [1, 1, 2, 1]; pad_mode = SAME VALID; bad filter[2, 2, 3]; bad x[3, 5, "
             "6]; skip zero_size: patches must fit; skip scalar: images have dims; skip dtypes: "
             "rounding moves the largest",
    .primitive = "Dilation2D(stride, dilation, pad_mode, data_format)",
    .internal = true,
});

void register_image_patches() {
  ir::register_ops({&kExtractImagePatches, &kExtractVolumePatches, &kDilation2d});
}

}  // namespace mycel::ops
