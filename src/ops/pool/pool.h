// The pool room: maxima and means over windows of 1 to 3 spatial dims, fixed or adaptive windows.
// kMaxPoolGather(x, v) reads v where x has its window's first maximum, kMaxPoolScatter(x, u) writes
// there: each is the other's transpose, so derivatives exist to every order. kAvgPoolDx is the
// transpose of the mean. `layout` as in the conv room.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kMaxPool1d, kMaxPool2d, kMaxPool3d;
extern const OpDef kMaxPoolWithArgmax;  // results y, index within the plane; any rank
extern const OpDef kAvgPool1d, kAvgPool2d, kAvgPool3d;
extern const OpDef kAdaptiveMaxPool1d, kAdaptiveMaxPool2d, kAdaptiveMaxPool3d;
extern const OpDef kAdaptiveAvgPool1d, kAdaptiveAvgPool2d, kAdaptiveAvgPool3d;
extern const OpDef kMaxPoolGather, kMaxPoolScatter, kAvgPoolDx;

}  // namespace mycel::ops
