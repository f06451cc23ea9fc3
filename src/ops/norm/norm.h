// The norm room: normalisation over a batch, a layer, groups or vectors. Forward passes are fused
// loop nests with two-pass statistics; their gradients are composite ops with a fused nest of their
// own, so that first derivatives are fast and higher ones follow from the expansion.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kLayerNorm;         // results y, mean, variance
extern const OpDef kLayerNormDx;       // results dx, dgamma, dbeta
extern const OpDef kBatchNormTrain;    // results y, mean, variance (of the batch, biased)
extern const OpDef kBatchNormTrainDx;  // results dx, dscale, doffset
extern const OpDef kBatchNorm, kGroupNorm, kInstanceNorm, kRmsNorm, kLrn;

}  // namespace mycel::ops
