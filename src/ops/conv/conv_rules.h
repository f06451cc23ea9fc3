// Type, gradient and loop rules that the convolution records of every rank share.
#pragma once

#include "ir/adjoint.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/conv/geometry.h"

namespace mycel::ops {

// Rank of the convolution is that of its record: 1, 2 or 3 spatial dims.
void conv_type(ir::TypeRuleCtx& c, int rank);
void conv_grad(ir::Adjoint& a);
void conv_loops(ir::LoopCtx& c);

// The gradients, of any rank.
void conv_dx_type(ir::TypeRuleCtx& c);
void conv_dx_grad(ir::Adjoint& a);
void conv_dx_loops(ir::LoopCtx& c);
void conv_dw_type(ir::TypeRuleCtx& c);
void conv_dw_grad(ir::Adjoint& a);
void conv_dw_loops(ir::LoopCtx& c);

}  // namespace mycel::ops
