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
  const Op* joined = nullptr;        // *x; attr body: graph of one op and elementwise ones after it
  // Control flow (ops/control/control.h says what they take).
  const Op* cond = nullptr;
  const Op* while_loop = nullptr;
  const Op* call = nullptr;
  const Op* stack_new = nullptr;        // () -> stack; attrs dtype, shape: int[], lanes
  const Op* stack_add = nullptr;        // two stacks of gradients
  const Op* stack_push = nullptr;       // stack, x, mask? -> stack
  const Op* stack_pop = nullptr;        // stack, mask? -> stack, x
  const Op* stack_from_rows = nullptr;  // x -> stack of x[i], x[0] on top
  const Op* stack_to_rows = nullptr;    // stack -> the elements as rows, in the order of pushing
  // Shape work of batching.
  const Op* reshape = nullptr;    // x; attr shape
  const Op* transpose = nullptr;  // x; attr input_perm
  const Op* select = nullptr;     // condition, x, y
  const Op* logical_and = nullptr;
  const Op* reduce_any = nullptr;  // x; attr axis
};
const CoreOps& core_ops();
void set_core_ops(const CoreOps& ops);

}  // namespace mycel::ir
