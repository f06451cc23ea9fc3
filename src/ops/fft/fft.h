// The Fourier transform room. Three linear primitives over any axes: kDft between complex
// tensors, kRealDft from real ones to the half of the spectrum that tells the rest, kInverseRealDft
// back. Each is the transpose of one of them, so derivatives exist to every order. The published
// functions choose lengths, axes and scales.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kDft, kRealDft, kInverseRealDft;
// One axis, several axes: attributes n or s, dim, norm.
extern const OpDef kFft, kIfft, kRfft, kIrfft, kFftn, kIfftn;

}  // namespace mycel::ops
