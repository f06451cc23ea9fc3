// COO tensors: to dense, products and sums with dense tensors, cuts.
#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/matmul/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/sparse/sparse.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;

namespace {

void expand_to_dense(Expansion& e) {
  need_rank(e, 0, 2, "indices must be a matrix [nnz, rank]");
  e.result(kScatterNd({e.x(0), e.x(1)}, {e.attrs["dense_shape"]}));
}

void expand_add_dense(Expansion& e) {
  need_rank(e, 0, 2, "x1_indices must be a matrix [nnz, rank]");
  Value dense = e.x(2);
  if (dense.shape().known() && !(dense.shape() == Shape(e.attrs.ints("x1_shape")))) {
    value_error("sparse_tensor_dense_add: x2 must have the shape {} of the sparse tensor, got {}",
                e.attrs["x1_shape"].str(), dense.type().str());
  }
  if (e.x(1).dtype() != dense.dtype()) {
    type_error("sparse_tensor_dense_add: x1_values must have the dtype of x2, {}, got {}",
               name_of(dense.dtype()), name_of(e.x(1).dtype()));
  }
  e.result(kTensorScatterAdd({dense, e.x(0), e.x(1)}));
}

// Sum over entries (i, j, v) of v · dense[j] into row i.
void expand_matmul(Expansion& e) {
  need_rank(e, 0, 2, "indices must be a matrix [nnz, 2]");
  need_rank(e, 1, 1, "values must be a vector [nnz]");
  need_rank(e, 2, 2, "dense must be a matrix");
  bool turned = e.attrs.boolean("adjoint_st");
  auto [rows, columns] = matrix_shape(e, "sparse_shape");
  Value from = column(e.x(0), turned ? 0 : 1), to = column(e.x(0), turned ? 1 : 0);
  Value values = turned ? conj_of(e.x(1)) : e.x(1), dense = e.x(2);
  if (e.attrs.boolean("adjoint_dt")) dense = conj_of(kSwapaxes({dense}, {0, 1}));
  if (turned) std::swap(rows, columns);
  if (dense.shape()[0] != columns && dense.shape()[0] != kUnknownDim) {
    value_error(
        "sparse_tensor_dense_matmul: the sparse operand has {} columns, the dense one {} "
        "rows",
        columns, dense.shape()[0]);
  }
  if (values.dtype() != dense.dtype()) {
    type_error("sparse_tensor_dense_matmul: values and dense must have one dtype, got {} and {}",
               name_of(values.dtype()), name_of(dense.dtype()));
  }
  e.result(kEntriesTimesMatrix({to, from, values, dense}, {rows}));
}

void expand_slice(Expansion& e) {
  need_rank(e, 0, 2, "indices must be a matrix [nnz, rank]");
  for (int i : {2, 3, 4}) need_rank(e, i, 1, "shape, start and size must be vectors");
  Value indices = e.x(0), kind = indices;
  auto row = [&](int i) { return kExpandDims({cast_to(e.x(i), kind.dtype())}, {0}); };
  Value shape = row(2), start = row(3), size = row(4), end = start + size;
  Value in =
      kReduceAll({kLogicalAnd({kGreaterEqual({indices, start}), kLess({indices, end})})}, {1});
  Value kept = kRavel({kNonzero({in})});
  e.result(rows_at(indices, kept) - start);
  e.result(rows_at(e.x(1), kept));
  Value rest = kMinimum({size, shape - start});
  e.result(cast_to(kRavel({kMaximum({rest, kZerosLike({rest})})}), DType::kInt64));
}

}  // namespace

constexpr OpDef kSparseToDense = check({
    .name = "sparse_to_dense",
    .doc = "The dense tensor of a COO tensor: values added at their indices [nnz, rank] to zeros "
           "of dense_shape.",
    .in = {"indices: index", "values: number"},
    .attr = {"dense_shape: int[]"},
    .shard = "none",
    .expand = expand_to_dense,
    .cases = "indices[5, 2]; indices in ints(0, 2); values[5]; dense_shape = [3, 4]; bad "
             "indices[5]; bad values[4]; bad dense_shape = [3] | indices[0, 2]; values[0]; skip "
             "zero_size: the shape is given; skip scalar: indices are rows",
    .primitive = "SparseToDense",
});

constexpr OpDef kSparseTensorDenseAdd = check({
    .name = "sparse_tensor_dense_add",
    .doc = "x2 with the values of a COO tensor of its shape added at their indices [nnz, rank].",
    .in = {"x1_indices: index", "x1_values: number", "x2: number"},
    .attr = {"x1_shape: int[]"},
    .shard = "none",
    .expand = expand_add_dense,
    .cases = "x1_indices[5, 2]; x1_indices in ints(0, 2); x1_values[5]; x2[3, 4]; x1_shape = [3, "
             "4]; bad x2[4, 4]; bad x1_indices[5] | x1_indices[0, 2]; x1_values[0]; skip dtypes: "
             "both have one dtype; skip zero_size: the shape is given; skip scalar: indices are "
             "rows",
});

constexpr OpDef kSparseTensorDenseMatmul = check({
    .name = "sparse_tensor_dense_matmul",
    .doc = "The product of a COO matrix (indices [nnz, 2], values [nnz], sparse_shape) and a dense "
           "one; the adjoint of either is taken when asked.",
    .in = {"indices: index", "values: number", "dense: number"},
    .attr = {"sparse_shape: int[]", "adjoint_st: bool = False", "adjoint_dt: bool = False"},
    .shard = "none",
    .expand = expand_matmul,
    .cases =
        "indices[5, 2]; indices in ints(0, 2); values[5]; dense[4, 2]; sparse_shape = [3, 4]; "
        "adjoint_st = False; adjoint_dt = False; bad dense[3, 2]; bad indices[5, 3] values[4]; "
        "bad sparse_shape = [3] | dense[3, 2]; adjoint_st = True | dense[2, 4]; adjoint_dt = "
        "True | dense[2, 3]; adjoint_st = True; adjoint_dt = True | indices[0, 2]; values[0]; "
        "skip dtypes: both have one dtype; skip zero_size: the shape is given; skip scalar: "
        "indices are rows",
});

constexpr OpDef kSparseSlice = check({
    .name = "sparse_slice",
    .doc = "The entries of a COO tensor inside a box from start of extent size, which ends where "
           "the tensor does: indices counted from start, values, and the box's shape.",
    .in = {"indices: index", "values: number", "shape: index", "start: index", "size: index"},
    .out = {"y_indices", "y_values", "y_shape"},
    .shard = "none",
    .expand = expand_slice,
    .cases = "indices[7, 2]; indices in ints(0, 3); values[7]; shape[2]; shape in {4}; start[2]; "
             "start in ints(0, 1); size[2]; size in ints(1, 3); bad indices[7]; bad start[]; skip "
             "dtypes: indices of one dtype; skip zero_size: the parts belong together; skip "
             "scalar: indices are rows",
    .primitive = "SparseSlice",
});

void register_coo() {
  ir::register_ops(
      {&kSparseToDense, &kSparseTensorDenseAdd, &kSparseTensorDenseMatmul, &kSparseSlice});
}

}  // namespace mycel::ops
