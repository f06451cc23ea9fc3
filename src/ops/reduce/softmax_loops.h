// The loop nests of softmax and its gradients: each one pass over a row that stays in cache. A row
// is one line along the axis; where the axis is not the last one, a block of neighbouring lines is
// walked at once.
#pragma once

#include "ir/loop_rule.h"

namespace mycel::ops {

// (x) -> softmax or log_softmax of x along attribute `axis`.
void softmax_loops(ir::LoopCtx& c);
void log_softmax_loops(ir::LoopCtx& c);
// (y, dy) -> dx: y * (dy - sum(y * dy)), and dy - exp(y) * sum(dy).
void softmax_grad_loops(ir::LoopCtx& c);
void log_softmax_grad_loops(ir::LoopCtx& c);

}  // namespace mycel::ops
