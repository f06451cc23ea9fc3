// Pools over two spatial dims.
#include "interop/tensorflow/ops/pool.h"

#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {

Pool pool_of(Call& c, const Tensor& x) {
  if (x.rank() != 4) c.fail("an input with {} dims; 4 are allowed", x.rank());
  Pool p;
  p.channels_last = !channels_first(c);
  Dims in = c.dims(x);
  const size_t first = p.channels_last ? 1 : 2;
  p.in = {in[first], in[first + 1]};
  p.channels = in[p.channels_last ? 3 : 1];
  p.kernel = spatial(c, "ksize", 2);
  p.stride = spatial(c, "strides", 2);
  p.pads = pads_of(c, p.in, p.kernel, p.stride, {1, 1});
  return p;
}

Tensor pooled_max(const Pool& p, const Tensor& x) {
  return ops::max_pool2d(x, p.kernel, ir::Attr(p.stride), p.pads, {1, 1}, false, "pad", p.layout());
}

namespace {

Tensor pooled_mean(const Pool& p, const Tensor& x) {
  return ops::avg_pool2d(x, p.kernel, ir::Attr(p.stride), p.pads, false, false, 0, "pad",
                         p.layout());
}

Tensors max_pool(Call& c) { return {activated(c, pooled_max(pool_of(c, c.x(0)), c.x(0)))}; }
Tensors avg_pool(Call& c) { return {activated(c, pooled_mean(pool_of(c, c.x(0)), c.x(0)))}; }
Tensors l2_pool(Call& c) {
  Tensor x = c.x(0);
  return {activated(c, ops::sqrt(pooled_mean(pool_of(c, x), ops::mul(x, x))))};
}

constexpr Record kRecords[] = {
    {17, "MAX_POOL_2D", "MaxPool", max_pool, quantized_max_pool},
    {1, "AVERAGE_POOL_2D", "AvgPool", avg_pool, quantized_avg_pool},
    {12, "L2_POOL_2D", "", l2_pool},
};

}  // namespace

Records pool_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
