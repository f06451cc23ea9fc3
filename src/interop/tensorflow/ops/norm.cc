// Normalizations.
#include "interop/tensorflow/ops/build.h"

namespace mycel::interop::tensorflow {
namespace {

// (x, scale, offset, mean, variance): inference alone; a graph that trains has no place here.
Tensors fused_batch_norm(Call& c) {
  if (c.flag("is_training", true)) c.unsupported("is_training; export the graph for inference");
  Tensor x = c.x(0), scale = c.x(1), offset = c.x(2), mean = c.x(3), variance = c.x(4);
  Tensor factor = ops::mul(
      ops::rsqrt(ops::add(variance, number_like(c.real("epsilon", 1e-4), variance))), scale);
  Tensor shift = ops::sub(offset, ops::mul(mean, factor));
  if (channels_first(c)) {
    factor = ops::reshape(factor, {-1, 1, 1});
    shift = ops::reshape(shift, {-1, 1, 1});
  }
  Tensor y = ops::add(ops::mul(x, as(factor, x.dtype())), as(shift, x.dtype()));
  return {y, mean, variance, mean, variance};
}

Tensors l2_normalize(Call& c) {
  Tensor x = c.x(0);
  Tensor sum = ops::reduce_sum(ops::mul(x, x), ir::Attr(Ints{-1}), true);
  Tensor y = ops::div(x, ops::maximum(ops::sqrt(sum), number_like(1e-6, x)));
  return {activated(c, y)};
}

// Over neighbouring channels, which stand last.
Tensors local_response(Call& c) {
  Tensor x = c.x(0);
  const int64_t r = c.integer("depth_radius", 5);
  Tensor square = ops::mul(x, x);
  Ints low(4, 0), high(4, 0);
  const int64_t n = c.dims(x).at(3);
  if (r < 0 || r > n) c.fail("a radius of {} for {} channels", r, n);
  low[3] = high[3] = r;
  square = padded(square, low, high);
  Tensor sum = ops::narrow(square, 3, 0, n);
  // TFLite's published kernel leaves the last neighbour out.
  const int64_t last = c.lite() ? 2 * r - 1 : 2 * r;
  for (int64_t k = 1; k <= last; ++k) sum = ops::add(sum, ops::narrow(square, 3, k, n));
  Tensor base = ops::add(ops::mul(sum, number_like(c.real("alpha", 1), x)),
                         number_like(c.real("bias", 1), x));
  return {ops::mul(x, ops::pow(base, number_like(-c.real("beta", 0.5), x)))};
}

constexpr Record kRecords[] = {
    {-1, "", "FusedBatchNormV3", fused_batch_norm, nullptr, "", "3 4"},
    {-1, "", "FusedBatchNormV2", fused_batch_norm, nullptr, "", "3 4"},
    {-1, "", "FusedBatchNorm", fused_batch_norm, nullptr, "", "3 4"},
    {11, "L2_NORMALIZATION", "", l2_normalize},
    {13, "LOCAL_RESPONSE_NORMALIZATION", "LRN", local_response},
};

}  // namespace

Records norm_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
