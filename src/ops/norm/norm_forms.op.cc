// Normalisations that are made of other ops.
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/norm/norm.h"
#include "ops/norm/rooms.h"
#include "ops/pool/pool.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Value;

namespace {

// Channels (dim 1) in `groups` groups that are normalised together with all positions; then weight
// and bias per channel.
void normalise_groups(Expansion& e, int64_t groups, double eps) {
  Value x = e.x(0);
  if (x.rank() < 2)
    value_error("{}: '{}' needs at least 2 dims, got {}", e.op.name, e.op.inputs[0].name,
                x.type().str());
  int64_t channels = x.shape()[1];
  if (channels == kUnknownDim) value_error("{}: the number of channels must be known", e.op.name);
  if (groups < 1 || channels % groups != 0) {
    value_error("{}: {} channels cannot be divided into {} groups", e.op.name, channels, groups);
  }
  for (int i : {1, 2}) {
    if (e.has(i) && (e.x(i).rank() != 1 || dims_differ(e.x(i).shape()[0], channels))) {
      value_error("{}: '{}' must have shape [{}], got {}", e.op.name, e.op.inputs[i].name, channels,
                  e.x(i).type().str());
    }
  }
  // [n, groups, the rest]: dims from 2 on are merged first, so that one of them may be unknown.
  Value rows = x.rank() > 3 ? kCollapseDims({x}, {2, -1}) : x;
  int64_t inner = rows.rank() > 2 ? rows.shape()[2] : 1;
  int64_t length = inner == kUnknownDim ? kUnknownDim : channels / groups * inner;
  rows = kReshape(
      {rows}, {Attr::Ints{x.shape()[0] == kUnknownDim && length != kUnknownDim ? -1 : x.shape()[0],
                          groups, length}});
  Value y = kReshapeLike({kLayerNorm({rows}, {2, 2, eps}), x});
  auto per_channel = [&](Value v) {
    for (int d = 2; d < x.rank(); ++d) v = kExpandDims({v}, {-1});
    return v;
  };
  if (e.has(1)) y = y * per_channel(e.x(1));
  if (e.has(2)) y = y + per_channel(e.x(2));
  e.result(cast_to(y, x.dtype()));
}

void expand_instance_norm(Expansion& e) {
  Value x = e.x(0);
  normalise_groups(e, x.rank() < 2 ? 1 : x.shape()[1], e.attrs.real("eps"));
}

// Σ over the neighbouring channels is a mean over a window of 2 depth_radius + 1 with divisor 1.
void expand_lrn(Expansion& e) {
  Value x = e.x(0);
  if (x.rank() != 4) value_error("lrn: 'x' must have 4 dims [n, c, h, w], got {}", x.type().str());
  int64_t radius = e.attrs.integer("depth_radius");
  if (radius < 0) value_error("lrn: 'depth_radius' must not be negative, got {}", radius);
  Value squares = kExpandDims({kCollapseDims({x * x}, {2, 3})}, {1});  // [n, 1, c, h w]
  Value sums = kAvgPool2d({squares}, {Attr::Ints{2 * radius + 1, 1}, Attr::Ints{1, 1},
                                      Attr::Ints{radius, 0}, false, true, 1});
  Value scale = kReshapeLike({sums, x}) * e.attrs.real("alpha") + e.attrs.real("bias");
  e.result(x * kPow({scale, number(scale, -e.attrs.real("beta"))}));
}

}  // namespace

constexpr OpDef kGroupNorm = check({
    .name = "group_norm",
    .doc = "Normalises num_groups groups of channels of each sample to mean 0 and variance 1, then "
           "multiplies by weight "
           "and adds bias per channel.",
    .in = {"input: float[n, c, h, w]", "weight?: float[c]", "bias?: float[c]"},
    .attr = {"num_groups: int = 1", "eps: float = 1e-5"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          normalise_groups(e, e.attrs.integer("num_groups"), e.attrs.real("eps"));
        },
    .cases = "input[2, 4, 3, 2] [2, 4, 5]; c = 4; num_groups = 1 2; fd 1e-5; bad num_groups = 3; "
             "bad weight[3] | input[2, "
             "4]; c = 4; num_groups = 2; fd 1e-4",
    .onnx = "GroupNormalization",
});

constexpr OpDef kInstanceNorm = check({
    .name = "instance_norm",
    .doc = "Normalises each channel of each sample over its positions, then multiplies by weight "
           "and adds bias.",
    .in = {"input: float[n, c, h, w]", "weight?: float[c]", "bias?: float[c]"},
    .attr = {"eps: float = 1e-5"},
    .shard = "none",
    .expand = expand_instance_norm,
    .cases = "input[2, 3, 3, 4] [2, 3, 7]; c = 3; fd 1e-5; bad weight[4]",
    .onnx = "InstanceNormalization",
});

constexpr OpDef kRmsNorm = check({
    .name = "rms_norm",
    .doc = "y = x / sqrt(mean(x²) + epsilon) gamma over the last dim.",
    .in = {"x: float[n, c]", "gamma?: float[c]"},
    .attr = {"epsilon: float = 1e-6"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          Value x = e.x(0);
          Value mean = kReduceMean({x * x}, {Attr::Ints{-1}, true});
          Value y = x * kRsqrt({mean + e.attrs.real("epsilon")});
          e.result(e.has(1) ? cast_to(y * e.x(1), x.dtype()) : y);
        },
    .cases = "x[3, 5] [2, 3, 5]; gamma[5]; bad gamma[4]",
});

constexpr OpDef kLrn = check({
    .name = "lrn",
    .doc = "Local response normalisation across channels: y = x / (bias + alpha Σ x²)^beta, the "
           "sum over depth_radius "
           "channels on both sides.",
    .in = {"x: float[n, c, h, w]"},
    .attr = {"depth_radius: int = 5", "bias: float = 1", "alpha: float = 1", "beta: float = 0.5",
             "norm_region: str(ACROSS_CHANNELS) = ACROSS_CHANNELS"},
    .shard = "none",
    .expand = expand_lrn,
    .cases = "x[2, 5, 2, 3]; depth_radius = 1 2 5; alpha = 0.5; beta = 0.75; bad x[2, 3]; bad "
             "depth_radius = -1",
    .onnx = "LRN",
    .primitive = "LRN(depth_radius, bias, alpha, beta, norm_region)",
});

void register_norm_forms() { ir::register_ops({&kGroupNorm, &kInstanceNorm, &kRmsNorm, &kLrn}); }

}  // namespace mycel::ops
