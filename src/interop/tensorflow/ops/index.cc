// Ops that pick or place elements by index.
#include "interop/tensorflow/ops/build.h"

namespace mycel::interop::tensorflow {
namespace {

// (x, indices) with an attribute, or GraphDefs' GatherV2 (x, indices, axis).
Tensors gather(Call& c) {
  Tensor x = c.x(0), at = c.x(1);
  const int axis = axis_of(c, c.inputs() > 2 ? c.known_int(2) : c.integer("axis", 0), x.rank());
  int64_t batch = c.integer("batch_dims", 0);
  if (batch < 0) batch += at.rank();
  if (batch < 0 || batch > axis) c.fail("{} batch dims before axis {}", batch, axis);
  return {ops::gather(x, at, axis, batch)};
}
// (indices, table): rows.
Tensors embedding_lookup(Call& c) { return {ops::gather(c.x(1), c.x(0), 0)}; }
Tensors gather_nd(Call& c) { return {ops::gather_nd(c.x(0), c.x(1))}; }
Tensors scatter_nd(Call& c) { return {ops::scatter_nd(c.x(0), c.x(1), c.known_ints(2))}; }
Tensors tensor_scatter_update(Call& c) {
  return {ops::tensor_scatter_update(c.x(0), c.x(1), c.x(2))};
}
Tensors tensor_scatter_add(Call& c) { return {ops::tensor_scatter_add(c.x(0), c.x(1), c.x(2))}; }

// (indices, depth, on, off)
Tensors one_hot(Call& c) {
  Tensor at = c.x(0);
  return {ops::one_hot(at, c.x(2), c.x(3), c.known_int(1), c.integer("axis", -1))};
}

Tensors top_k(Call& c) {
  Tensors y = ops::topk(c.x(0), c.known_int(1), -1, true, true);
  y[1] = as(y[1], c.lite() ? c.out_slot(1).dtype : DType::kInt32);
  return y;
}

// (sizes of the result, …): places of elements that are not 0.
Tensors where(Call& c) {
  if (c.inputs() == 3) return {ops::select(c.x(0), c.x(1), c.x(2))};
  return {as(ops::nonzero(as(c.known(0), DType::kBool)), DType::kInt64)};
}

Tensors unique(Call& c) {
  Tensor x = c.known(0);
  Tensors y = ops::unique(x);  // in the order of first appearance
  y[1] = as(y[1], c.dtype("out_idx", DType::kInt32));
  return y;
}

Tensors segment_sum(Call& c) {
  Ints ids = c.known_ints(1);
  int64_t n = 0;
  for (int64_t i : ids) {
    if (i < 0 || i > (1 << 28)) c.fail("segment {}", i);
    n = std::max(n, i + 1);
  }
  return {ops::unsorted_segment_sum(c.x(0), c.x(1), n)};
}
template <Tensor (*F)(const Tensor&, const Tensor&, int64_t)>
Tensors segments(Call& c) {
  return {F(c.x(0), c.x(1), c.known_int(2))};
}

// (diagonal): on the last two dims.
Tensors matrix_diag(Call& c) { return {ops::diag_embed(c.x(0))}; }
Tensors matrix_set_diag(Call& c) {
  Tensor x = c.x(0), diagonal = ops::diag_embed(c.x(1));
  Dims d = c.dims(x), e = c.dims(diagonal);
  if (d.size() < 2) c.fail("an input {}", x.describe());
  const auto n = static_cast<int64_t>(d.size());
  for (int64_t k = n - 2; k < n; ++k) {
    Ints low(d.size(), 0), high(d.size(), 0);
    high[static_cast<size_t>(k)] = d[static_cast<size_t>(k)] - e[static_cast<size_t>(k)];
    diagonal = padded(diagonal, low, high);
  }
  Tensor eye =
      ops::diag_embed(ops::ones({std::min(d[d.size() - 2], d[d.size() - 1])}, DType::kInt32));
  Ints high{d[d.size() - 2] - eye.dim(0), d[d.size() - 1] - eye.dim(1)};
  eye = padded(eye, {0, 0}, high);
  return {ops::select(as(eye, DType::kBool), diagonal, x)};
}
Tensors band_part(Call& c) {
  return {ops::matrix_band_part(c.x(0), c.known_int(1), c.known_int(2))};
}

Tensors bucketize(Call& c) {
  Tensor x = c.x(0);
  std::vector<double> edges = c.reals("boundaries");
  const DType d = is_float(x.dtype()) ? x.dtype() : DType::kFloat32;
  Tensor at = Tensor::from(edges, Shape{static_cast<int64_t>(edges.size())});
  return {as(ops::searchsorted(as(at, d), as(x, d), true, true), DType::kInt32)};
}

// (indices, sizes, values, otherwise)
Tensors sparse_to_dense(Call& c) {
  Ints sizes = c.known_ints(1);
  Tensor at = c.x(0), v = c.x(2), base = ops::broadcast_to(c.x(3), sizes);
  if (at.rank() == 0) at = ops::reshape(at, {1, 1});
  if (at.rank() == 1) at = ops::reshape(at, {-1, sizes.size() == 1 ? 1 : at.dim(0)});
  v = ops::broadcast_to(v, {at.dim(0)});
  return {ops::tensor_scatter_update(base, at, v)};
}

constexpr Record kRecords[] = {
    {36, "GATHER", "GatherV2", gather, moves, "2"},
    {-1, "", "Gather", gather},
    {-1, "", "ResourceGather", gather},
    {7, "EMBEDDING_LOOKUP", "", embedding_lookup, moves},
    {107, "GATHER_ND", "GatherNd", gather_nd, moves},
    {122, "SCATTER_ND", "ScatterNd", scatter_nd, moves, "2"},
    {-1, "", "TensorScatterUpdate", tensor_scatter_update},
    {-1, "", "TensorScatterAdd", tensor_scatter_add},
    {85, "ONE_HOT", "OneHot", one_hot, moves, "1"},
    {48, "TOPK_V2", "TopKV2", top_k, moves, "1"},
    {109, "WHERE", "Where", where, moves},
    {103, "UNIQUE", "Unique", unique},
    {125, "SEGMENT_SUM", "SegmentSum", segment_sum},
    {155, "UNSORTED_SEGMENT_SUM", "UnsortedSegmentSum", segments<ops::unsorted_segment_sum>},
    {154, "UNSORTED_SEGMENT_MAX", "UnsortedSegmentMax", segments<ops::unsorted_segment_max>},
    {157, "UNSORTED_SEGMENT_MIN", "UnsortedSegmentMin", segments<ops::unsorted_segment_min>},
    {153, "UNSORTED_SEGMENT_PROD", "UnsortedSegmentProd", segments<ops::unsorted_segment_prod>},
    {113, "MATRIX_DIAG", "MatrixDiag", matrix_diag, moves},
    {115, "MATRIX_SET_DIAG", "MatrixSetDiag", matrix_set_diag, moves},
    {-1, "", "MatrixBandPart", band_part, nullptr, "1 2"},
    {147, "BUCKETIZE", "Bucketize", bucketize},
    {68, "SPARSE_TO_DENSE", "SparseToDense", sparse_to_dense, nullptr, "1"},
};

}  // namespace

Records index_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
