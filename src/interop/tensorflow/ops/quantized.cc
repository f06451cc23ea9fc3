// What quantized ops share: scales, limits, fixed-point steps on tensors, tables; and the borders
// to floats.
#include "interop/tensorflow/ops/quantized.h"

#include <limits>

#include "interop/tensorflow/ops/build.h"

namespace mycel::interop::tensorflow {

Scale scale_of(const Call& c, const Slot& s) {
  const Quantization& q = s.quantization;
  if (q.scale.size() != 1)
    c.unsupported("tensor '{}' has {} scales; 1 is allowed", s.name, q.scale.size());
  Scale out;
  out.scale = q.scale[0];
  out.dtype = s.dtype;
  switch (s.dtype) {
    case DType::kInt8:
      break;
    case DType::kUInt8:
      out.low = 0, out.high = 255;
      break;
    case DType::kInt16:
      out.low = -32768, out.high = 32767;
      break;
    case DType::kInt32:
      out.low = std::numeric_limits<int32_t>::min(), out.high = std::numeric_limits<int32_t>::max();
      break;
    default:
      c.unsupported("tensor '{}' is {} with a scale", s.name, name_of(s.dtype));
  }
  if (!(out.scale > 0) || q.zero[0] < out.low || q.zero[0] > out.high)
    c.fail("tensor '{}' has scale {} and zero point {}", s.name, out.scale, q.zero[0]);
  out.zero = static_cast<int32_t>(q.zero[0]);
  return out;
}

Limits limits_of(const Call& c, const Scale& out) {
  const std::string a = c.text("activation", "");
  auto at = [&](float v) {
    const int64_t q = int64_t{out.zero} + rounded(v / out.scale);
    return static_cast<int32_t>(std::clamp<int64_t>(q, out.low, out.high));
  };
  if (a.empty()) return {out.low, out.high};
  if (a == "RELU") return {at(0), out.high};
  if (a == "RELU6") return {at(0), at(6)};
  if (a == "RELU_N1_TO_1") return {at(-1), at(1)};
  c.unsupported("activation {}", a);
}

Tensor int32_number(int32_t v) { return Tensor::scalar(DType::kInt32, int64_t{v}); }

Tensor centred(const Tensor& x, int32_t zero) {
  Tensor y = as(x, DType::kInt32);
  return zero ? ops::sub(y, int32_number(zero)) : y;
}

Tensor times(const Tensor& x, Multiplier m) {
  return ops::fixed_multiply(x, int32_number(m.value), int32_number(m.shift));
}

Tensor stored(const Tensor& x, const Scale& to, Limits l) {
  Tensor y = to.zero ? ops::add(x, int32_number(to.zero)) : x;
  y = ops::minimum(ops::maximum(y, int32_number(l.low)), int32_number(l.high));
  return as(y, to.dtype);
}

Tensor looked_up(Call& c, const Tensor& x, const std::vector<int8_t>& table, DType result) {
  if (size_of(x.dtype()) != 1) c.unsupported("a table of {}", name_of(x.dtype()));
  Tensor t = Tensor::from(table, Shape{static_cast<int64_t>(table.size())});
  if (result == DType::kUInt8) t = t.bitcast(result);
  Tensor at = as(x, DType::kInt32);
  if (x.dtype() == DType::kInt8) at = ops::add(at, int32_number(128));
  return ops::gather(t, at, 0);
}

// Half away from zero, as TFLite rounds; exact: what is behind the point is.
Tensor rounded_away(const Tensor& x) {
  Tensor size = ops::abs(x), whole = ops::floor(size);
  Tensor up = ops::greater_equal(ops::sub(size, whole), number_like(0.5, x));
  Tensor y = ops::add(whole, as(up, x.dtype()));
  return ops::select(ops::less(x, number_like(0, x)), ops::neg(y), y);
}

namespace {

Tensor requantized(Call& c, const Tensor& x) {
  Scale from = in_scale(c, 0), to = out_scale(c);
  Multiplier m = multiplier_of(static_cast<double>(from.scale) / to.scale);
  return stored(times(centred(x, from.zero), m), to, {to.low, to.high});
}

}  // namespace

Tensors quantize(Call& c) {
  Tensor x = c.x(0);
  if (!is_float(x.dtype())) return {requantized(c, x)};
  Scale to = out_scale(c);
  Tensor q = rounded_away(ops::div(x, number_like(to.scale, x)));
  // Held before the cast: what is far outside has no int32.
  q = ops::add(q, number_like(to.zero, q));
  q = ops::minimum(ops::maximum(q, number_like(to.low, q)), number_like(to.high, q));
  return {as(q, to.dtype)};
}

Tensors dequantize(Call& c) { return {widened_weight(c, 0)}; }

Tensors quantized_concat(Call& c) {
  Scale to = out_scale(c);
  bool same = true;
  for (int i = 0; i < c.inputs(); ++i) {
    Scale from = in_scale(c, i);
    same = same && from.scale == to.scale && from.zero == to.zero;
  }
  if (!same && to.dtype != DType::kUInt8) c.unsupported("operands with scales of their own");
  Tensors parts;
  for (int i = 0; i < c.inputs(); ++i) {
    Scale from = in_scale(c, i);
    Tensor x = c.x(i);
    if (from.scale != to.scale || from.zero != to.zero) {
      // The published kernel of uint8 does this in floats.
      const float inverse = 1.0f / to.scale;
      const float factor = from.scale * inverse, bias = static_cast<float>(-from.zero) * factor;
      Tensor f = as(x, DType::kFloat32);
      f = rounded_away(ops::add(ops::mul(f, number_like(factor, f)), number_like(bias, f)));
      x = stored(as(f, DType::kInt32), to, {to.low, to.high});
    }
    parts.push_back(x);
  }
  const int axis = axis_of(c, c.integer("axis", 0), parts.at(0).rank());
  Tensor y = parts.size() == 1 ? parts[0] : ops::concat(parts, axis);
  Limits l = limits_of(c, to);
  if (l.low != to.low || l.high != to.high)
    y = ops::minimum(ops::maximum(y, number_like(l.low, y)), number_like(l.high, y));
  return {y};
}

}  // namespace mycel::interop::tensorflow
