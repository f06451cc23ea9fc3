// The handful of ops that transforms themselves emit (adding gradients, undoing a broadcast,
// literals). ops/all_ops.cc fills the table, so that no transform names an op.
#pragma once

#include "ir/op.h"

namespace mycel::ir {

struct CoreOps {
  const Op* constant = nullptr;      // () -> tensor; attr value: tensor
  const Op* full = nullptr;          // () -> tensor; attrs value: float, shape: int[], dtype
  const Op* cast = nullptr;          // x -> y; attr dtype
  const Op* add = nullptr;           // x, y
  const Op* negative = nullptr;      // x
  const Op* sum_to = nullptr;        // x -> x summed back to attr shape: int[]
  const Op* broadcast_to = nullptr;  // x; attr shape
  const Op* zeros_like = nullptr;    // x (value unused)
  const Op* fused = nullptr;         // *x; attr body: graph of elementwise ops
};
const CoreOps& core_ops();
void set_core_ops(const CoreOps& ops);

}  // namespace mycel::ir
