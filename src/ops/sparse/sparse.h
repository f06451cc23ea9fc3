// The sparse room: ops on the parts of sparse tensors. A COO tensor is indices [nnz, rank] beside
// values [nnz, …]; a CSR matrix is row pointers [rows + 1], column indices [nnz] and values
// [nnz, …]. Sizes of the dense tensor are attributes. All ops are composed of gathers, scatters and
// the primitives of entries.op.cc: gradients flow through values and dense operands, to every
// order.
#pragma once

#include "ir/expansion.h"
#include "ir/op_def.h"

namespace mycel::ops {

using ir::OpDef;
using ir::Value;

// coo.op.cc
extern const OpDef kSparseToDense, kCoalesce;
// csr.op.cc
extern const OpDef kCoo2csr;
// entries.op.cc: what the others are made of
extern const OpDef kEntriesTimesMatrix, kEntriesDotRows, kCsrRows, kCsrPairs, kSortedDistinct;

void register_coo();
void register_coo_sums();
void register_csr();
void register_csr_products();
void register_entries();
void register_segments_of_gathers();

// Column d of a matrix, as a vector.
Value column(Value matrix, int d);
// [n] as [n, 1, …] beside a value of that many dims.
Value as_column(Value v, int rank);
// 0, 1, 2, … as many as v has elements; v may be of unknown length.
Value places(Value v);
// Rows of x at index.
Value rows_at(Value x, Value index);
// Checks one operand's rank; `what` is "indices must be a matrix [nnz, 2]".
void need_rank(const ir::Expansion& e, int i, int rank, const char* what);
// The attribute as the sizes of a matrix.
std::pair<int64_t, int64_t> matrix_shape(const ir::Expansion& e, const char* attr);
// Entries [nnz, rank] with equal indices added: indices in ascending order, values. sizes: one per
// dim, a tensor.
std::vector<Value> add_equal_entries(Value indices, int rank, Value values, Value sizes);
Value sizes_of(ir::Graph& g, const std::vector<int64_t>& shape);

}  // namespace mycel::ops
