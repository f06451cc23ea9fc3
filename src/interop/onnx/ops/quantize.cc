// Quantized tensors: integers with a scale and a zero point, for all, by channel or by block.
#include <limits>

#include "interop/onnx/ops/window.h"

namespace mycel::interop::onnx {
namespace {

// A scale or zero point brought to the dims of x: one number, one for each index of `axis`, or one
// for each block along it.
Tensor spread(Call& c, const Tensor& v, const Tensor& x, int64_t axis_attr, int64_t block) {
  if (v.rank() == 0 || (v.rank() == 1 && v.dim(0) == 1 && block == 0)) return ops::reshape(v, {});
  int axis = axis_of(c, axis_attr, x.rank());
  if (block == 0) {
    if (v.rank() != 1) c.fail("a scale with {} dims; 0 or 1 are allowed", v.rank());
    Ints shape(static_cast<size_t>(x.rank()), 1);
    shape[static_cast<size_t>(axis)] = -1;
    return ops::reshape(v, shape);
  }
  if (v.rank() != x.rank())
    c.fail("a scale by block with {} dims; {} are allowed", v.rank(), x.rank());
  int64_t n = c.dims(x)[static_cast<size_t>(axis)];
  Ints at;
  for (int64_t i = 0; i < n; ++i) at.push_back(i / block);
  return ops::gather(v, ints_tensor(at), axis);
}

// Rounded half to even, moved by the zero point, held inside the range of `to`.
Tensor rounded_into(const Tensor& scaled, const Tensor& zero, DType to) {
  Tensor y = ops::round(scaled);
  if (zero) y = ops::add(y, as(zero, y.dtype()));
  auto bound = [&](double v) { return number_like(v, y); };
  double low = 0, high = 255;
  if (to == DType::kInt8) low = -128, high = 127;
  if (to == DType::kUInt16) high = 65535;
  if (to == DType::kInt16) low = -32768, high = 32767;
  if (to == DType::kInt32) return as(y, to);
  return as(ops::minimum(ops::maximum(y, bound(low)), bound(high)), to);
}

Values quantize(Call& c) {
  Tensor x = c.x(0), zero = c.x_or(2);
  int64_t axis = c.integer("axis", 1), block = c.integer("block_size", 0);
  DType to = zero ? zero.dtype() : DType::kUInt8;
  if (int64_t code = c.integer("output_dtype", 0)) to = dtype_of_code(code, c.title());
  if (!is_int(to)) c.unsupported("quantizing to {}", name_of(to));
  DType work = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  if (int64_t code = c.integer("precision", 0)) work = dtype_of_code(code, c.title());
  Tensor scale = spread(c, as(c.x(1), work), x, axis, block);
  if (zero) zero = spread(c, zero, x, axis, block);
  return one(rounded_into(ops::div(as(x, work), scale), zero, to));
}

Values dequantize(Call& c) {
  Tensor x = c.x(0), scale = c.x(1);
  int64_t axis = c.integer("axis", 1), block = c.integer("block_size", 0);
  DType to = scale.dtype();
  if (int64_t code = c.integer("output_dtype", 0)) to = dtype_of_code(code, c.title());
  DType work = scale.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Tensor y = as(x, work);
  if (c.has(2)) y = ops::sub(y, as(spread(c, c.x(2), x, axis, block), work));
  return one(as(ops::mul(y, spread(c, as(scale, work), x, axis, block)), to));
}

Values dynamic_quantize(Call& c) {
  Tensor x = c.x(0), zero = number_like(0, x);
  Tensor low = ops::minimum(ops::reduce_min(x), zero),
         high = ops::maximum(ops::reduce_max(x), zero);
  Tensor scale = ops::div(ops::sub(high, low), number_like(255, x));
  Tensor at = rounded_into(ops::div(ops::neg(low), scale), {}, DType::kUInt8);
  return {Value(rounded_into(ops::div(x, scale), at, DType::kUInt8)), Value(scale), Value(at)};
}

// Integers less their zero point; one for each row stands in front of the last dim.
Tensor centred(const Tensor& x, const Tensor& zero, bool by_row) {
  Tensor y = as(x, DType::kInt32);
  if (!zero) return y;
  Tensor z = as(zero, DType::kInt32);
  if (z.rank() == 1 && z.dim(0) == 1) z = ops::reshape(z, {});
  if (by_row && z.rank() == 1) z = ops::expand_dims(z, -1);
  return ops::sub(y, z);
}

Values matmul_integer(Call& c) {
  return one(ops::matmul(centred(c.x(0), c.x_or(2), true), centred(c.x(1), c.x_or(3), false)));
}

Values qlinear_matmul(Call& c) {
  Tensor a = centred(c.x(0), c.x_or(2), true), b = centred(c.x(3), c.x_or(5), false);
  Tensor sum = as(ops::matmul(a, b), DType::kFloat32);
  auto scale = [&](int i, bool by_row) {
    Tensor s = as(c.x(i), DType::kFloat32);
    if (s.rank() == 1 && s.dim(0) == 1) return ops::reshape(s, {});
    return by_row && s.rank() == 1 ? ops::expand_dims(s, -1) : s;
  };
  Tensor factor = ops::div(ops::mul(scale(1, true), scale(4, false)), scale(6, true));
  Tensor zero = c.x(7);
  return one(rounded_into(ops::mul(sum, factor), zero, zero.dtype()));
}

// Products of bytes summed in float64, where integers up to 2^53 are exact.
Tensor convolved(Call& c, const Tensor& x, const Tensor& w) {
  Ints kernel = kernel_dims(c, x, w);
  Window at = window_of(c, kernel, spatial_dims(c, x));
  int64_t groups = c.integer("group", 1);
  Tensor a = as(x, DType::kFloat64), b = as(w, DType::kFloat64), y;
  switch (at.rank()) {
    case 1:
      y = ops::conv1d(a, b, {}, at.stride, "pad", at.pads, at.dilation, groups);
      break;
    case 2:
      y = ops::conv2d(a, b, {}, at.stride, "pad", at.pads, at.dilation, groups);
      break;
    case 3:
      y = ops::conv3d(a, b, {}, at.stride, "pad", at.pads, at.dilation, groups);
      break;
    default:
      c.unsupported("{} spatial dims; 1 to 3 are allowed", at.rank());
  }
  return as(y, DType::kInt32);
}

Tensor by_filter(const Tensor& v, int rank) {
  if (v.rank() == 0 || v.size() == 1) return ops::reshape(v, {});
  Ints shape(static_cast<size_t>(rank), 1);
  shape.at(0) = -1;
  return ops::reshape(v, shape);
}
Tensor by_channel(const Tensor& v, int rank) {
  if (v.rank() == 0 || v.size() == 1) return ops::reshape(v, {});
  Ints shape(static_cast<size_t>(rank), 1);
  shape.at(1) = -1;
  return ops::reshape(v, shape);
}

Values conv_integer(Call& c) {
  Tensor x = centred(c.x(0), c.x_or(2), false), w = as(c.x(1), DType::kInt32);
  if (c.has(3)) w = ops::sub(w, by_filter(as(c.x(3), DType::kInt32), w.rank()));
  return one(convolved(c, x, w));
}

Values qlinear_conv(Call& c) {
  Tensor x = centred(c.x(0), c.x(2), false), w = as(c.x(3), DType::kInt32);
  w = ops::sub(w, by_filter(as(c.x(5), DType::kInt32), w.rank()));
  Tensor sum = convolved(c, x, w);
  if (c.has(8)) sum = ops::add(sum, by_channel(as(c.x(8), DType::kInt32), x.rank()));
  Tensor factor = ops::div(ops::mul(ops::reshape(c.x(1), {}), by_channel(c.x(4), x.rank())),
                           ops::reshape(c.x(6), {}));
  Tensor zero = ops::reshape(c.x(7), {});
  return one(rounded_into(ops::mul(as(sum, DType::kFloat32), factor), zero, zero.dtype()));
}

constexpr Record kRecords[] = {
    {"QuantizeLinear", quantize},
    {"DequantizeLinear", dequantize},
    {"DynamicQuantizeLinear", dynamic_quantize},
    {"MatMulInteger", matmul_integer},
    {"QLinearMatMul", qlinear_matmul},
    {"ConvInteger", conv_integer},
    {"QLinearConv", qlinear_conv},
};

}  // namespace

Records quantize_records() { return kRecords; }

}  // namespace mycel::interop::onnx
