// CSR matrices: between the three forms, reductions, softmax, elementwise with dense tensors.
#include "base/error.h"
#include "ops/control/control.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/sparse/sparse.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;

namespace {

void expand_csr2coo(Expansion& e) {
  int64_t nnz = e.attrs.integer("nnz");
  if (nnz < 0) value_error("csr2coo: nnz must not be negative, got {}", nnz);
  e.result(kCsrRows({e.x(0), filled(e.graph, 0, {nnz}, DType::kInt64)}));
}

void expand_coo2csr(Expansion& e) {
  need_rank(e, 0, 1, "row_indices must be a vector [nnz]");
  int64_t height = e.attrs.integer("height");
  if (height < 0) value_error("coo2csr: height must not be negative, got {}", height);
  Value ones = kOnesLike({e.x(0)}, {DType::kInt64});
  Value counts = kUnsortedSegmentSum({ones, e.x(0)}, {height});
  Value zero = filled(e.graph, 0, {1}, DType::kInt64);
  e.result(cast_to(kConcat({zero, kCumsum({counts}, {0})}, {0}), e.x(0).dtype()));
}

// Rows and columns of the entries as index tuples.
Value tuples(Value indptr, Value indices) {
  Value rows = kCsrRows({indptr, indices});
  return kConcat({kExpandDims({cast_to(rows, DType::kInt64)}, {-1}),
                  kExpandDims({cast_to(indices, DType::kInt64)}, {-1})},
                 {1});
}

void expand_gather(Expansion& e) {
  matrix_shape(e, "sparse_shape");
  Value dense = e.x(2);
  const auto& s = e.attrs.ints("sparse_shape");
  if (dense.rank() < 2) {
    value_error("csr_gather: dense must have 2 dims or more, got {}", dense.type().str());
  }
  for (int d : {0, 1}) {
    if (dense.shape()[d] != s[d] && dense.shape()[d] != kUnknownDim) {
      value_error("csr_gather: dense must begin with the dims {}, got {}",
                  e.attrs["sparse_shape"].str(), dense.type().str());
    }
  }
  e.result(kGatherNd({dense, tuples(e.x(0), e.x(1))}));
}

void expand_to_dense(Expansion& e) {
  e.result(kScatterNd({tuples(e.x(0), e.x(1)), e.x(2)}, {e.attrs["shape"]}));
}

void expand_reduce_sum(Expansion& e) {
  const auto& shape = e.attrs.ints("shape");
  if (shape.size() < 2) {
    value_error("csr_reduce_sum: shape must have 2 dims or more, got {}", e.attrs["shape"].str());
  }
  int axis =
      normalize_axis(e.attrs.integer("axis"), static_cast<int>(shape.size()), "csr_reduce_sum");
  if (axis > 1) {
    value_error("csr_reduce_sum: axis must be one of the two sparse dims, got {}", axis);
  }
  Value to = axis == 1 ? kCsrRows({e.x(0), e.x(1)}) : e.x(1);
  e.result(kExpandDims({kUnsortedSegmentSum({e.x(2), to}, {shape[1 - axis]})}, {axis}));
}

// Softmax over the entries of each row; what is absent counts as minus infinity.
void expand_softmax(Expansion& e) {
  need_rank(e, 2, 1, "values must be a vector [nnz]");
  auto [height, width] = matrix_shape(e, "shape");
  Value rows = kCsrRows({e.x(0), e.x(1)}), x = e.x(2);
  Value top = kUnsortedSegmentMax({kStopGradient({x}), rows}, {height});
  Value weight = kExp({x - rows_at(top, rows)});
  e.result(weight / rows_at(kUnsortedSegmentSum({weight, rows}, {height}), rows));
}

}  // namespace

#define CSR "indptr[4]; indptr in sorted(0, 5); indices[5]; indices in ints(0, 3); "
#define CSR_SKIPS                                                                               \
  "skip dtypes: indices of one dtype; skip zero_size: the parts belong together; skip scalar: " \
  "indices are vectors"

constexpr OpDef kCsr2coo = check({
    .name = "csr2coo",
    .doc = "The row of each of nnz entries, from row pointers.",
    .in = {"indptr: index"},
    .attr = {"nnz: int"},
    .shard = "none",
    .expand = expand_csr2coo,
    .cases =
        "indptr[4]; indptr in sorted(0, 5); nnz = 5 0; bad nnz = -1; bad indptr[0]; " CSR_SKIPS,
});

constexpr OpDef kCoo2csr = check({
    .name = "coo2csr",
    .doc = "Row pointers [height + 1] from the row of each entry: running counts, beginning at 0.",
    .in = {"row_indices: index"},
    .attr = {"height: int"},
    .shard = "none",
    .expand = expand_coo2csr,
    .cases = "row_indices[5]; row_indices in ints(0, 2); height = 3 4; bad height = -1; bad "
             "row_indices[5, 1] | row_indices[0]; " CSR_SKIPS,
});

constexpr OpDef kCsrGather = check({
    .name = "csr_gather",
    .doc = "Of a dense tensor the elements (or slices of the dims behind the first two) at the "
           "entries of a CSR matrix.",
    .in = {"indptr: index", "indices: index", "dense: any"},
    .attr = {"sparse_shape: int[]"},
    .shard = "none",
    .expand = expand_gather,
    .cases = CSR
    "dense[3, 4] [3, 4, 2]; sparse_shape = [3, 4]; bad dense[4, 3]; bad sparse_shape "
    "= [3] | indices[0]; " CSR_SKIPS,
});

constexpr OpDef kCsrToDense = check({
    .name = "csr_to_dense_entries",
    .doc = "The dense tensor of a CSR one: values added at their places to zeros.",
    .in = {"indptr: index", "indices: index", "values: number"},
    .attr = {"shape: int[]"},
    .shard = "none",
    .expand = expand_to_dense,
    .cases = CSR
    "values[5]; shape = [3, 4]; bad values[4]; bad shape = [3] | values[5, 2]; shape "
    "= [3, 4, 2] | indices[0]; values[0]; " CSR_SKIPS,
    .internal = true,
});

constexpr OpDef kCsrReduceSum =
    check({
        .name = "csr_sum_entries",
        .doc = "Sums of a CSR tensor over its rows (axis 0) or columns (axis 1), as a dense tensor "
               "that keeps the axis.",
        .in = {"indptr: index", "indices: index", "values: number"},
        .attr = {"shape: int[]", "axis: int"},
        .shard = "none",
        .expand = expand_reduce_sum,
        .cases = CSR "values[5]; shape = [3, 4]; axis = 0 1 -1; bad axis = 2; bad shape = [3] | "
                     "values[5, 2]; shape = [3, 4, 2]; axis = 0 1; bad axis = -1 | indices[0]; "
                     "values[0]; " CSR_SKIPS,
        .internal = true,
    });

constexpr OpDef kCsrSoftmax = check({
    .name = "csr_softmax_entries",
    .doc = "The values of the softmax over the entries of each row of a CSR matrix.",
    .in = {"indptr: index", "indices: index", "values: float"},
    .attr = {"shape: int[]"},
    .shard = "none",
    .expand = expand_softmax,
    .cases = CSR "values[5]; shape = [3, 4]; bad shape = [3] | indices[0]; values[0]; " CSR_SKIPS,
    .internal = true,
});

void register_csr() {
  ir::register_ops({&kCsr2coo, &kCoo2csr, &kCsrGather, &kCsrToDense, &kCsrReduceSum, &kCsrSoftmax});
}

}  // namespace mycel::ops
