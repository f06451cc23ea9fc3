// Products and sums of CSR matrices.
#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/sparse/sparse.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;

namespace {

// values[k] · dense[column of k] into the row of k. dense: a vector or a matrix.
template <int rank>
void expand_product(Expansion& e) {
  need_rank(e, 2, 1, "values must be a vector [nnz]");
  need_rank(e, 3, rank, rank == 1 ? "dense must be a vector" : "dense must be a matrix");
  auto [height, width] = matrix_shape(e, "shape");
  Value values = e.x(2), dense = e.x(3);
  if (dense.shape()[0] != width && dense.shape()[0] != kUnknownDim) {
    value_error("{}: the sparse matrix has {} columns, dense {} rows", e.op.def.name, width,
                dense.shape()[0]);
  }
  if (rank == 1) dense = kExpandDims({dense}, {-1});
  Value y = kEntriesTimesMatrix({kCsrRows({e.x(0), e.x(1)}), e.x(1), values, dense}, {height});
  e.result(rank == 1 ? kSqueeze({y}, {1}) : y);
}

// Rows and columns as entries of one matrix.
Value entries(Value rows, Value columns) {
  auto part = [](Value v) { return kExpandDims({cast_to(v, DType::kInt64)}, {-1}); };
  return kConcat({part(rows), part(columns)}, {1});
}

// Sums of equal entries as the three parts of a CSR matrix.
void result_csr(Expansion& e, Value indices, Value values, int64_t height, int64_t width,
                DType index) {
  std::vector<Value> sums =
      add_equal_entries(indices, 2, values, sizes_of(e.graph, {height, width}));
  e.result(cast_to(kCoo2csr({column(sums[0], 0)}, {height}), index));
  e.result(cast_to(column(sums[0], 1), index));
  e.result(sums[1]);
}

void need_length(const Expansion& e, int i, int64_t length) {
  const Shape& s = e.x(i).shape();
  if (s.rank() != 1 || (s[0] != length && s[0] != kUnknownDim)) {
    value_error("{}: row pointers must have shape [{}], got {}", e.op.def.name, length,
                e.x(i).type().str());
  }
}

void expand_add(Expansion& e) {
  auto [height, width] = matrix_shape(e, "shape");
  for (int i : {2, 5}) need_rank(e, i, 1, "values must be vectors [nnz]");
  for (int i : {6, 7}) need_rank(e, i, 0, "alpha and beta must be scalars");
  Value a = entries(kCsrRows({e.x(0), e.x(1)}), e.x(1)),
        b = entries(kCsrRows({e.x(3), e.x(4)}), e.x(4));
  Value values = kConcat({e.x(2) * e.x(6), e.x(5) * e.x(7)}, {0});
  result_csr(e, kConcat({a, b}, {0}), values, height, width, e.x(0).dtype());
}

// Entry (i, k) of a meets every entry (k, j) of b; products of one place add.
void expand_matmul(Expansion& e) {
  auto [height, inner] = matrix_shape(e, "a_shape");
  auto [inner_b, width] = matrix_shape(e, "b_shape");
  if (inner != inner_b) {
    value_error("csr_matmul_entries: a has {} columns, b {} rows", inner, inner_b);
  }
  for (int i : {2, 5}) need_rank(e, i, 1, "values must be vectors [nnz]");
  need_length(e, 0, height + 1);
  need_length(e, 3, inner + 1);
  std::vector<Value> pairs = all_results(kCsrPairs, {e.x(0), e.x(1), e.x(3), e.x(4)}, {width});
  Value products = rows_at(e.x(2), pairs[3]) * rows_at(e.x(5), pairs[4]);
  Value zeros = kZerosLike({pairs[1]}, {products.dtype()});
  e.result(pairs[0]);
  e.result(pairs[1]);
  e.result(kAxisScatterAdd({zeros, pairs[2], products}, {0}));
}

}  // namespace

#define CSR                                                                                       \
  "indptr[4]; indptr in sorted(0, 5); indices[5]; indices in ints(0, 3); values[5]; shape = [3, " \
  "4]; "
#define CSR_SKIPS                                                                                \
  "skip dtypes: values have one dtype; skip zero_size: the parts belong together; skip scalar: " \
  "indices are vectors"

constexpr OpDef kCsrMv = check({
    .name = "csr_times_vector",
    .doc = "The product of a CSR matrix and a dense vector.",
    .in = {"indptr: index", "indices: index", "values: number", "dense: number"},
    .attr = {"shape: int[]"},
    .shard = "none",
    .expand = expand_product<1>,
    .cases = CSR
    "dense[4]; bad dense[3]; bad dense[4, 1]; bad shape = [3] | indices[0]; values[0]; " CSR_SKIPS,
    .internal = true,
});

constexpr OpDef kCsrMm = check({
    .name = "csr_times_matrix",
    .doc = "The product of a CSR matrix and a dense one.",
    .in = {"indptr: index", "indices: index", "values: number", "dense: number"},
    .attr = {"shape: int[]"},
    .shard = "none",
    .expand = expand_product<2>,
    .cases = CSR
    "dense[4, 2] [4, 1]; bad dense[3, 2]; bad dense[4]; bad shape = [3] | indices[0]; "
    "values[0]; " CSR_SKIPS,
    .internal = true,
});

constexpr OpDef kCsrAdd = check({
    .name = "csr_add_entries",
    .doc = "alpha a + beta b of two CSR matrices of one shape: row pointers, columns, values.",
    .in = {"a_indptr: index", "a_indices: index", "a_values: number", "b_indptr: index",
           "b_indices: index", "b_values: number", "alpha: number", "beta: number"},
    .attr = {"shape: int[]"},
    .out = {"indptr", "indices", "values"},
    .shard = "none",
    .expand = expand_add,
    .cases = "a_indptr[4]; a_indptr in sorted(0, 5); a_indices[5]; a_indices in ints(0, 3); "
             "a_values[5]; b_indptr[4]; b_indptr in sorted(0, 3); b_indices[3]; b_indices in "
             "ints(0, 3); b_values[3]; alpha[]; beta[]; shape = [3, 4]; bad shape = [3]; bad "
             "alpha[2] | b_indices[0]; b_values[0]; " CSR_SKIPS,
    .internal = true,
});

constexpr OpDef kCsrMatmul = check({
    .name = "csr_matmul_entries",
    .doc = "The product of two CSR matrices: row pointers, columns, values.",
    .in = {"a_indptr: index", "a_indices: index", "a_values: number", "b_indptr: index",
           "b_indices: index", "b_values: number"},
    .attr = {"a_shape: int[]", "b_shape: int[]"},
    .out = {"indptr", "indices", "values"},
    .shard = "none",
    .expand = expand_matmul,
    .cases =
        "a_indptr[4]; a_indptr in sorted(0, 5); a_indices[5]; a_indices in ints(0, 1); "
        "a_values[5]; b_indptr[3]; b_indptr in sorted(0, 3); b_indices[3]; b_indices in "
        "ints(0, 3); b_values[3]; skip vmap: results differ in size; a_shape = [3, 2]; b_shape "
        "= [2, 4]; bad b_shape = [3, 4]; bad a_shape = [3]; bad b_indptr[4] | a_indptr in {0}; "
        "a_indices[0]; a_values[0]; " CSR_SKIPS,
    .internal = true,
});

void register_csr_products() { ir::register_ops({&kCsrMv, &kCsrMm, &kCsrAdd, &kCsrMatmul}); }

}  // namespace mycel::ops
