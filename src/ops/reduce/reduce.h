// The reduce room: sums, extremes, norms, scans, softmax. Axes are `int[]` attributes (empty: all
// axes, negative count from the end) or one `int`; reductions of several axes are one kernel.
#pragma once

#include <vector>

#include "ir/adjoint.h"
#include "ir/loop_rule.h"
#include "ir/op_def.h"
#include "ir/type_rule.h"

namespace mycel::ops {

using ir::OpDef;
using ir::Value;

// Attributes: axis (int[] or None), keep_dims.
extern const OpDef kReduceSum, kReduceMean, kReduceMax, kReduceMin, kReduceProd, kReduceAll,
    kReduceAny;
extern const OpDef kReduceSumSquare, kEuclideanNorm;
extern const OpDef kLogsumexp, kCountNonzero;
extern const OpDef kVar, kStd;  // axis, ddof, keepdims
// Summed back to attr shape: the inverse of a broadcast.
extern const OpDef kSumTo;

extern const OpDef kSoftmax, kLogSoftmax;  // axis, dtype
extern const OpDef kCumsum, kCumprod;      // axis, dtype, exclusive, reverse
// h[i] = b[i] + a[i] h[i-1] along axis; see scans.op.cc.
extern const OpDef kLinearScan;
// Index of the largest / smallest element; axis, output_type, keep_dims.
extern const OpDef kArgmaxAxis, kArgminAxis;
// Index and value; axis, keep_dims.
extern const OpDef kArgmaxWithValue, kArgminWithValue;

// -- for rules of this and other rooms
// --------------------------------------------------------------- Axis values to positions in [0,
// rank), sorted; every axis when empty. ValueError naming `op` for one out of range or given twice.
std::vector<int> reduced_axes(const std::vector<int64_t>& axis, int rank, const std::string& op);
// The `axis` attribute; None is every axis.
std::vector<int64_t> axis_attr(const ir::AttrsView& attrs);
// The reduced axes of operand 0, from attribute `axis`.
std::vector<int> axes_of(ir::LoopCtx& c);
std::vector<int> axes_of(ir::Adjoint& a);
// Number of elements along the axes, or kUnknownDim.
int64_t reduced_count(const Shape& s, const std::vector<int>& axes);
// The same as a value of v's dtype that broadcasts (0-d where the sizes are known).
Value reduced_count(Value v, const std::vector<int>& axes);
// The shape after the reduction.
Shape reduced_shape(const Shape& s, const std::vector<int>& axes, bool keep_dims);
// The standard type rule: attributes `axis` and `keep_dims`, dtype of operand 0.
void reduce_type(ir::TypeRuleCtx& c);
// A value of the reduced shape with the axes of length 1 put back, so that it broadcasts against
// the operand.
Value with_axes(Value reduced, const std::vector<int>& axes, int operand_rank);
// `v` broadcast to the type of operand 0 of the rule's node (its value is touched only when its
// shape is not known).
Value spread(ir::Adjoint& a, Value v);

}  // namespace mycel::ops
