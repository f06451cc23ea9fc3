// Geometry of a convolution: sizes, steps and borders of the triple (x, w, y), the same for the
// forward pass and both gradients. Type rules, loop rules and vendor kernels all read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/op.h"
#include "ir/type_rule.h"

namespace mycel::ops {

// The attributes that every convolution record shares, with one entry per spatial dim where they
// are lists.
struct ConvSteps {
  std::vector<int64_t> stride, dilation;
  std::string pad_mode;          // "pad", "same" or "valid"
  std::vector<int64_t> padding;  // 1, R or 2 R values
  int64_t groups = 1;
  bool channel_last = false;
};
ConvSteps steps_of(const ir::AttrsView& attrs);

// Padding before and after one spatial dim. "same": the output has ceil(in / stride) positions, the
// odd one of the padding goes behind. `in` and `kernel` are used by "same" alone.
struct Border {
  int64_t before = 0, after = 0;
};
Border border_of(const ConvSteps& s, int dim, int rank, int64_t in, int64_t kernel);

// Positions of the window: floor((in + borders - dilation (kernel - 1) - 1) / stride) + 1, or for
// "same" ceil(in / stride). Unknown when `in` or `kernel` is. Below 1 when the window does not fit.
int64_t conv_out(const ConvSteps& s, int dim, int rank, int64_t in, int64_t kernel);

// Refuses strides, dilations, groups or padding that make no sense for `rank` spatial dims.
void check_steps(const ir::TypeRuleCtx& c, const ConvSteps& s, int rank);

struct ConvGeometry {
  int64_t batch = 1, groups = 1;
  int64_t in_channels = 1, out_channels = 1;  // of all groups together
  std::vector<int64_t> in, kernel, out, stride, dilation, pad_begin, pad_end;
  bool channel_last = false;
  int rank() const { return static_cast<int>(in.size()); }
};
ConvGeometry geometry_of(const Shape& x, const Shape& w, const Shape& y,
                         const ir::AttrsView& attrs);

// Position of the channel and of spatial dim `d` in the shape of an activation.
inline int channel_axis(int rank, bool channel_last) { return channel_last ? rank + 1 : 1; }
inline int spatial_axis(int d, bool channel_last) { return d + (channel_last ? 1 : 2); }

}  // namespace mycel::ops
