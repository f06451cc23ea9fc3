#include "ops/pool/window.h"

#include <algorithm>

namespace mycel::ops {

namespace {

PoolSteps steps_without_dilation(const ir::AttrsView& attrs) {
  PoolSteps s;
  s.kernel = attrs.ints("kernel_size");
  s.steps.stride = attrs["stride"].none() ? s.kernel : attrs.ints("stride");
  s.steps.dilation.assign(s.kernel.size(), 1);
  s.steps.pad_mode = attrs.string("pad_mode");
  s.steps.padding = attrs.ints("padding");
  s.steps.channel_last = attrs.string("layout") == "channel_last";
  s.ceil_mode = attrs.boolean("ceil_mode");
  return s;
}

}  // namespace

PoolSteps avg_steps_of(const ir::AttrsView& attrs) { return steps_without_dilation(attrs); }

PoolSteps max_steps_of(const ir::AttrsView& attrs) {
  PoolSteps s = steps_without_dilation(attrs);
  s.steps.dilation = attrs.ints("dilation");
  return s;
}

PoolSteps adaptive_steps_of(const ir::AttrsView& attrs) {
  PoolSteps s;
  s.steps.channel_last = attrs.string("layout") == "channel_last";
  return s;
}

void check_pool_steps(const ir::TypeRuleCtx& c, const PoolSteps& s, int rank) {
  if (s.adaptive()) return;
  if (static_cast<int>(s.kernel.size()) != rank ||
      *std::min_element(s.kernel.begin(), s.kernel.end()) < 1) {
    c.fail("'kernel_size' must be {} numbers of at least 1, got {}", rank,
           c.attrs["kernel_size"].str());
  }
  check_steps(c, s.steps, rank);
  for (int d = 0; d < rank; ++d) {
    Border b = border_of(s.steps, d, rank, kUnknownDim, s.kernel[d]);
    int64_t reach = s.steps.dilation[d] * (s.kernel[d] - 1) + 1;
    if (std::max(b.before, b.after) >= reach && b.before + b.after > 0) {
      c.fail("the padding must be smaller than the window of {}, got {}", reach,
             c.attrs["padding"].str());
    }
  }
}

int64_t pool_out(const PoolSteps& s, int dim, int rank, int64_t in) {
  if (!s.ceil_mode || s.steps.pad_mode == "same" || in == kUnknownDim) {
    return conv_out(s.steps, dim, rank, in, s.kernel[dim]);
  }
  Border b = border_of(s.steps, dim, rank, in, s.kernel[dim]);
  int64_t stride = s.steps.stride[dim];
  int64_t room = in + b.before + b.after - s.steps.dilation[dim] * (s.kernel[dim] - 1) - 1;
  if (room + stride <= 0) return 0;  // not even a window that reaches beyond the end
  int64_t out = (room + stride - 1) / stride + 1;
  return (out - 1) * stride >= in + b.before ? out - 1 : out;
}

PoolGeometry pool_geometry(const Shape& x, const Shape& y, const PoolSteps& s) {
  int rank = x.rank() - 2;
  bool last = s.steps.channel_last;
  PoolGeometry g;
  g.batch = x[0];
  g.channels = x[channel_axis(rank, last)];
  g.channel_last = last;
  g.kernel = s.kernel;
  for (int d = 0; d < rank; ++d) {
    g.in.push_back(x[spatial_axis(d, last)]);
    g.out.push_back(y[spatial_axis(d, last)]);
    if (s.adaptive()) continue;
    Border b = border_of(s.steps, d, rank, g.in[d], s.kernel[d]);
    g.stride.push_back(s.steps.stride[d]);
    g.dilation.push_back(s.steps.dilation[d]);
    g.pad_begin.push_back(b.before);
    g.pad_end.push_back(b.after);
  }
  return g;
}

}  // namespace mycel::ops
