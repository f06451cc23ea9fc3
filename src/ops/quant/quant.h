// The quant room: integers that stand for reals, x = (q - zero_point) scale. Conversions between
// the two, contractions of 8-bit integers that sum in int32, and the two ways of bringing such sums
// back to 8 bits. A quantized network is an integer contraction followed by elementwise ops, which
// the passes join like those of any other.
#pragma once

#include "ir/graph.h"
#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

// affine.op.cc
extern const OpDef kQuantize, kDequantize, kRequantize;
// The elements alone: scales and zero points stand under the dims that they belong to.
extern const OpDef kQuantizeElements, kQuantizeShifted, kDequantizeElements, kRequantizeElements,
    kRoundSaturate;
// fixed_point.op.cc
extern const OpDef kFixedMultiply, kRequantizeFixed;
// fake.op.cc
extern const OpDef kFakeQuantize, kFakeQuantizeElements;
// contraction.op.cc
extern const OpDef kConv1dInteger, kConv2dInteger, kConv3dInteger, kMatmulInteger;

}  // namespace mycel::ops
