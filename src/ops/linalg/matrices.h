// What the records of this room share: type rules of stacks of matrices, and matrix algebra on
// values that reads as on paper.
#pragma once

#include "ir/expansion.h"
#include "ir/graph.h"
#include "ir/type_rule.h"

namespace mycel::ops {

using ir::Value;

// -- type rules: operand i must be [..., m, n] (n by n) in one of the four dtypes.
void need_matrix(ir::TypeRuleCtx& c, int i = 0);
void need_square(ir::TypeRuleCtx& c, int i = 0);
// The same for composites, which name the op themselves.
void need_matrix(const ir::Expansion& e, int i = 0);
void need_square(const ir::Expansion& e, int i = 0);
// The shape of operand i without its last `drop` dims, followed by `dims`.
Shape behind_batch(const Shape& s, int drop, std::initializer_list<int64_t> dims);
// min(m, n), unknown when one of them is.
int64_t shorter(int64_t m, int64_t n);
// [..., n, n] and [..., n, k] give [..., n, k]; batch dims broadcast, dtypes are equal.
void solution_type(ir::TypeRuleCtx& c);

// -- algebra
Value mm(Value a, Value b);
Value adjoint_of(Value a);  // the conjugate transpose
Value hermitian_part(Value a);
Value lower_part(Value a, int64_t last = 0);
Value upper_part(Value a, int64_t first = 0);
// The diagonal of each matrix, zero elsewhere; of complex matrices its real part.
Value real_diagonal(Value a);
Value identity_like(Value a);
// The gradient of an op that reads the lower triangle of a Hermitian matrix alone, from the one
// with respect to the whole matrix.
Value onto_lower(Value gradient);
Value scaled_columns(Value a, Value scale);  // a diag(scale)
Value scaled_rows(Value scale, Value a);     // diag(scale) a
// 1 / (w[j] - w[i]) at [i, j], and 0 where they are equal.
Value gap_reciprocals(Value w);
// Rows (columns) [start, start + length) of each matrix.
Value rows_of(Value a, int64_t start, int64_t length);
Value columns_of(Value a, int64_t start, int64_t length);
// Row i of the result is row order[i] of a, one order per matrix.
Value ordered_rows(Value a, Value order);
// The size of a dim from the end; ValueError naming `op` when it is not known.
int64_t known_size(Value a, int dim, const char* op);

}  // namespace mycel::ops
