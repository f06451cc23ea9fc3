// The primitives of the sparse room: sums over entries (to, from, value), which are closed under
// derivatives, and the bookkeeping of indices.
#include "base/error.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"
#include "ops/sparse/sparse.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::check;
using ir::no_gradient;
using ir::TypeRuleCtx;

namespace {

bool meet(int64_t a, int64_t b) { return a == b || a == kUnknownDim || b == kUnknownDim; }

void need_vectors(TypeRuleCtx& c) {
  for (int i : {0, 1}) {
    if (c.shape(i).rank() != 1) c.fail("to and from must be vectors [nnz]");
  }
  if (!meet(c.shape(0)[0], c.shape(1)[0])) c.fail("to and from must be as many");
}

void times_type(TypeRuleCtx& c) {
  need_vectors(c);
  if (c.shape(2).rank() != 1 || !meet(c.shape(2)[0], c.shape(0)[0])) {
    c.fail("values must be a vector as long as to");
  }
  if (c.shape(3).rank() != 2) c.fail("dense must be a matrix");
  if (c.dtype(2) != c.dtype(3)) c.fail_type("values and dense must have one dtype");
  int64_t height = c.attrs.integer("height");
  if (height < 0) c.fail("height must not be negative, got {}", height);
  c.result(c.dtype(3), {height, c.shape(3)[1]});
}

void dot_type(TypeRuleCtx& c) {
  need_vectors(c);
  for (int i : {2, 3}) {
    if (c.shape(i).rank() != 2) c.fail("a and b must be matrices");
  }
  if (!meet(c.shape(2)[1], c.shape(3)[1])) c.fail("a and b must be equally wide");
  if (c.dtype(2) != c.dtype(3)) c.fail_type("a and b must have one dtype");
  c.result(c.dtype(2), {c.shape(0)[0] == kUnknownDim ? c.shape(1)[0] : c.shape(0)[0]});
}

// The sum over entries into rows of operand i: rows `to` of its gradient, from rows of `dense`.
void add_rows(Adjoint& a, int i, Value to, Value from, Value values, Value dense) {
  if (!a.wants(i)) return;
  int64_t height = a.x_type(i).shape[0];
  if (height != kUnknownDim) {
    a.dx(i) += kEntriesTimesMatrix({to, from, values, dense}, {height});
    return;
  }
  a.dx(i) +=
      kAxisScatterAdd({zeros_of(a, i), to, rows_at(dense, from) * as_column(values, 2)}, {0});
}

}  // namespace

constexpr OpDef kEntriesTimesMatrix = check({
    .name = "entries_times_matrix",
    .doc = "A sparse matrix with value k at (to[k], from[k]) times a dense one: row to[k] of the "
           "result sums values[k] dense[from[k]].",
    .in = {"to: index", "from: index", "values: number", "dense: number"},
    .attr = {"height: int"},
    .type = times_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          Value to = a.x(0), from = a.x(1), dy = a.dy();
          if (a.wants(2)) a.dx(2) += kEntriesDotRows({to, from, dy, conj_of(a.x(3))});
          add_rows(a, 3, from, to, conj_of(a.x(2)), dy);
        },
    .cases = "to[5]; to in ints(0, 2); from[5]; from in ints(0, 3); values[5]; dense[4, 3] [4, 1] "
             "[4, 40]; height = 3; bad values[4]; bad dense[4]; bad height = -1; bad from[4] | "
             "to[0]; from[0]; values[0]; dense[4, 3] | to[7]; to in sorted(0, 2); from[7]; "
             "values[7]; skip dtypes: both have one dtype; skip zero_size: the parts belong "
             "together; skip scalar: indices are vectors",
    .internal = true,
});

constexpr OpDef kEntriesDotRows = check({
    .name = "entries_dot_rows",
    .doc =
        "For each entry the product of two rows: y[k] = sum over j of a[to[k], j] b[from[k], j].",
    .in = {"to: index", "from: index", "a: number", "b: number"},
    .type = dot_type,
    .shard = "none",
    .grad =
        [](Adjoint& a) {
          Value to = a.x(0), from = a.x(1), dy = a.dy();
          add_rows(a, 2, to, from, dy, conj_of(a.x(3)));
          add_rows(a, 3, from, to, dy, conj_of(a.x(2)));
        },
    .cases =
        "to[5]; to in ints(0, 2); from[5]; from in ints(0, 3); a[3, 4]; b[4, 4]; bad a[3]; bad "
        "b[4, 5]; bad from[4] | to[0]; from[0] | a[3, 1]; b[4, 1] | a[3, 19]; b[4, 19]; skip "
        "dtypes: both have one dtype; skip zero_size: the parts belong together; skip scalar: "
        "indices are vectors",
    .internal = true,
});

constexpr OpDef kCsrRows = check({
    .name = "csr_rows",
    .doc = "The row of each of the entries that indices, the columns, belong to.",
    .in = {"indptr: index", "indices: index"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.shape(0).rank() != 1 || c.shape(0)[0] == 0) {
            c.fail("indptr must be a vector [rows + 1]");
          }
          if (c.shape(1).rank() != 1) c.fail("indices must be a vector [nnz]");
          c.result(c.dtype(0), c.shape(1));
        },
    .shard = "none",
    .grad = no_gradient("rows are counted"),
    .cases = "indptr[4]; indptr in sorted(0, 5); indices[5]; indices in ints(0, 3); bad indptr[0]; "
             "bad indices[5, 1] | indices[0] | indptr[2]; skip zero_size: there is a row pointer; "
             "skip scalar: vectors are needed",
    .internal = true,
});

constexpr OpDef kCsrPairs = check({
    .name = "csr_pairs",
    .doc =
        "The structure of the product of two CSR matrices: its row pointers and columns, and for "
        "each product of entries the place in the result, the entry of a and that of b.",
    .in = {"a_indptr: index", "a_indices: index", "b_indptr: index", "b_indices: index"},
    .attr = {"width: int"},
    .out = {"indptr", "indices", "place", "from", "to"},
    .type =
        [](TypeRuleCtx& c) {
          for (int i = 0; i < 4; ++i) {
            if (c.shape(i).rank() != 1) c.fail("row pointers and columns must be vectors");
          }
          if (c.shape(0)[0] == 0 || c.shape(2)[0] == 0) c.fail("row pointers must not be empty");
          if (c.attrs.integer("width") < 0) {
            c.fail("width must not be negative, got {}", c.attrs.integer("width"));
          }
          c.result(c.dtype(0), c.shape(0));
          c.result(c.dtype(0), {kUnknownDim});
          for (int i = 0; i < 3; ++i) c.result(DType::kInt64, {kUnknownDim});
        },
    .shard = "none",
    .grad = no_gradient("places do not change with values"),
    .cases = "a_indptr[4]; a_indptr in sorted(0, 5); a_indices[5]; a_indices in ints(0, 1); "
             "b_indptr[3]; b_indptr in sorted(0, 3); b_indices[3]; b_indices in ints(0, 3); width "
             "= 4; skip vmap: results differ in size; bad width = -1; bad a_indptr[0]; bad "
             "b_indices[3, 1] | a_indptr in {0}; a_indices[0]; skip dtypes: indices of one dtype; "
             "skip zero_size: the parts belong together; skip scalar: vectors are needed",
    .internal = true,
});

constexpr OpDef kSortedDistinct = check({
    .name = "sorted_distinct",
    .doc = "The different values in ascending order, and for each element the place of its value "
           "among them.",
    .in = {"x: int"},
    .out = {"y", "idx"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.dtype(0) != DType::kInt64) c.fail_type("the values must be int64");
          if (c.shape(0).rank() != 1) c.fail("the values must be a vector");
          c.result(DType::kInt64, {kUnknownDim});
          c.result(DType::kInt64, c.shape(0));
        },
    .shard = "none",
    .grad = no_gradient("places do not change with values"),
    .cases = "x dtypes int64; x[7]; x in ints(-2, 3); bad x[2, 2] | x[0] | x[1]; skip scalar: a "
             "vector is needed; skip zero_size: a vector is needed",
    .internal = true,
});

void register_entries() {
  ir::register_ops(
      {&kEntriesTimesMatrix, &kEntriesDotRows, &kCsrRows, &kCsrPairs, &kSortedDistinct});
}

}  // namespace mycel::ops
