// The conv room: convolutions of 1 to 3 spatial dims (cross-correlations, as everywhere in the
// field) and transposed convolutions. kConvDx and kConvDw are the two gradients; each of the three
// is the gradient of the other two, so that derivatives exist to every order. Transposed
// convolution is kConvDx.
//
// `layout` says how x and y lie in memory: channel_first n c s…, channel_last n s… c. Weights are
// always [out, in / groups, k…]. The layout pass switches activations to channel_last.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kConv1d, kConv2d, kConv3d;
extern const OpDef kConvDx, kConvDw;
extern const OpDef kConv1dTranspose, kConv2dTranspose, kConv3dTranspose;

}  // namespace mycel::ops
