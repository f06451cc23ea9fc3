// Quantized softmax, means, sums, norms and resizing.
#include <limits>

#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"
#include "interop/tensorflow/ops/resize.h"

namespace mycel::interop::tensorflow {
namespace {

Tensor shifted_right(const Tensor& x, const Tensor& by) {
  // x / 2^by, half away from zero.
  Tensor one = int32_number(1);
  Tensor mask = ops::sub(ops::bitwise_left_shift(one, by), one);
  Tensor rest = ops::bitwise_and(x, mask);
  Tensor threshold = ops::add(ops::bitwise_right_shift(mask, one),
                              as(ops::less(x, int32_number(0)), DType::kInt32));
  return ops::add(ops::bitwise_right_shift(x, by),
                  as(ops::greater(rest, threshold), DType::kInt32));
}
// x y / 2^31.
Tensor product(const Tensor& x, const Tensor& y) {
  return ops::fixed_multiply(x, y, int32_number(0));
}

// 1 / (1 + a) for a in [0, 1) with 31 bits behind the point: three steps of Newton's method.
Tensor reciprocal_of_one_plus(const Tensor& a) {
  constexpr int32_t kOne = std::numeric_limits<int32_t>::max();
  // Half of a + 1, half away from zero; both are positive.
  Tensor wide = ops::add(as(a, DType::kInt64), Tensor::scalar(DType::kInt64, int64_t{kOne}));
  Tensor half = as(ops::truncate_div(ops::add(wide, Tensor::scalar(DType::kInt64, int64_t{1})),
                                     Tensor::scalar(DType::kInt64, int64_t{2})),
                   DType::kInt32);
  Tensor x = ops::add(int32_number(1515870810), product(half, int32_number(-1010580540)));
  for (int i = 0; i < 3; ++i) {
    Tensor left = ops::sub(int32_number(1 << 29), product(half, x));
    Tensor step = product(x, left);  // with two bits before the point
    // Times 4, saturated.
    Tensor four = ops::mul(as(step, DType::kInt64), Tensor::scalar(DType::kInt64, int64_t{4}));
    four = ops::minimum(
        ops::maximum(four,
                     Tensor::scalar(DType::kInt64, int64_t{std::numeric_limits<int32_t>::min()})),
        Tensor::scalar(DType::kInt64, int64_t{kOne}));
    x = ops::add(x, as(four, DType::kInt32));
  }
  // From two bits before the point to none, saturated: times 2 here.
  Tensor two = ops::mul(as(x, DType::kInt64), Tensor::scalar(DType::kInt64, int64_t{2}));
  two = ops::minimum(two, Tensor::scalar(DType::kInt64, int64_t{kOne}));
  return as(two, DType::kInt32);
}

// Zeros before the highest bit of positive numbers.
Tensor leading_zeros(const Tensor& x) {
  Ints powers;
  for (int k = 0; k < 31; ++k) powers.push_back(int64_t{1} << k);
  Tensor reached = ops::greater_equal(ops::expand_dims(x, -1), ints_tensor(powers, DType::kInt32));
  Tensor bits = ops::reduce_sum(as(reached, DType::kInt32), ir::Attr(Ints{-1}), false);
  return ops::sub(int32_number(32), as(bits, DType::kInt32));
}

}  // namespace

Tensors quantized_softmax(Call& c) {
  Tensor x = c.x(0);
  Scale from = in_scale(c, 0), to = out_scale(c);
  if (size_of(x.dtype()) != 1 || to.dtype == DType::kInt32)
    c.unsupported("{} to {}", x.describe(), name_of(to.dtype));
  // Differences to the largest, with 26 bits behind the point.
  const double beta = c.real("beta", 1) * static_cast<double>(from.scale) * (1 << 26);
  Multiplier m = multiplier_of(std::min(beta, 2147483647.0));
  const double radius = 31.0 * (1 << 26) / static_cast<double>(int64_t{1} << m.shift);
  const auto least = -static_cast<int64_t>(std::floor(radius));
  std::vector<int32_t> exps;  // of the differences -255 … 0
  std::vector<int32_t> parts;
  for (int32_t d = -255; d <= 0; ++d) {
    int32_t e = 0;
    if (d >= least) {
      const auto wide = static_cast<int32_t>(static_cast<int64_t>(d) * (int64_t{1} << m.shift));
      e = fixed_exp(doubled_high_half(wide, m.value));
    }
    exps.push_back(e);
    parts.push_back(rounding_shift(e, 12));
  }
  const int last = x.rank() - 1;
  Tensor wide = as(x, DType::kInt32);
  Tensor high = as(ops::reduce_max(wide, ir::Attr(Ints{last}), true), DType::kInt32);
  Tensor at = ops::add(ops::sub(wide, high), int32_number(255));
  Tensor e = ops::gather(Tensor::from(exps, Shape{256}), at, 0);
  Tensor sum = as(ops::reduce_sum(ops::gather(Tensor::from(parts, Shape{256}), at, 0),
                                  ir::Attr(Ints{last}), true),
                  DType::kInt32);
  Tensor headroom = leading_zeros(sum);
  // The sum without its highest bit.
  Tensor rest =
      ops::sub(ops::bitwise_left_shift(as(sum, DType::kInt64), as(headroom, DType::kInt64)),
               Tensor::scalar(DType::kInt64, int64_t{1} << 31));
  rest = ops::bitwise_and(rest, Tensor::scalar(DType::kInt64, int64_t{0x7fffffff}));
  rest = as(rest, DType::kInt32);
  Tensor scale = reciprocal_of_one_plus(rest);
  const int bits = static_cast<int>(size_of(to.dtype)) * 8;
  Tensor exponent = ops::add(ops::sub(int32_number(12), headroom), int32_number(31 - bits));
  Tensor y = shifted_right(product(e, scale), exponent);
  to.zero = to.low;
  y = stored(y, to, {to.low, to.high});
  return {y};
}

namespace {

// int32 sums of x - zero, and how many elements each has.
Tensor summed(Call& c, const Scale& from, int64_t* count) {
  Tensor x = c.x(0);
  Ints axes = reduced_axes(c);
  Dims dims = c.dims(x);
  *count = 1;
  for (int64_t a : axes) *count *= dims[static_cast<size_t>(a)];
  if (*count < 1) c.fail("a reduction of no elements");
  Tensor wide = as(x, DType::kInt32);
  Tensor sum = axes.empty() ? wide
                            : as(ops::reduce_sum(wide, ir::Attr(axes), c.flag("keep_dims", false)),
                                 DType::kInt32);
  return ops::sub(sum, int32_number(static_cast<int32_t>(from.zero * *count)));
}

}  // namespace

Tensors quantized_mean(Call& c) {
  Scale from = in_scale(c, 0), to = out_scale(c);
  int64_t n = 0;
  Tensor sum = summed(c, from, &n);
  Multiplier m = multiplier_of(static_cast<double>(from.scale) / to.scale);
  // The division is part of the multiplier, as exact as 31 bits allow.
  int shift = 63 - __builtin_clzll(static_cast<uint64_t>(n));
  shift = std::min({shift, 32, 31 + m.shift});
  m.value = static_cast<int32_t>((static_cast<int64_t>(m.value) << shift) / n);
  m.shift -= shift;
  return {stored(times(sum, m), to, {to.low, to.high})};
}

// Weights of 10 bits, rounded once at the end.
Tensors quantized_bilinear(Call& c) {
  constexpr int kBits = 10;
  Resize r = resize_of(c);
  Tensor x = c.x(0);
  if (size_of(x.dtype()) != 1) c.unsupported("{}", x.describe());
  Tensor wide = as(x, DType::kInt32);
  for (int d = 0; d < 2; ++d) {
    const auto k = static_cast<size_t>(d);
    const int64_t in = r.in[k], out = r.out[k];
    int64_t step = ((int64_t{1} << kBits) * in + out / 2) / out;
    if (r.align_corners && out > 1)
      step = ((int64_t{1} << kBits) * (in - 1) + (out - 1) / 2) / (out - 1);
    Ints low, high;
    std::vector<int32_t> weight;
    for (int64_t i = 0; i < out; ++i) {
      int64_t place = i * step;
      if (r.half_pixel) place += step / 2 - (1 << (kBits - 1));
      low.push_back(std::min(std::max<int64_t>(place / (1 << kBits), 0), in - 1));
      high.push_back(std::min((place + (1 << kBits) - 1) / (1 << kBits), in - 1));
      weight.push_back(static_cast<int32_t>(place - (1 << kBits) * low.back()));
    }
    Ints shape(4, 1);
    shape[k + 1] = -1;
    Tensor w = ops::reshape(Tensor::from(weight, Shape{out}), shape);
    Tensor rest = ops::sub(int32_number(1 << kBits), w);
    wide =
        ops::add(ops::mul(picked(wide, low, d + 1), rest), ops::mul(picked(wide, high, d + 1), w));
  }
  const int32_t half = 1 << (2 * kBits - 1), whole = 1 << (2 * kBits);
  Tensor moved = ops::add(wide, ops::select(ops::greater(wide, int32_number(0)), int32_number(half),
                                            int32_number(-half)));
  return {as(ops::truncate_div(moved, int32_number(whole)), x.dtype())};
}

}  // namespace mycel::interop::tensorflow
