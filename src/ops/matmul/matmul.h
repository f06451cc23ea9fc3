// The matmul room: matrix products and what is made of them. kBatchMatmul is the primitive that all
// the others expand into; kDense is a primitive of its own so that its bias is added inside the
// product.
#pragma once

#include <fmt/format.h>

#include "ir/graph.h"
#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

// Products of the last two dims; rank 2 or more on both sides, batch dims broadcast.
extern const OpDef kBatchMatmul;  // attrs transpose_a, transpose_b
extern const OpDef kMatmul;       // NumPy's rules, 1-D operands included; attrs as above
extern const OpDef kDense;        // x Wᵀ + b
extern const OpDef kBiasAdd;      // attr data_format
extern const OpDef kOuter, kMv, kTensordot, kDot, kInner;

// Sums products over paired axes: the result has the free dims of `a`, then those of `b`. Axes are
// not negative.
ir::Value tensordot(ir::Value a, ir::Value b, const std::vector<int64_t>& axes_a,
                    const std::vector<int64_t>& axes_b);

}  // namespace mycel::ops
