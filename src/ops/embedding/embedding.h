// Embedding room: look-ups in tables of vectors. Their gradient is the deterministic scatter add of
// the index room.
#pragma once

#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;

extern const OpDef kEmbedding, kEmbeddingLookup;

}  // namespace mycel::ops
