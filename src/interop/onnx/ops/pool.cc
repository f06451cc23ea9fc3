// Pools over windows and over everything.
#include <limits>

#include "interop/onnx/ops/window.h"

namespace mycel::interop::onnx {
namespace {

// How many positions are behind the last full window when sizes are rounded up.
Ints with_ceil(Call& c, Window w, const Ints& spatial) {
  if (!c.flag("ceil_mode", false)) return w.pads;
  for (size_t d = 0; d < spatial.size(); ++d) {
    int64_t reach = (w.kernel[d] - 1) * w.dilation[d] + 1;
    int64_t room = spatial[d] + w.pads[2 * d] + w.pads[2 * d + 1] - reach;
    int64_t out = (room + w.stride[d] - 1) / w.stride[d] + 1;
    // A window that would start in the padding behind is dropped.
    if ((out - 1) * w.stride[d] >= spatial[d] + w.pads[2 * d]) --out;
    w.pads[2 * d + 1] += std::max<int64_t>((out - 1) * w.stride[d] - room, 0);
  }
  return w.pads;
}

Tensor bordered(const Tensor& x, const Ints& pads, double value) {
  if (std::ranges::all_of(pads, [](int64_t p) { return p == 0; })) return x;
  Ints low(2, 0), high(2, 0);
  for (size_t d = 0; d < pads.size() / 2; ++d) {
    low.push_back(pads[2 * d]);
    high.push_back(pads[2 * d + 1]);
  }
  static const ir::Op& op = ir::op_named("pad_nd");
  return runtime::call1(op, {x},
                        {ir::Attr(low), ir::Attr(high), ir::Attr("constant"), ir::Attr(value)});
}

Tensor max_of(Call& c, const Tensor& x, const Window& w) {
  switch (w.rank()) {
    case 1:
      return ops::max_pool1d(x, w.kernel, ir::Attr(w.stride), w.pads, w.dilation);
    case 2:
      return ops::max_pool2d(x, w.kernel, ir::Attr(w.stride), w.pads, w.dilation);
    case 3:
      return ops::max_pool3d(x, w.kernel, ir::Attr(w.stride), w.pads, w.dilation);
    default:
      c.unsupported("{} spatial dims; 1 to 3 are allowed", w.rank());
  }
}

double lowest_of(DType d) {
  if (is_float(d)) return -std::numeric_limits<double>::infinity();
  return d == DType::kInt8 ? -128 : 0;
}

// Places are numbered through the whole input, row by row or column by column.
Tensor places(Call& c, const Tensor& x, const Tensor& at) {
  Dims dims = c.dims(x);
  int64_t plane = x.shape().size(2, x.rank());
  Tensor flat = as(at, DType::kInt64);
  if (c.flag("storage_order", false) && dims.size() == 4) {
    Tensor width = Tensor::scalar(DType::kInt64, dims[3]),
           height = Tensor::scalar(DType::kInt64, dims[2]);
    Tensor row = ops::floor_div(flat, width), column = ops::floor_mod(flat, width);
    flat = ops::add(ops::mul(column, height), row);
  }
  Ints shape(dims.size(), 1);
  shape[0] = dims[0];
  shape[1] = dims[1];
  Tensor base = ops::reshape(ints_tensor(counted(dims[0] * dims[1])), shape);
  return ops::add(flat, ops::mul(base, Tensor::scalar(DType::kInt64, plane)));
}

Values max_pool(Call& c) {
  Tensor x = c.x(0);
  Ints spatial = spatial_dims(c, x);
  Window w = window_of(c, {}, spatial);
  Ints given = w.pads;
  w.pads = with_ceil(c, w, spatial);
  if (c.wants(1)) {
    Tensors r = ops::max_pool_with_argmax(x, w.kernel, ir::Attr(w.stride), w.pads, w.dilation,
                                          false, "pad", "channel_first", DType::kInt64);
    return {Value(r[0]), Value(places(c, x, r[1]))};
  }
  // A window may reach further into the padding than half of itself: then the border is real.
  bool wide = false;
  for (int d = 0; d < w.rank(); ++d) {
    auto i = static_cast<size_t>(d);
    wide = wide || 2 * std::max(w.pads[2 * i], w.pads[2 * i + 1]) > w.kernel[i];
  }
  if (!wide) return one(max_of(c, x, w));
  Tensor y = bordered(x, w.pads, lowest_of(x.dtype()));
  w.pads.assign(w.pads.size(), 0);
  return one(max_of(c, y, w));
}

Tensor sums_of(Call& c, const Tensor& x, const Window& w) {
  Tensor weight = Tensor::full(
      x.dtype(),
      [&] {
        Shape s{x.dim(1), 1};
        for (int64_t k : w.kernel) s.push_back(k);
        return s;
      }(),
      1.0);
  int64_t groups = x.dim(1);
  switch (w.rank()) {
    case 1:
      return ops::conv1d(x, weight, {}, w.stride, "pad", w.pads, w.dilation, groups);
    case 2:
      return ops::conv2d(x, weight, {}, w.stride, "pad", w.pads, w.dilation, groups);
    case 3:
      return ops::conv3d(x, weight, {}, w.stride, "pad", w.pads, w.dilation, groups);
    default:
      c.unsupported("{} spatial dims; 1 to 3 are allowed", w.rank());
  }
}

bool plain(const Window& w, const Ints& rounded) {
  for (size_t d = 0; d < w.kernel.size(); ++d) {
    if (w.dilation[d] != 1 || 2 * std::max(w.pads[2 * d], w.pads[2 * d + 1]) > w.kernel[d])
      return false;
  }
  return rounded == w.pads;
}

// Where sizes are rounded up, windows are dilated or padding is wide: sums over the window divided
// by how many elements of it count.
Values average_pool(Call& c) {
  Tensor x = c.x(0);
  Ints spatial = spatial_dims(c, x);
  Window w = window_of(c, {}, spatial);
  Ints rounded = with_ceil(c, w, spatial);
  bool counted_in = c.flag("count_include_pad", false);
  if (plain(w, rounded)) {
    switch (w.rank()) {
      case 1:
        return one(ops::avg_pool1d(x, w.kernel, ir::Attr(w.stride), w.pads, false, counted_in));
      case 2:
        return one(ops::avg_pool2d(x, w.kernel, ir::Attr(w.stride), w.pads, false, counted_in));
      case 3:
        return one(ops::avg_pool3d(x, w.kernel, ir::Attr(w.stride), w.pads, false, counted_in));
      default:
        break;
    }
  }
  Shape same = x.shape();
  for (int d = 0; d < 2; ++d) same.set(d, d == 0 ? 1 : x.dim(1));
  Tensor ones = Tensor::full(x.dtype(), same, 1.0);
  Ints behind(w.pads.size(), 0);
  for (size_t i = 0; i < w.pads.size(); ++i) behind[i] = rounded[i] - w.pads[i];
  if (counted_in)
    ones = bordered(bordered(ones, w.pads, 1), behind, 0);
  else
    ones = bordered(ones, rounded, 0);
  Window bare = w;
  bare.pads.assign(w.pads.size(), 0);
  Tensor count = sums_of(c, ones, bare);
  return one(ops::div(sums_of(c, bordered(x, rounded, 0), bare), count));
}

Values lp_pool(Call& c) {
  Tensor x = c.x(0);
  Ints spatial = spatial_dims(c, x);
  Window w = window_of(c, {}, spatial);
  w.pads = with_ceil(c, w, spatial);
  double p = static_cast<double>(c.integer("p", 2));
  Tensor powers = p == 1   ? ops::abs(x)
                  : p == 2 ? ops::square(x)
                           : ops::pow(ops::abs(x), number_like(p, x));
  Window bare = w;
  bare.pads.assign(w.pads.size(), 0);
  Tensor y = sums_of(c, bordered(powers, w.pads, 0), bare);
  if (p == 2) return one(ops::sqrt(y));
  return one(p == 1 ? y : ops::pow(y, number_like(1 / p, y)));
}

Ints all_spatial(Call& c, const Tensor& x) {
  if (x.rank() < 3) c.fail("the input has {} dims; at least 3 are allowed", x.rank());
  Ints axes = counted(x.rank());
  axes.erase(axes.begin(), axes.begin() + 2);
  return axes;
}
Values global_average_pool(Call& c) {
  Tensor x = c.x(0);
  return one(ops::reduce_mean(x, ir::Attr(all_spatial(c, x)), true));
}
Values global_max_pool(Call& c) {
  Tensor x = c.x(0);
  return one(ops::reduce_max(x, ir::Attr(all_spatial(c, x)), true));
}
Values global_lp_pool(Call& c) {
  Tensor x = c.x(0);
  double p = static_cast<double>(c.integer("p", 2));
  Tensor powers = ops::pow(ops::abs(x), number_like(p, x));
  return one(
      ops::pow(ops::reduce_sum(powers, ir::Attr(all_spatial(c, x)), true), number_like(1 / p, x)));
}

// Values go to their numbered places in zeros.
Values max_unpool(Call& c) {
  Tensor x = c.x(0), at = as(c.x(1), DType::kInt64);
  Ints spatial = spatial_dims(c, x), kernel = c.ints("kernel_shape");
  size_t n = spatial.size();
  Ints stride = c.ints("strides", Ints(n, 1)), pads = c.ints("pads", Ints(2 * n, 0));
  Dims dims = c.dims(x), natural{dims[0], dims[1]};
  for (size_t d = 0; d < n; ++d)
    natural.push_back((spatial[d] - 1) * stride.at(d) + kernel.at(d) - pads.at(d) - pads.at(d + n));
  // Places are numbered in the natural size; a larger result has it in front, then zeros.
  Shape out(natural);
  Tensor flat = Tensor::zeros(x.dtype(), Shape{out.size()});
  Tensor y = ops::tensor_scatter_update(flat, ops::reshape(at, {-1, 1}), ops::reshape(x, {-1}));
  y = ops::reshape(y, natural);
  Ints want = c.has(2) ? c.known_ints(2) : natural, more;
  if (want.size() != natural.size()) c.fail("an output shape of {} dims", want.size());
  for (size_t d = 2; d < natural.size(); ++d) more.insert(more.end(), {0, want[d] - natural[d]});
  if (std::ranges::any_of(more, [](int64_t n) { return n < 0; }))
    c.fail("the output shape is too small");
  return one(bordered(y, more, 0));
}

constexpr Record kRecords[] = {
    {"MaxPool", max_pool},
    {"AveragePool", average_pool},
    {"LpPool", lp_pool},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalMaxPool", global_max_pool},
    {"GlobalLpPool", global_lp_pool},
    {"MaxUnpool", max_unpool, "2"},
};

}  // namespace

Records pool_records() { return kRecords; }

}  // namespace mycel::interop::onnx
