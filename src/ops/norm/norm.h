// The norm room: normalisation over a batch, a layer, groups or vectors. Layer normalisation is one
// nest; batch normalisation is its statistics in one sweep and then an elementwise op, which fuses
// with what follows. Gradients are composite ops with a fused nest of their
// own, so that first derivatives are fast and higher ones follow from the expansion.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kLayerNorm;     // results y, mean, variance
extern const OpDef kLayerNormDx;   // results dx, dgamma, dbeta
extern const OpDef kBatchMoments;  // results mean, variance
extern const OpDef kNormalizeChannels;
extern const OpDef kBatchNormTrain;    // results y, mean, variance (of the batch, biased)
extern const OpDef kBatchNormTrainDx;  // results dx, dscale, doffset
extern const OpDef kBatchNorm, kGroupNorm, kInstanceNorm, kRmsNorm, kLrn;

}  // namespace mycel::ops
