// Fused room: one op made of several elementwise ones. Made by passes/fuse_elementwise, never by
// users.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kFused;

}  // namespace mycel::ops
