// Type, gradient and loop rules of the pooling records.
#pragma once

#include "ir/adjoint.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/pool/pool_loops.h"
#include "ops/pool/window.h"

namespace mycel::ops {

// `rank` spatial dims; 0: that of the operand.
void max_pool_type(ir::TypeRuleCtx& c, int rank);
void max_pool_grad(ir::Adjoint& a);
void max_pool_loops(ir::LoopCtx& c);
void max_pool_argmax_type(ir::TypeRuleCtx& c);
void max_gather_type(ir::TypeRuleCtx& c);
void max_gather_grad(ir::Adjoint& a);
void max_gather_loops(ir::LoopCtx& c);
void max_scatter_type(ir::TypeRuleCtx& c);
void max_scatter_grad(ir::Adjoint& a);
void max_scatter_loops(ir::LoopCtx& c);

void avg_pool_type(ir::TypeRuleCtx& c, int rank);
void avg_pool_grad(ir::Adjoint& a);
void avg_pool_loops(ir::LoopCtx& c);
void avg_dx_type(ir::TypeRuleCtx& c);
void avg_dx_grad(ir::Adjoint& a);
void avg_dx_loops(ir::LoopCtx& c);
Divisor divisor_of(const ir::AttrsView& attrs);

// Adaptive: attribute output_size, -1 keeps a size.
void adaptive_type(ir::TypeRuleCtx& c, int rank);
void adaptive_max_grad(ir::Adjoint& a);
void adaptive_max_loops(ir::LoopCtx& c);
void adaptive_avg_grad(ir::Adjoint& a);
void adaptive_avg_loops(ir::LoopCtx& c);

}  // namespace mycel::ops
