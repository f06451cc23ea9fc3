// Control room: ops whose attributes hold code. cond and while_loop have closed regions; callback
// runs a host function; custom_gradient pairs a host function with the user's own gradient.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kCond, kWhileLoop, kCallback, kCustomGradient, kStopGradient, kIdentity;

}  // namespace mycel::ops
