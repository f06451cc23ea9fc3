// The image room: resizing, sampling at points, boxes. Resizing works one axis at a time: kResample
// is linear in its operand and kResampleDx is its transpose, so derivatives exist to every order.
// Sampling at points that tensors hold (grid_sample, crop_and_resize, roi_align) is composed of
// gathers (sample.h).
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kResample, kResampleDx;
extern const OpDef kInterpolate, kResizeBilinear, kResizeNearest;
extern const OpDef kKeepBoxes, kKeepOverlapping;

}  // namespace mycel::ops
