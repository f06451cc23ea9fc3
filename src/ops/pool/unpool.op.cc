// Maxima back at their places, windows at random or about equal distances, power means: the pools
// that are made of other ops.
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/pool/places.h"
#include "ops/pool/pool.h"
#include "ops/pool/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::Attrs;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

std::pair<Value, Value> max_over_places(Value flat, Value places, int64_t windows,
                                        int64_t elements) {
  int64_t m = flat.shape()[0];
  if (places.shape()[0] != m) places = kBroadcastTo({places}, {Ints{m, windows * elements}});
  Value values = kReshape({kGatherD({flat, places}, {1})}, {Ints{m, windows, elements}});
  std::vector<Value> best = all_results(kArgmaxWithValue, {values}, {-1, true});
  Value of_window = kReshape({places}, {Ints{m, windows, elements}});
  Value at = kGatherD({of_window, cast_to(best[0], DType::kInt64)}, {2});
  return {kReshape({best[1]}, {Ints{m, windows}}), kReshape({at}, {Ints{m, windows}})};
}

Value as_planes(const Expansion& e, int i, int spatial) {
  Value x = e.x(i);
  int lead = x.rank() - spatial;
  if ((lead != 1 && lead != 2) || !x.shape().known())
    value_error("{}: '{}' must have {} or {} dims of known size, got {}", e.op.name,
                e.op.inputs[i].name, spatial + 1, spatial + 2, x.type().str());
  return kReshape({x}, {Ints{x.shape().size(0, lead), x.shape().size(lead, x.rank())}});
}

Ints planes_with(const Expansion& e, int i, int spatial, const Ints& sizes) {
  Ints out;
  for (int d = 0; d < e.x(i).rank() - spatial; ++d) out.push_back(e.x(i).shape()[d]);
  out.insert(out.end(), sizes.begin(), sizes.end());
  return out;
}

namespace {

// -- maxima back at their places

// What output_size says, of all dims or the spatial ones; else the smallest size that pools to x.
Ints unpooled_size(const Expansion& e, int spatial) {
  const Ints &kernel = e.attrs.ints("kernel_size"), &padding = e.attrs.ints("padding");
  Ints stride = e.attrs["stride"].none() ? kernel : e.attrs.ints("stride");
  const Shape& s = e.x(0).shape();
  Ints size;
  for (int d = 0; d < spatial; ++d) {
    if (kernel[d] < 1 || stride[d] < 1 || padding[d] < 0)
      value_error("{}: kernel_size and stride must be positive and padding not negative",
                  e.op.name);
    size.push_back((s[s.rank() - spatial + d] - 1) * stride[d] - 2 * padding[d] + kernel[d]);
  }
  if (!e.attrs["output_size"].none() && !e.attrs.ints("output_size").empty()) {
    const Ints& given = e.attrs.ints("output_size");
    if (static_cast<int>(given.size()) != spatial && static_cast<int>(given.size()) != s.rank())
      value_error("{}: output_size needs {} or {} sizes, got {}", e.op.name, spatial, s.rank(),
                  given.size());
    size.assign(given.end() - spatial, given.end());
  }
  for (int64_t n : size) {
    if (n < 1) value_error("{}: the output would have {} elements along a dim", e.op.name, n);
  }
  return size;
}

template <int spatial>
void expand_unpool(Expansion& e) {
  Value x = as_planes(e, 0, spatial), at = as_planes(e, 1, spatial);
  if (!(e.x(0).shape() == e.x(1).shape()))
    value_error("{}: x and indices must have one shape, got {} and {}", e.op.name,
                e.x(0).type().str(), e.x(1).type().str());
  Ints size = unpooled_size(e, spatial);
  Value zeros = filled(e.graph, 0, {x.shape()[0], Shape(size).size()}, x.dtype());
  Value y = kElementsScatterUpdate({zeros, at, x}, {1});
  e.result(kReshape({y}, {planes_with(e, 0, spatial, size)}));
}

// -- windows at fractional distances

// First element of each of `count` windows of k elements along n: floor((i + s) step) - floor(s
// step), the last at the end; s [m] is random in [0, 1).
Value starts(Value s, int64_t n, int64_t k, int64_t count) {
  ir::Graph& g = s.graph();
  DType d = s.dtype();
  double step = count > 1 ? static_cast<double>(n - k) / static_cast<double>(count - 1) : 0;
  std::vector<double> number, last;
  for (int64_t i = 0; i < count; ++i) {
    number.push_back(static_cast<double>(i));
    last.push_back(i == count - 1 ? 1 : 0);
  }
  Value i = cast_to(g.constant(Tensor::from(number, Shape{1, count})), d);
  Value end = cast_to(g.constant(Tensor::from(last, Shape{1, count})), DType::kBool);
  s = kExpandDims({s}, {-1});
  Value at = kFloor({(i + s) * step}) - kFloor({s * step});
  return cast_to(where(end, static_cast<double>(n - k), at), DType::kInt64);
}

void expand_fractional(Expansion& e) {
  const Ints &kernel = e.attrs.ints("kernel_size"), &size = e.attrs.ints("output_size");
  int spatial = static_cast<int>(kernel.size());
  if (spatial < 2 || spatial > 3 || static_cast<int>(size.size()) != spatial)
    value_error("{}: kernel_size and output_size need 2 or 3 numbers each", e.op.name);
  Value x = as_planes(e, 0, spatial);
  const Shape& s = e.x(0).shape();
  int lead = s.rank() - spatial;
  Value samples = e.x(1);
  int64_t planes = x.shape()[0];
  if (!samples.shape().known() || samples.rank() < 1 || samples.shape()[-1] != spatial ||
      samples.shape().size() != planes * spatial) {
    value_error("{}: random samples must be [n, c, {}], of known size, got {} for {}", e.op.name,
                spatial, samples.type().str(), e.x(0).type().str());
  }
  samples = kReshape({samples}, {Ints{planes, spatial}});
  // [m, o1, k1, o2, k2, ...] of flat places.
  Value places;
  for (int d = 0; d < spatial; ++d) {
    int64_t n = s[lead + d];
    if (kernel[d] < 1 || size[d] < 1 || size[d] + kernel[d] - 1 > n)
      value_error("{}: {} windows of {} elements do not fit into {} along spatial dim {}",
                  e.op.name, size[d], kernel[d], n, d);
    // The samples name the dims in the order width, height, and in three dims depth first.
    int column = spatial == 2 ? 1 - d : d;
    Value sample = kReshape({sliced(samples, 1, column, 1)}, {Ints{planes}});
    std::vector<int64_t> within;
    for (int64_t k = 0; k < kernel[d]; ++k) within.push_back(k);
    Value offset = e.graph.constant(Tensor::from(within, Shape{1, 1, kernel[d]}));
    Value line = kExpandDims({starts(sample, n, kernel[d], size[d])}, {-1}) + offset;
    Ints shape{planes};
    for (int j = 0; j < spatial; ++j) {
      shape.push_back(j == d ? size[d] : 1);
      shape.push_back(j == d ? kernel[d] : 1);
    }
    line = kReshape({line}, {shape});
    places = places ? places * static_cast<double>(n) + line : line;
  }
  Ints order{0};
  for (int d = 0; d < spatial; ++d) order.push_back(1 + 2 * d);
  for (int d = 0; d < spatial; ++d) order.push_back(2 + 2 * d);
  int64_t windows = Shape(size).size(), elements = Shape(kernel).size();
  places = kReshape({kTranspose({places}, {order})}, {Ints{planes, windows * elements}});
  auto [y, at] = max_over_places(x, places, windows, elements);
  Ints shape = planes_with(e, 0, spatial, size);
  e.result(kReshape({y}, {shape}));
  e.result(kReshape({at}, {shape}));
}

// -- adaptive windows with places

void expand_adaptive_places(Expansion& e) {
  const Ints& given = e.attrs.ints("output_size");
  int spatial = static_cast<int>(given.size());
  if (spatial < 1 || spatial > 3)
    value_error("{}: output_size needs 1 to 3 numbers, got {}", e.op.name, given.size());
  Value x = as_planes(e, 0, spatial);
  const Shape& s = e.x(0).shape();
  Ints size = given, most(given.size(), 1), n(given.size());
  for (int d = 0; d < spatial; ++d) {
    n[d] = s[s.rank() - spatial + d];
    if (size[d] == -1) size[d] = n[d];
    if (size[d] < 1 || n[d] < 1)
      value_error("{}: {} windows along a dim of {} elements", e.op.name, size[d], n[d]);
    for (int64_t o = 0; o < size[d]; ++o)
      most[d] = std::max(most[d], ((o + 1) * n[d] + size[d] - 1) / size[d] - o * n[d] / size[d]);
  }
  // Windows of one size; the last element of a short one is named again.
  int64_t windows = Shape(size).size(), elements = Shape(most).size();
  std::vector<int64_t> at;
  for (int64_t w = 0; w < windows; ++w) {
    for (int64_t k = 0; k < elements; ++k) {
      int64_t place = 0, rest_w = w, rest_k = k, scale = 1;
      for (int d = spatial - 1; d >= 0; --d) {
        int64_t o = rest_w % size[d], i = rest_k % most[d];
        rest_w /= size[d], rest_k /= most[d];
        int64_t from = o * n[d] / size[d], to = ((o + 1) * n[d] + size[d] - 1) / size[d];
        place += std::min(from + i, to - 1) * scale;
        scale *= n[d];
      }
      at.push_back(place);
    }
  }
  Value places = e.graph.constant(Tensor::from(at, Shape{1, windows * elements}));
  auto [y, index] = max_over_places(x, places, windows, elements);
  Ints shape = planes_with(e, 0, spatial, size);
  e.result(kReshape({y}, {shape}));
  e.result(kReshape({index}, {shape}));
}

// -- power means

// (sum x^p over a window)^(1/p), by the mean times the window's size.
template <int spatial, const OpDef& avg>
void expand_lp(Expansion& e) {
  double p = e.attrs.real("norm_type");
  const Ints& kernel = e.attrs.ints("kernel_size");
  if (!(p > 0)) value_error("{}: norm_type must be positive, got {}", e.op.name, p);
  Value x = e.x(0);
  if (x.rank() != spatial + 1 && x.rank() != spatial + 2)
    value_error("{}: x must have {} or {} dims, got {}", e.op.name, spatial + 1, spatial + 2,
                x.type().str());
  bool batched = x.rank() == spatial + 2;
  if (!batched) x = kExpandDims({x}, {0});
  Value powers = kPow({x, number(x, p)});
  // Windows that reach beyond the end count as if full, as published.
  Value means = avg({powers}, {e.attrs["kernel_size"], e.attrs["stride"], Ints{0},
                               e.attrs["ceil_mode"], true, 0, "pad"});
  Value y = kPow({means * static_cast<double>(Shape(kernel).size()), number(x, 1 / p)});
  e.result(batched ? y : kSqueeze({y}, {Ints{0}}));
}

}  // namespace

#define MYCEL_UNPOOL_ATTRS(length)                                    \
  {"kernel_size: int[" length "]", "stride: int[" length "]? = None", \
   "padding: int[" length "] = 0", "output_size: int[]? = None"}
#define MYCEL_UNPOOL_CASES "skip zero_size: sizes belong together; skip scalar: planes have dims"

constexpr OpDef kMaxUnpool1d = check({
    .name = "max_unpool1d",
    .doc = "Zeros with the elements of x [n, c, l] at their indices in the plane: undoes "
           "max_pool1d. Sizes: (l - 1) stride - 2 padding + kernel_size, or output_size.",
    .in = {"x: number[n, c, l]", "indices: index[n, c, l]"},
    .attr = MYCEL_UNPOOL_ATTRS("1"),
    .shard = "none",
    .expand = expand_unpool<1>,
    .cases = "x[2, 3, 4]; indices[2, 3, 4]; indices in permutation; kernel_size = 2; "
             "stride = None 3; padding = 0 1; bad output_size = [1, "
             "2]; bad kernel_size = 0; " MYCEL_UNPOOL_CASES
             " | x[1, 2, 3]; indices[1, 2, 3]; indices in permutation; kernel_size = 2; "
             "output_size = [7] [1, 2, 8]",
});

constexpr OpDef kMaxUnpool2d = check({
    .name = "max_unpool2d",
    .doc = "Zeros with the elements of x [n, c, h, w] at their indices in the plane: undoes "
           "max_pool2d. Sizes: (h - 1) stride - 2 padding + kernel_size, or output_size.",
    .in = {"x: number[n, c, h, w]", "indices: index[n, c, h, w]"},
    .attr = MYCEL_UNPOOL_ATTRS("2"),
    .shard = "none",
    .expand = expand_unpool<2>,
    .cases = "x[2, 3, 1, 4]; indices[2, 3, 1, 4]; indices in permutation; kernel_size = 2 [2, 3]; "
             "stride = None [3, 1]; bad output_size = [1, 2, 3]; bad indices[2, 3, 4, "
             "1]; " MYCEL_UNPOOL_CASES,
});

constexpr OpDef kMaxUnpool3d = check({
    .name = "max_unpool3d",
    .doc = "Zeros with the elements of x [n, c, d, h, w] at their indices in the volume: undoes "
           "max_pool3d. Sizes: (d - 1) stride - 2 padding + kernel_size, or output_size.",
    .in = {"x: number[n, c, d, h, w]", "indices: index[n, c, d, h, w]"},
    .attr = MYCEL_UNPOOL_ATTRS("3"),
    .shard = "none",
    .expand = expand_unpool<3>,
    .cases = "x[2, 3, 1, 1, 4]; indices[2, 3, 1, 1, 4]; indices in permutation; kernel_size = 2; "
             "stride = None [3, 1, 2]; bad output_size = [1, 2]; " MYCEL_UNPOOL_CASES,
});

constexpr OpDef kFractionalMaxPool = check({
    .name = "fractional_max_pool",
    .doc = "Largest element, and its place in the plane, of output_size windows of kernel_size "
           "elements: window i of a dim begins at floor((i + s) a) - floor(s a), a = (size - "
           "kernel) / (windows - 1), with s in [0, 1) drawn per plane: (w, h), in three dims (d, "
           "h, w) (Graham 2014).",
    .in = {"input: real[n, c, h, w]", "random_samples: float[n, c, 2]"},
    .attr = {"kernel_size: int[]", "output_size: int[]"},
    .out = {"y", "index"},
    .shard = "none",
    .expand = expand_fractional,
    .cases = "input[2, 2, 6, 7]; input in distinct(-9, 9); random_samples[2, 2, 2]; random_samples "
             "in (0.05, 0.95); kernel_size = [2, 3]; output_size = [3, 2] [1, 4]; no grad of "
             "random_samples: places are whole numbers; bad random_samples[2, 2, 3]; bad "
             "output_size = [6, 2]; skip zero_size: windows must fit; skip scalar: the same; skip "
             "dtypes: rounding moves windows | input[1, 2, 4, 5, 4]; input in distinct(-9, 9); "
             "random_samples[1, 2, 3]; random_samples in (0.05, 0.95); kernel_size = [2, 2, 1]; "
             "output_size = [2, 3, 2]; no grad of random_samples: places are whole numbers; bad "
             "kernel_size = [2, 2]",
    .internal = true,
});

constexpr OpDef kAdaptiveMaxPlaces = check({
    .name = "adaptive_max_pool_places",
    .doc = "Largest element, and its place in the plane, of output_size windows of about equal "
           "size over the last dims, as in adaptive_max_pool2d.",
    .in = {"input: real[n, c, h, w]"},
    .attr = {"output_size: int[]"},
    .out = {"y", "index"},
    .shard = "none",
    .expand = expand_adaptive_places,
    .cases = "input[2, 3, 5, 7]; input in distinct(-9, 9); output_size = [2, 3] [5, 1] [4, -1] [2, "
             "2, 2]; bad output_size = [0, 1]; bad output_size = [1, 1, 1, 1]; skip zero_size: an "
             "empty dim cannot be pooled; skip scalar: planes have dims",
    .internal = true,
});

constexpr OpDef kLpPool1d = check({
    .name = "lp_pool1d",
    .doc = "(sum of x^norm_type)^(1 / norm_type) of each window of x [n, c, l]; stride None steps "
           "by the window. In a window beyond the end (ceil_mode), the mean of its elements stands "
           "for those that are missing.",
    .in = {"x: float[n, c, l]"},
    .attr = {"norm_type: float", "kernel_size: int[1]", "stride: int[1]? = None",
             "ceil_mode: bool = False"},
    .shard = "none",
    .expand = expand_lp<1, kAvgPool1d>,
    .cases = "x[2, 3, 7] [3, 7]; x in (0.2, 2); norm_type = 2 3.0; kernel_size = 3; stride = None "
             "2; ceil_mode = False; bad norm_type = 0; bad kernel_size = 9; bad x[2] | x[1, 2, 8]; "
             "x in (0.2, 2); norm_type = 2; kernel_size = 3; ceil_mode = True; skip zero_size: "
             "windows must fit; skip scalar: planes have dims",
});

constexpr OpDef kLpPool2d = check({
    .name = "lp_pool2d",
    .doc = "(sum of x^norm_type)^(1 / norm_type) of each window of x [n, c, h, w]; stride None "
           "steps by the window. In a window beyond the end (ceil_mode), the mean of its elements "
           "stands for those that are missing.",
    .in = {"x: float[n, c, h, w]"},
    .attr = {"norm_type: float", "kernel_size: int[2]", "stride: int[2]? = None",
             "ceil_mode: bool = False"},
    .shard = "none",
    .expand = expand_lp<2, kAvgPool2d>,
    .cases = "x[2, 2, 5, 6] [2, 5, 6]; x in (0.2, 2); norm_type = 2 3.0; kernel_size = [2, 3]; "
             "stride = None 2; ceil_mode = False True; bad norm_type = -1; skip zero_size: windows "
             "must fit; skip scalar: planes have dims",
});

#undef MYCEL_UNPOOL_ATTRS
#undef MYCEL_UNPOOL_CASES

void register_placed_pools() {
  ir::register_ops({&kMaxUnpool1d, &kMaxUnpool2d, &kMaxUnpool3d, &kFractionalMaxPool,
                    &kAdaptiveMaxPlaces, &kLpPool1d, &kLpPool2d});
}

}  // namespace mycel::ops
