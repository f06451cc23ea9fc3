// Quantized convolutions, products and pools: integer sums, then fixed-point requantizing.
#include <limits>

#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/conv.h"
#include "interop/tensorflow/ops/pool.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {
namespace {

// Multiplier and shift, one or one for each output channel, of sums of products of operands 0 and
// `w`.
struct Rescale {
  Tensor multiplier, shift;
};
Rescale rescale_of(Call& c, int w, int64_t channels) {
  Scale x = in_scale(c, 0), y = out_scale(c);
  const Quantization& q = c.in_slot(w).quantization;
  if (q.scale.empty()) c.fail("input {} has no scale", w);
  if (q.by_channel() && static_cast<int64_t>(q.scale.size()) != channels)
    c.fail("{} scales for {} channels", q.scale.size(), channels);
  std::vector<int32_t> value, shift;
  for (float s : q.scale) {
    // One scale for all: the published kernels multiply in float32.
    const bool narrow = x.dtype == DType::kUInt8;
    const double product = narrow && !q.by_channel() ? static_cast<double>(x.scale * s)
                                                     : static_cast<double>(x.scale) * s;
    Multiplier m = multiplier_of(product / y.scale);
    value.push_back(m.value), shift.push_back(m.shift);
  }
  const auto n = static_cast<int64_t>(value.size());
  Shape shape = n > 1 ? Shape{n} : Shape{};
  return {Tensor::from(value, shape), Tensor::from(shift, shape)};
}

Tensor requantized(Call& c, const Tensor& sums, const Rescale& r) {
  Scale y = out_scale(c);
  Limits l = limits_of(c, y);
  return ops::requantize_fixed(sums, r.multiplier, r.shift, int32_number(y.zero), -1, y.dtype,
                               ir::Attr(int64_t{l.low}), ir::Attr(int64_t{l.high}));
}

// The published kernel of dense layers rounds once, half away from zero, where all others round
// twice.
Tensor requantized_once(Call& c, const Tensor& sums, const Rescale& r) {
  auto wide = [](const Tensor& x) { return as(x, DType::kInt64); };
  auto wide_number = [](int64_t v) { return Tensor::scalar(DType::kInt64, v); };
  Tensor by = ops::sub(wide_number(31), wide(r.shift));
  Tensor half = ops::bitwise_left_shift(wide_number(1), ops::sub(by, wide_number(1)));
  Tensor size = ops::mul(wide(ops::abs(sums)), wide(r.multiplier));
  size = ops::bitwise_right_shift(ops::add(size, half), by);
  size = as(ops::minimum(size, wide_number(std::numeric_limits<int32_t>::max())), DType::kInt32);
  Tensor y = ops::select(ops::less(sums, int32_number(0)), ops::neg(size), size);
  Scale to = out_scale(c);
  return stored(y, to, limits_of(c, to));
}

// Zero points of a weight; empty where all are 0.
Tensor weight_zero(const Quantization& q) {
  if (std::ranges::all_of(q.zero, [](int64_t z) { return z == 0; })) return {};
  if (q.zero.size() == 1) return int32_number(static_cast<int32_t>(q.zero[0]));
  return ints_tensor(q.zero, DType::kInt32);
}

void check_bytes(Call& c, const Tensor& x, const Tensor& w) {
  if (size_of(x.dtype()) != 1 || size_of(w.dtype()) != 1)
    c.unsupported("{} with {}; 8-bit integers are allowed", x.describe(), w.describe());
}

Tensor bias_of(Call& c, int i) {
  Tensor b = c.x_or(i);
  if (b && b.dtype() != DType::kInt32) c.unsupported("a bias {}", b.describe());
  return b;
}

}  // namespace

Tensors quantized_convolution(Call& c, bool depthwise) {
  Tensor x = c.x(0), w = c.x(1);
  check_bytes(c, x, w);
  Convolution v = convolution_of(c, x, w, depthwise);
  if (v.stride.size() != 2) c.unsupported("{} spatial dims", v.stride.size());
  Tensor sums = ops::conv2d_integer(x, v.weight, bias_of(c, 2), int32_number(in_scale(c, 0).zero),
                                    weight_zero(c.in_slot(1).quantization), v.stride, "pad", v.pads,
                                    v.dilation, v.groups, "channel_last");
  return {requantized(c, sums, rescale_of(c, 1, v.weight.dim(0)))};
}

// (sizes, weight o h w i, x): as the convolution of x spread out by the stride with the weight
// turned around.
Tensors quantized_transposed(Call& c) {
  Tensor w = c.x(1), x = c.x(2);
  check_bytes(c, x, w);
  Ints want = c.known_ints(0);
  Dims in = c.dims(x), k = c.dims(w);
  if (want.size() != 4 || in.size() != 4 || k.size() != 4 || k[3] != in[3])
    c.fail("a weight {} for {}", w.shape().str(), x.shape().str());
  Ints stride = spatial(c, "strides", 2);
  Ints pads = pads_of(c, {want[1], want[2]}, {k[1], k[2]}, stride, {1, 1});
  Scale from = scale_of(c, c.in_slot(2));
  Tensor wide = centred(x, from.zero);
  Ints around;
  for (size_t d = 0; d < 2; ++d) {
    // Zeros between rows: a new dim of the stride's size, of which the first is filled.
    const int axis = static_cast<int>(d) + 1;
    const int64_t n = in[d + 1], spread = (n - 1) * stride[d] + 1;
    if (stride[d] > 1) {
      Ints high(5, 0);
      high[static_cast<size_t>(axis) + 1] = stride[d] - 1;
      Tensor y = padded(ops::expand_dims(wide, axis + 1), Ints(5, 0), high);
      Dims now = c.dims(wide);
      Ints to(now.begin(), now.end());
      to[static_cast<size_t>(axis)] = n * stride[d];
      wide = ops::narrow(ops::reshape(y, to), axis, 0, spread);
    }
    const int64_t before = k[d + 1] - 1 - pads[2 * d];
    around.insert(around.end(), {before, want[d + 1] + k[d + 1] - 1 - spread - before});
  }
  Ints low{0, around[0], around[2], 0}, high{0, around[1], around[3], 0};
  wide = padded(wide, low, high);
  // Sums of at most 2^31: exact in float64.
  Tensor turned = ops::transpose(ops::flip(w, {1, 2}), ir::Attr(Ints{0, 3, 1, 2}));
  Tensor sums = ops::conv2d(as(wide, DType::kFloat64), as(turned, DType::kFloat64), {}, {1, 1},
                            "valid", {0}, {1, 1}, 1, "channel_last");
  Tensor total = as(sums, DType::kInt32);
  if (Tensor b = bias_of(c, 3)) total = ops::add(total, b);
  const Quantization& q = c.in_slot(1).quantization;
  Scale y = out_scale(c);
  std::vector<int32_t> value, shift;
  for (float s : q.scale) {
    Multiplier m = multiplier_of(static_cast<double>(from.scale) * s / y.scale);
    value.push_back(m.value), shift.push_back(m.shift);
  }
  const auto n = static_cast<int64_t>(value.size());
  Shape shape = n > 1 ? Shape{n} : Shape{};
  return {requantized(c, total, {Tensor::from(value, shape), Tensor::from(shift, shape)})};
}

Tensors quantized_fully_connected(Call& c) {
  Tensor x = c.x(0), w = c.x(1);
  check_bytes(c, x, w);
  if (w.rank() != 2) c.fail("a weight {}", w.describe());
  Ints to;
  if (c.flag("keep_num_dims", false)) {
    Dims d = c.dims(x);
    to.assign(d.begin(), d.end() - 1);
    to.push_back(w.dim(0));
  }
  if (x.rank() != 2 || x.dim(1) != w.dim(1)) x = ops::reshape(x, {-1, w.dim(1)});
  Tensor sums = ops::matmul_integer(x, w, int32_number(in_scale(c, 0).zero),
                                    weight_zero(c.in_slot(1).quantization), false, true);
  if (Tensor b = bias_of(c, 2)) sums = ops::add(sums, b);
  Tensor y = requantized_once(c, sums, rescale_of(c, 1, w.dim(0)));
  return {to.empty() ? y : ops::reshape(y, to)};
}

Tensors quantized_batch_matmul(Call& c) {
  Tensor a = c.x(0), b = c.x(1);
  check_bytes(c, a, b);
  Scale x = in_scale(c, 0), w = in_scale(c, 1), y = out_scale(c);
  Tensor sums = ops::matmul_integer(a, b, int32_number(x.zero), int32_number(w.zero),
                                    c.flag("adj_x", false), c.flag("adj_y", false));
  Multiplier m = multiplier_of(static_cast<double>(x.scale * w.scale) / y.scale);
  return {stored(times(sums, m), y, {y.low, y.high})};
}

Tensors quantized_max_pool(Call& c) {
  Tensor y = pooled_max(pool_of(c, c.x(0)), c.x(0));
  Scale s = out_scale(c);
  Limits l = limits_of(c, s);
  if (l.low != s.low || l.high != s.high)
    y = ops::minimum(ops::maximum(y, number_like(l.low, y)), number_like(l.high, y));
  return {y};
}

// Sums of what is stored over the places inside, divided by how many there are, half away from
// zero.
Tensors quantized_avg_pool(Call& c) {
  Tensor x = c.x(0);
  Pool p = pool_of(c, x);
  if (size_of(x.dtype()) != 1) c.unsupported("{}", x.describe());
  Tensor ones = Tensor::full(DType::kInt8, Shape{p.channels, 1, p.kernel[0], p.kernel[1]}, 1);
  Tensor sums = ops::conv2d_integer(x, ones, {}, {}, {}, p.stride, "pad", p.pads, {1, 1},
                                    p.channels, p.layout());
  Ints inside[2];
  for (size_t d = 0; d < 2; ++d) {
    const int64_t n = sums.dim(static_cast<int>(d) + 1);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = i * p.stride[d] - p.pads[2 * d];
      inside[d].push_back(std::min(from + p.kernel[d], p.in[d]) - std::max<int64_t>(from, 0));
    }
  }
  const bool all = std::ranges::all_of(inside[0], [&](int64_t n) { return n == inside[0][0]; }) &&
                   std::ranges::all_of(inside[1], [&](int64_t n) { return n == inside[1][0]; });
  Tensor count;
  if (all) {
    count = int32_number(static_cast<int32_t>(inside[0].at(0) * inside[1].at(0)));
  } else {
    count = ops::mul(ops::reshape(ints_tensor(inside[0], DType::kInt32), {-1, 1, 1}),
                     ops::reshape(ints_tensor(inside[1], DType::kInt32), {1, -1, 1}));
  }
  Tensor half = ops::truncate_div(count, int32_number(2));
  Tensor moved =
      ops::select(ops::greater(sums, int32_number(0)), ops::add(sums, half), ops::sub(sums, half));
  Scale s = out_scale(c);
  Limits l = limits_of(c, s);
  s.zero = 0;  // what is stored is what was summed
  return {stored(ops::truncate_div(moved, count), s, l)};
}

}  // namespace mycel::interop::tensorflow
