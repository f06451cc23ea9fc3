// The reduce room: sums, extremes, norms, scans, softmax. Axes are `int[]` attributes (empty: all axes,
// negative count from the end) or one `int`; reductions of several axes are one kernel.
#pragma once

#include <vector>

#include "ir/adjoint.h"
#include "ir/op_def.h"
#include "ir/type_rule.h"

namespace mycel::ops {

using ir::OpDef;
using ir::Value;

// Attributes: axis (int[]), keep_dims.
extern const OpDef kReduceSum, kReduceMean, kReduceMax, kReduceMin, kReduceProd, kReduceAll, kReduceAny;
extern const OpDef kReduceSumSquare;  // sum of |x|^2
// Summed back to attr shape: the inverse of a broadcast.
extern const OpDef kSumTo;

// Attributes: axis (int).
extern const OpDef kSoftmax, kLogSoftmax, kCumsum, kCumprod;
// The index of the largest / smallest element; attributes: axis (int), keep_dims, dtype.
extern const OpDef kArgmaxAxis, kArgminAxis;
extern const OpDef kLogsumexp;

// -- for rules of this and other rooms ---------------------------------------------------------------
// Axis values to positions in [0, rank), sorted; every axis when empty. ValueError naming `op` for one out of
// range or given twice.
std::vector<int> reduced_axes(const std::vector<int64_t>& axis, int rank, const std::string& op);
// The shape after the reduction.
Shape reduced_shape(const Shape& s, const std::vector<int>& axes, bool keep_dims);
// The standard type rule: attributes `axis` and `keep_dims`, dtype of operand 0.
void reduce_type(ir::TypeRuleCtx& c);
// A value of the reduced shape with the axes of length 1 put back, so that it broadcasts against the operand.
Value with_axes(Value reduced, const std::vector<int>& axes, int operand_rank);
// `v` broadcast to the type of operand 0 of the rule's node (its value is touched only when its shape is
// not known).
Value spread(ir::Adjoint& a, Value v);

}  // namespace mycel::ops
