// Uses of ops for random programs, drawn from the cases of their records (op_cases.h): every op
// that computes something from its operands alone can come up.
#pragma once

#include "base/random.h"
#include "ir/op.h"
#include "tensor/tensor.h"

namespace mycel::graph_checks {

struct Use {
  struct Operand {
    Tensor one, other;  // two values that the op takes; empty where the operand is absent
    bool any = false;   // it takes every value of that type
  };
  const ir::Op* op = nullptr;
  ir::Attrs attrs;
  std::vector<Operand> operands;
};

Use draw_use(Philox& draw, bool with_16_bit);
// An op with a formula for operands of this dtype, or null when none was found in a few tries.
const ir::Op* draw_formula(Philox& draw, DType dtype);

}  // namespace mycel::graph_checks
