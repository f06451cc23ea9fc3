// Fused room: one op made of several. Made by passes (fuse_elementwise, join_epilogues), never by
// users.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kFused;   // elementwise ops
extern const OpDef kJoined;  // an op and elementwise ones after it

}  // namespace mycel::ops
