// Float activations beside integer weights, as TFLite's "hybrid" kernels compute: what comes is
// rounded to 8 bits by the range of each batch element, the sums are exact integers.
#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {

bool is_hybrid(const Call& c, int weight) {
  return c.lite() && is_float(c.x(0).dtype()) && c.x(weight).dtype() == DType::kInt8;
}

Tensor whole_weight(Call& c, int weight, int64_t count) {
  const Quantization& q = c.in_slot(weight).quantization;
  if (q.scale.empty()) c.fail("input {} has no scale", weight);
  for (int64_t z : q.zero) {
    if (z != 0) c.unsupported("a weight with zero point {} beside floats", z);
  }
  const bool narrow = count < (1 << 24) / (255 * 128);
  return as(c.x(weight), narrow ? DType::kFloat32 : DType::kFloat64);
}

Tensor weight_scales(Call& c, int weight) {
  const Quantization& q = c.in_slot(weight).quantization;
  const auto n = static_cast<int64_t>(q.scale.size());
  return Tensor::from(q.scale, n > 1 ? Shape{n} : Shape{});
}

Rounded rounded_by_range(const Tensor& x, bool symmetric) {
  Ints axes;
  for (int d = 1; d < x.rank(); ++d) axes.push_back(d);
  auto bound = [&](Tensor (*f)(const Tensor&, const ir::Attr&, bool)) {
    return f(x, ir::Attr(axes), true);
  };
  Tensor low = bound(ops::reduce_min), high = bound(ops::reduce_max), one = number_like(1, x);
  Rounded r;
  if (symmetric) {
    Tensor range = ops::maximum(ops::abs(low), ops::abs(high));
    Tensor empty = ops::equal(range, number_like(0, x));
    r.scale = ops::select(empty, one, ops::div(range, number_like(127, x)));
    Tensor inverse = ops::select(empty, one, ops::div(number_like(127, x), range));
    Tensor q = rounded_away(ops::mul(x, inverse));
    r.whole = ops::minimum(ops::maximum(q, number_like(-127, x)), number_like(127, x));
    return r;
  }
  auto wide = [](double v) { return Tensor::scalar(DType::kFloat64, v); };
  low = as(ops::minimum(low, number_like(0, x)), DType::kFloat64);
  high = as(ops::maximum(high, number_like(0, x)), DType::kFloat64);
  Tensor empty = ops::equal(low, high);
  Tensor step = ops::select(empty, wide(1), ops::div(ops::sub(high, low), wide(255)));
  Tensor below = ops::div(low, step), above = ops::div(high, step);
  Tensor from_low =
      ops::less(ops::add(wide(128), ops::abs(below)), ops::add(wide(127), ops::abs(above)));
  Tensor zero = ops::select(from_low, ops::sub(wide(-128), below), ops::sub(wide(127), above));
  zero = ops::minimum(ops::maximum(rounded_away(zero), wide(-128)), wide(127));
  zero = as(ops::select(empty, wide(0), zero), x.dtype());
  r.scale = as(step, x.dtype());
  Tensor q = rounded_away(ops::add(zero, ops::mul(x, ops::div(one, r.scale))));
  q = ops::minimum(ops::maximum(q, number_like(-128, x)), number_like(127, x));
  r.whole = ops::sub(q, zero);
  return r;
}

}  // namespace mycel::interop::tensorflow
