// Sums of COO tensors: entries of equal indices become one.
#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"
#include "ops/sparse/sparse.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;

namespace {

void expand_coalesce(Expansion& e) {
  need_rank(e, 0, 2, "x_indices must be a matrix [rank, nnz]");
  need_rank(e, 1, 1, "x_values must be a vector [nnz]");
  need_rank(e, 2, 1, "x_shape must be a vector [rank]");
  int64_t rank = e.x(0).shape()[0];
  if (rank == kUnknownDim || rank < 1) {
    value_error("coalesce: x_indices must have a known number of rows, got {}",
                e.x(0).type().str());
  }
  if (e.x(2).shape().known() && e.x(2).shape()[0] != rank) {
    value_error("coalesce: x_shape must have {} entries, got {}", rank, e.x(2).type().str());
  }
  std::vector<Value> sums =
      add_equal_entries(kSwapaxes({e.x(0)}, {0, 1}), static_cast<int>(rank), e.x(1), e.x(2));
  e.result(kSwapaxes({sums[0]}, {0, 1}));
  e.result(sums[1]);
  e.result(e.x(2));
}

void expand_coo_add(Expansion& e) {
  need_rank(e, 0, 2, "indices must be matrices [nnz, rank]");
  need_rank(e, 2, 2, "indices must be matrices [nnz, rank]");
  need_rank(e, 1, 1, "values must be vectors [nnz]");
  need_rank(e, 3, 1, "values must be vectors [nnz]");
  need_rank(e, 4, 0, "thresh must be a scalar");
  int rank = static_cast<int>(e.attrs.ints("shape").size());
  for (int i : {0, 2}) {
    if (e.x(i).shape()[1] != rank && e.x(i).shape()[1] != kUnknownDim) {
      value_error("coo_add: indices must have {} columns, got {}", rank, e.x(i).type().str());
    }
  }
  Value indices = kConcat({e.x(0), e.x(2)}, {0}), values = kConcat({e.x(1), e.x(3)}, {0});
  std::vector<Value> sums =
      add_equal_entries(indices, rank, values, sizes_of(e.graph, e.attrs.ints("shape")));
  Value kept = kRavel({kNonzero({kGreaterEqual({kAbs({sums[1]}), e.x(4)})})});
  e.result(rows_at(sums[0], kept));
  e.result(rows_at(sums[1], kept));
}

}  // namespace

constexpr OpDef kCoalesce = check({
    .name = "coalesce",
    .doc = "A COO tensor (here indices [rank, nnz], one column per entry) with entries of equal "
           "indices added and the indices in ascending order: indices, values, and x_shape.",
    .in = {"x_indices: index", "x_values: number", "x_shape: index"},
    .out = {"y_indices", "y_values", "y_shape"},
    .shard = "none",
    .expand = expand_coalesce,
    .cases =
        "x_indices[2, 7]; x_indices in ints(0, 2); x_values[7]; x_shape[2]; x_shape in {3}; "
        "bad x_indices[7]; bad x_shape[3]; bad x_values[7, 2] | x_indices[2, 0]; x_values[0] | "
        "x_indices[1, 4]; x_values[4]; x_shape[1]; skip dtypes: indices of one dtype; skip "
        "zero_size: the parts belong together; skip scalar: indices are columns",
    .primitive = "Coalesce",
});

constexpr OpDef kCooAdd = check({
    .name = "coo_add_entries",
    .doc = "The entries of the sum of two COO tensors of this shape, in ascending order of "
           "indices; those of absolute value below thresh are left out.",
    .in = {"x1_indices: index", "x1_values: number", "x2_indices: index", "x2_values: number",
           "thresh: real"},
    .attr = {"shape: int[]"},
    .out = {"indices", "values"},
    .shard = "none",
    .expand = expand_coo_add,
    .cases = "x1_indices[5, 2]; x1_indices in ints(0, 2); x1_values[5]; x1_values in (0.5, 2); "
             "x2_indices[3, 2]; x2_indices in ints(0, 2); x2_values[3]; x2_values in (0.5, 2); "
             "thresh[]; thresh in {0.25}; shape = [3, 3]; bad shape = [3]; bad x1_indices[5]; bad "
             "thresh[2] | x1_indices[0, 2]; x1_values[0]; skip dtypes: both have one dtype; skip "
             "zero_size: the parts belong together; skip scalar: indices are rows",
    .internal = true,
});

void register_coo_sums() { ir::register_ops({&kCoalesce, &kCooAdd}); }

}  // namespace mycel::ops
