#include "nn/sparse.h"

#include "base/error.h"
#include "nn/layers/calls.h"

namespace mycel::nn {
namespace {

std::vector<int64_t> sizes(const Shape& s) { return {s.begin(), s.end()}; }

Tensor column(const Tensor& indices, int64_t d) {
  return ops::squeeze(ops::narrow(indices, 1, d, 1), int64_t{1});
}

void need_one_shape(const Shape& a, const Shape& b) {
  if (!(a == b)) {
    value_error("add: sparse tensors must have one shape, got {} and {}", a.str(), b.str());
  }
}

}  // namespace

Tensor CooTensor::to_dense() const { return ops::sparse_to_dense(indices, values, sizes(shape)); }

CooTensor CooTensor::coalesce() const {
  Tensor extents = Tensor::from(sizes(shape), {shape.rank()});
  Tensors parts = run_ops("coalesce", {ops::swapaxes(indices, 0, 1), values, extents});
  return {ops::swapaxes(parts[0], 0, 1), parts[1], shape};
}

CsrMatrix CooTensor::to_csr() const {
  if (shape.rank() != 2) value_error("to_csr: a matrix is needed, got shape {}", shape.str());
  Tensors rows = run_ops("sort", {column(indices, 0)}, {int64_t{0}});
  return {ops::coo2csr(rows[0], shape[0]), ops::gather(column(indices, 1), rows[1], 0),
          ops::gather(values, rows[1], 0), shape};
}

Tensor CooTensor::mm(const Tensor& dense, bool adjoint) const {
  return ops::sparse_tensor_dense_matmul(indices, values, dense, sizes(shape), adjoint);
}

Tensor CsrMatrix::to_dense() const {
  return run_op("csr_to_dense_entries", {indptr, indices, values}, {shape});
}

CooTensor CsrMatrix::to_coo() const {
  Tensor rows = ops::cast(run_op("csr_rows", {indptr, indices}), indices.dtype());
  Tensors both{rows, indices};
  return {ops::stack(both, 1), values, shape};
}

Tensor CsrMatrix::mv(const Tensor& vector) const {
  return run_op("csr_times_vector", {indptr, indices, values, vector}, {shape});
}

Tensor CsrMatrix::mm(const Tensor& dense) const {
  return run_op("csr_times_matrix", {indptr, indices, values, dense}, {shape});
}

CsrMatrix CsrMatrix::mm(const CsrMatrix& other) const {
  Tensors parts = run_ops("csr_matmul_entries",
                          {indptr, indices, values, other.indptr, other.indices, other.values},
                          {shape, other.shape});
  return {parts[0], parts[1], parts[2], Shape{shape[0], other.shape[1]}};
}

Tensor CsrMatrix::sum(int64_t axis) const {
  return run_op("csr_sum_entries", {indptr, indices, values}, {shape, axis});
}

CsrMatrix CsrMatrix::softmax() const {
  return {indptr, indices, run_op("csr_softmax_entries", {indptr, indices, values}, {shape}),
          shape};
}

CsrMatrix add(const CsrMatrix& a, const CsrMatrix& b, double alpha, double beta) {
  need_one_shape(a.shape, b.shape);
  Tensors parts = run_ops("csr_add_entries",
                          {a.indptr, a.indices, a.values, b.indptr, b.indices, b.values,
                           number(a.values, alpha), number(a.values, beta)},
                          {a.shape});
  return {parts[0], parts[1], parts[2], a.shape};
}

CooTensor add(const CooTensor& a, const CooTensor& b, double least) {
  need_one_shape(a.shape, b.shape);
  Tensors parts =
      run_ops("coo_add_entries",
              {a.indices, a.values, b.indices, b.values, number(a.values, least)}, {a.shape});
  return {parts[0], parts[1], a.shape};
}

CooTensor to_coo(const Tensor& dense) {
  Tensor indices = ops::nonzero(dense);
  return {indices, ops::gather_nd(dense, indices), dense.shape()};
}

CsrMatrix to_csr(const Tensor& dense) { return to_coo(dense).to_csr(); }

}  // namespace mycel::nn
