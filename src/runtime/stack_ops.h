// The ops on stacks (ops/control/stack.op.cc) on concrete tensors. Plans run pushes and pops in
// place; this is the way of the dispatcher.
#pragma once

#include <span>

#include "ir/op.h"
#include "tensor/tensor.h"

namespace mycel::runtime {

// True for the ops of stack.op.cc.
bool is_stack_op(const ir::Op& op);
Tensors run_stack_op(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs);

}  // namespace mycel::runtime
