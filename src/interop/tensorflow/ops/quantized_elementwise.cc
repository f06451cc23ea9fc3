// Quantized elementwise ops of two operands.
#include <cmath>

#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {
namespace {

// Both operands on a common finer scale, added or subtracted, and brought to the result's.
Tensors sum_of(Call& c, bool minus) {
  Scale a = in_scale(c, 0), b = in_scale(c, 1), y = out_scale(c);
  if (y.dtype == DType::kInt16 && c.flag("pot_scale_int16", true) &&
      c.has_attr("pot_scale_int16")) {
    // Kernels before scales of any size: power-of-two scales alone; the same sums for all others.
    const float scales[] = {a.scale, b.scale, y.scale};
    bool powers = true;
    for (float s : scales) powers = powers && std::log2(s) == std::round(std::log2(s));
    if (powers) c.unsupported("int16 with scales that are powers of two");
  }
  const int bits = y.dtype == DType::kInt16 ? 15 : 20;
  const double twice = 2 * std::max(a.scale, b.scale);
  Multiplier out = multiplier_of(twice / ((1 << bits) * y.scale));
  auto scaled = [&](int i, const Scale& s) {
    Tensor wide = ops::mul(centred(c.x(i), s.zero), int32_number(1 << bits));
    return times(wide, multiplier_of(s.scale / twice));
  };
  Tensor left = scaled(0, a), right = scaled(1, b);
  Tensor sum = minus ? ops::sub(left, right) : ops::add(left, right);
  return {stored(times(sum, out), y, limits_of(c, y))};
}

using Pick = Tensor (*)(const Tensor&, const Tensor&);
Tensors picked_of(Call& c, Pick f) {
  Scale a = in_scale(c, 0), b = in_scale(c, 1), y = out_scale(c);
  if (a.scale != b.scale || a.zero != b.zero || a.scale != y.scale || a.zero != y.zero)
    c.unsupported("operands with scales of their own");
  return {f(c.x(0), c.x(1))};
}

}  // namespace

Tensors quantized_add(Call& c) { return sum_of(c, false); }
Tensors quantized_sub(Call& c) { return sum_of(c, true); }
Tensors quantized_maximum(Call& c) { return picked_of(c, ops::maximum); }
Tensors quantized_minimum(Call& c) { return picked_of(c, ops::minimum); }

Tensors quantized_mul(Call& c) {
  Scale a = in_scale(c, 0), b = in_scale(c, 1), y = out_scale(c);
  Multiplier m = multiplier_of(static_cast<double>(a.scale * b.scale / y.scale));
  Tensor product = ops::mul(centred(c.x(0), a.zero), centred(c.x(1), b.zero));
  return {stored(times(product, m), y, limits_of(c, y))};
}

Tensors quantized_squared_difference(Call& c) {
  constexpr int kBits = 7;
  Scale a = in_scale(c, 0), b = in_scale(c, 1), y = out_scale(c);
  const double twice = 2 * std::max(a.scale, b.scale);
  auto scaled = [&](int i, const Scale& s) {
    Tensor wide = ops::mul(centred(c.x(i), s.zero), int32_number(1 << kBits));
    return times(wide, multiplier_of(static_cast<double>(s.scale) / twice));
  };
  Tensor d = ops::sub(scaled(0, a), scaled(1, b));
  Multiplier out =
      multiplier_of(twice * twice / ((1 << (2 * kBits)) * static_cast<double>(y.scale)));
  return {stored(times(ops::mul(d, d), out), y, {y.low, y.high})};
}

Tensors quantized_compare(Call& c) {
  constexpr int kBits = 8;
  auto scaled = [&](int i) {
    Scale s = in_scale(c, i);
    Tensor wide = ops::mul(centred(c.x(i), s.zero), int32_number(1 << kBits));
    return times(wide, multiplier_of(s.scale));
  };
  Tensor a = scaled(0), b = scaled(1);
  const std::string& op = c.node.op;
  if (op == "EQUAL") return {ops::equal(a, b)};
  if (op == "NOT_EQUAL") return {ops::not_equal(a, b)};
  if (op == "LESS") return {ops::less(a, b)};
  if (op == "LESS_EQUAL") return {ops::less_equal(a, b)};
  if (op == "GREATER") return {ops::greater(a, b)};
  return {ops::greater_equal(a, b)};
}

Tensors quantized_prelu(Call& c) {
  Scale x = in_scale(c, 0), slope = in_scale(c, 1), y = out_scale(c);
  Multiplier up = multiplier_of(static_cast<double>(x.scale / y.scale));
  Multiplier down = multiplier_of(static_cast<double>(x.scale * slope.scale / y.scale));
  Tensor v = centred(c.x(0), x.zero);
  Tensor low = times(ops::mul(v, centred(c.x(1), slope.zero)), down);
  Tensor r = ops::select(ops::greater_equal(v, int32_number(0)), times(v, up), low);
  return {stored(r, y, {y.low, y.high})};
}

}  // namespace mycel::interop::tensorflow
