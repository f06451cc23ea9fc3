// Sparse tensors for C++ programs: their parts as tensors with the shape of the dense tensor, and
// the products and sums of the sparse room's ops. All of it can be traced, differentiated with
// respect to values and dense operands, and compiled like other tensors.
//
//   CsrMatrix a = to_csr(dense);
//   Tensor y = a.mm(x);
#pragma once

#include "tensor/tensor.h"

namespace mycel::nn {

struct CsrMatrix;

// values[k] stands at indices[k]; entries of equal indices add.
struct CooTensor {
  Tensor indices;  // int32 or int64 [nnz, rank]
  Tensor values;   // [nnz]
  Shape shape;

  Tensor to_dense() const;
  // Entries of equal indices added, in ascending order.
  CooTensor coalesce() const;
  // Of a matrix; entries in the order of rows.
  CsrMatrix to_csr() const;
  // The product of this matrix and a dense one, with the adjoint of this when asked.
  Tensor mm(const Tensor& dense, bool adjoint = false) const;
};

// Entries indptr[i] to indptr[i + 1] - 1 belong to row i.
struct CsrMatrix {
  Tensor indptr;   // int32 or int64 [rows + 1]
  Tensor indices;  // the column of each entry [nnz]
  Tensor values;   // [nnz]
  Shape shape;

  Tensor to_dense() const;
  CooTensor to_coo() const;
  Tensor mv(const Tensor& vector) const;
  Tensor mm(const Tensor& dense) const;
  CsrMatrix mm(const CsrMatrix& other) const;
  // Over rows (axis 0) or columns (axis 1); the axis is kept.
  Tensor sum(int64_t axis) const;
  // Over the entries of each row.
  CsrMatrix softmax() const;
};

// alpha a + beta b of one shape.
CsrMatrix add(const CsrMatrix& a, const CsrMatrix& b, double alpha = 1, double beta = 1);
// The sum without entries of absolute value below `least`.
CooTensor add(const CooTensor& a, const CooTensor& b, double least = 0);

// The elements of a dense tensor (of a matrix) that are not 0.
CooTensor to_coo(const Tensor& dense);
CsrMatrix to_csr(const Tensor& dense);

}  // namespace mycel::nn
