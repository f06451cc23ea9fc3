// The loss room. Two fused primitives (softmax with cross entropy, for class indices and for
// distributions), a pair of linear ops that read and write the class of a label, and composites for
// the rest. A label outside [0, classes) that is not ignore_index is a UserError naming it.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

// x[…, label, …] along the class axis and its transpose; ignored labels give 0. Attributes axis,
// ignore_index (and depth, for the transpose).
extern const OpDef kPickClass, kPlaceClass;
// Per row of the last dim: results loss and the logarithm of the sum of exponentials.
extern const OpDef kSparseSoftmaxCrossEntropy, kSparseSoftmaxCrossEntropyDx;
extern const OpDef kSoftmaxCrossEntropyWithLogits;
extern const OpDef kCrossEntropy, kNllLoss, kBinaryCrossEntropy, kBinaryCrossEntropyWithLogits;
extern const OpDef kMseLoss, kL1Loss, kSmoothL1Loss, kHuberLoss, kKlDiv;

}  // namespace mycel::ops
