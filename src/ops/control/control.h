// Control room: ops whose attributes hold code. cond and while_loop have closed regions; call runs
// a function that may call itself; callback runs a host function; custom_gradient pairs a host
// function with the user's own gradient. The stack ops carry what a loop leaves for its reverse.
#pragma once

#include "ir/op_def.h"

namespace mycel::ir {
class Adjoint;
}

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kCond, kWhileLoop, kCall, kCallback, kCustomGradient, kStopGradient, kIdentity;
extern const OpDef kStackNew, kStackPush, kStackPop, kStackAdd, kStackFromRows, kStackToRows;

void register_stack();
// The gradient of while_loop (loop_gradient.cc).
void loop_gradient(ir::Adjoint& a);

}  // namespace mycel::ops
