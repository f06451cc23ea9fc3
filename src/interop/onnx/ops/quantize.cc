// Quantized tensors: integers with a scale and a zero point, for all, by channel or by block.
#include "interop/onnx/ops/window.h"
#include "runtime/trace.h"

namespace mycel::interop::onnx {
namespace {

// A scale or zero point as the records take it: one number, one for each index of the axis, or, by
// block, one for each element.
Tensor spread(Call& c, const Tensor& v, const Tensor& x, int64_t axis_attr, int64_t block) {
  if (block == 0) {
    if (v.rank() > 1) c.fail("a scale with {} dims; 0 or 1 are allowed", v.rank());
    return v.size() == 1 && v.rank() == 1 ? ops::reshape(v, {}) : v;
  }
  int axis = axis_of(c, axis_attr, x.rank());
  if (v.rank() != x.rank())
    c.fail("a scale by block with {} dims; {} are allowed", v.rank(), x.rank());
  int64_t n = c.dims(x)[static_cast<size_t>(axis)];
  Ints at;
  for (int64_t i = 0; i < n; ++i) at.push_back(i / block);
  return ops::gather(v, ints_tensor(at), axis);
}

// The records' axis for per-channel scales; any where there is none.
int64_t axis_for(Call& c, const Tensor& scale, const Tensor& x) {
  int64_t axis = c.integer("axis", 1);
  return scale.rank() == 1 && scale.size() != 1 ? axis_of(c, axis, x.rank()) : 0;
}

// A zero point: a number where the model says one, which the passes can see, else a tensor.
struct Zero {
  Tensor tensor;
  int64_t number = 0;
};
Zero zero_of(Call& c, int i) {
  if (!c.has(i)) return {};
  Tensor t = c.x(i);
  if (t.size() > 0 && c.is_known(i)) {
    Tensor known = c.known(i);
    auto at = [&](int64_t k) { return element_as_int(known.raw(), known.dtype(), k); };
    int64_t same = 1;
    while (same < t.size() && at(same) == at(0)) ++same;
    if (same == t.size()) return {{}, at(0)};
  }
  return {t, 0};
}
// The same as an operand of a contraction: absent where it is 0.
Tensor operand_of(const Zero& z) {
  if (z.tensor)
    return as(z.tensor.size() == 1 ? ops::reshape(z.tensor, {}) : z.tensor, DType::kInt32);
  return z.number == 0 ? Tensor() : number(static_cast<double>(z.number), DType::kInt32);
}

Values quantize(Call& c) {
  Tensor x = c.x(0);
  int64_t block = c.integer("block_size", 0);
  DType to = c.has(2) ? c.x(2).dtype() : DType::kUInt8;
  if (int64_t code = c.integer("output_dtype", 0)) to = dtype_of_code(code, c.title());
  if (!is_int(to)) c.unsupported("quantizing to {}", name_of(to));
  DType work = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  if (int64_t code = c.integer("precision", 0)) work = dtype_of_code(code, c.title());
  Zero zero = zero_of(c, 2);
  int64_t axis = c.integer("axis", 1);
  if (zero.tensor) zero.tensor = spread(c, zero.tensor, x, axis, block);
  Tensor scale = spread(c, as(c.x(1), work), x, axis, block);
  axis = axis_for(c, c.x(1), x);
  return one(ops::quantize(as(x, work), scale, zero.tensor, axis, to, zero.number));
}

Values dequantize(Call& c) {
  Tensor x = c.x(0), scale = c.x(1);
  // Weights stay the integers that they are: the passes compute on those.
  if (size_of(x.dtype()) == 1 && x.size() > 1 && c.scope.witness)
    x = runtime::captured_beside(x, c.scope.witness);
  int64_t block = c.integer("block_size", 0), axis = c.integer("axis", 1);
  DType to = scale.dtype();
  if (int64_t code = c.integer("output_dtype", 0)) to = dtype_of_code(code, c.title());
  DType work = scale.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Zero zero = zero_of(c, 2);
  if (zero.tensor) zero.tensor = spread(c, zero.tensor, x, axis, block);
  Tensor by = spread(c, as(scale, work), x, axis, block);
  return one(as(ops::dequantize(x, by, zero.tensor, axis_for(c, scale, x), zero.number), to));
}

Values dynamic_quantize(Call& c) {
  Tensor x = c.x(0), zero = number_like(0, x);
  Tensor low = ops::minimum(ops::reduce_min(x), zero),
         high = ops::maximum(ops::reduce_max(x), zero);
  Tensor scale = ops::div(ops::sub(high, low), number_like(255, x));
  Tensor at = ops::quantize(ops::neg(low), scale, {}, 0, DType::kUInt8);
  return {Value(ops::quantize(x, scale, at, 0)), Value(scale), Value(at)};
}

// The records take a zero point for each row or column of one matrix.
bool fits_product(const Zero& z) { return !z.tensor || z.tensor.rank() <= 1; }

Tensor centred(const Tensor& x, const Zero& zero) {
  Tensor y = as(x, DType::kInt32);
  Tensor z = operand_of(zero);
  return z ? ops::sub(y, z) : y;
}

// Integers of any kind, for what the records do not take: zero points of several dims, one for each
// row of more than one matrix.
Tensor general_product(const Tensor& a, const Zero& az, const Tensor& b, const Zero& bz) {
  Zero of_a = az;
  if (of_a.tensor && of_a.tensor.rank() == 1 && of_a.tensor.size() > 1)
    of_a.tensor = ops::expand_dims(of_a.tensor, -1);
  return ops::matmul(centred(a, of_a), centred(b, bz));
}

Tensor integer_product(Call& c, int a_at, int a_zero, int b_at, int b_zero) {
  Tensor a = c.x(a_at), b = c.x(b_at);
  Zero az = zero_of(c, a_zero), bz = zero_of(c, b_zero);
  const bool bytes = size_of(a.dtype()) == 1 && size_of(b.dtype()) == 1;
  if (!bytes || a.rank() < 2 || b.rank() < 2 || !fits_product(az) || !fits_product(bz))
    return general_product(a, az, b, bz);
  return ops::matmul_integer(a, b, operand_of(az), operand_of(bz));
}

Values matmul_integer(Call& c) { return one(integer_product(c, 0, 2, 1, 3)); }

Values qlinear_matmul(Call& c) {
  Tensor sum = integer_product(c, 0, 2, 3, 5);
  auto scale = [&](int i, bool by_row) {
    Tensor s = as(c.x(i), DType::kFloat32);
    if (s.rank() == 1 && s.dim(0) == 1) return ops::reshape(s, {});
    return by_row && s.rank() == 1 ? ops::expand_dims(s, -1) : s;
  };
  Tensor factor = ops::div(ops::mul(scale(1, true), scale(4, false)), scale(6, true));
  Zero zero = zero_of(c, 7);
  return one(ops::requantize(sum, factor, zero.tensor, -1, c.x(7).dtype(), {}, {}, zero.number));
}

Tensor convolved(Call& c, const Tensor& x, const Tensor& w, const Zero& xz, const Zero& wz) {
  Window at = window_of(c, kernel_dims(c, x, w), spatial_dims(c, x));
  int64_t groups = c.integer("group", 1);
  auto call = [&](auto op) {
    return op(x, w, Tensor(), operand_of(xz), operand_of(wz), at.stride, "pad", at.pads,
              at.dilation, groups, "channel_first");
  };
  switch (at.rank()) {
    case 1:
      return call(ops::conv1d_integer);
    case 2:
      return call(ops::conv2d_integer);
    case 3:
      return call(ops::conv3d_integer);
    default:
      c.unsupported("{} spatial dims; 1 to 3 are allowed", at.rank());
  }
}

Tensor by_channel(const Tensor& v, int rank) {
  if (v.rank() == 0 || v.size() == 1) return ops::reshape(v, {});
  Ints shape(static_cast<size_t>(rank), 1);
  shape.at(1) = -1;
  return ops::reshape(v, shape);
}

Values conv_integer(Call& c) {
  return one(convolved(c, c.x(0), c.x(1), zero_of(c, 2), zero_of(c, 3)));
}

Values qlinear_conv(Call& c) {
  Tensor x = c.x(0);
  Tensor sum = convolved(c, x, c.x(3), zero_of(c, 2), zero_of(c, 5));
  if (c.has(8)) sum = ops::add(sum, by_channel(c.x(8), x.rank()));
  Tensor factor = ops::div(ops::mul(ops::reshape(c.x(1), {}), by_channel(c.x(4), x.rank())),
                           ops::reshape(c.x(6), {}));
  Zero zero = zero_of(c, 7);
  return one(ops::requantize(sum, factor, zero.tensor, 1, c.x(7).dtype(), {}, {}, zero.number));
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
