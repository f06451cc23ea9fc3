// Attention room: softmax(scale q kᵀ + mask) v and its gradient as one op each, which a pass finds
// in programs that write it out. Their kernel keeps a few rows of the scores at a time.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kAttention, kAttentionGrad;

}  // namespace mycel::ops
