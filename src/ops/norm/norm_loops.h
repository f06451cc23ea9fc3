// Loop nests of layer and batch normalisation and of their first gradients. Statistics of a layer
// take two passes: first the mean, then the mean of squared deviations; those of a batch one, with
// deviations from an element of the same channel. A large offset costs no accuracy. How sums are
// cut depends on shapes alone.
#pragma once

#include "ir/loop_rule.h"

namespace mycel::ops {

// x as rows of `cols` elements that are normalised together. Parameters have `params` elements and
// repeat along x in row-major order (usually params == cols).
struct LayerSizes {
  int64_t rows = 1, cols = 1, params = 1;
};

struct NormBufs {
  loops::Buf x, y;
  const loops::Buf* scale = nullptr;   // null: 1
  const loops::Buf* offset = nullptr;  // null: 0
  loops::Buf mean, variance;
};
void emit_layer_norm(loops::Nest& nest, const LayerSizes& s, double epsilon, const NormBufs& b);

struct NormGradBufs {
  loops::Buf x, dy;
  const loops::Buf* scale = nullptr;
  loops::Buf mean, variance;
  loops::Buf dx, dscale, doffset;
  // Of a batch norm with a ReLU after it: dy then counts where the result, which this is part of,
  // is positive.
  const loops::Buf* relu_offset = nullptr;
};
void emit_layer_norm_dx(loops::Nest& nest, const LayerSizes& s, double epsilon,
                        const NormGradBufs& b);

// x as [outer, channels, inner]; one mean per channel.
struct BatchSizes {
  int64_t outer = 1, channels = 1, inner = 1;
};
struct MomentBufs {
  loops::Buf x, mean, variance;
};
void emit_batch_moments(loops::Nest& nest, const BatchSizes& s, const MomentBufs& b);
void emit_batch_norm_dx(loops::Nest& nest, const BatchSizes& s, double epsilon,
                        const NormGradBufs& b);

}  // namespace mycel::ops
