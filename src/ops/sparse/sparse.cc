#include "ops/sparse/sparse.h"

#include "base/error.h"
#include "ops/all_ops.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Expansion;

void register_sparse() {
  register_entries();
  register_coo();
  register_coo_sums();
  register_csr();
  register_csr_products();
  register_segments_of_gathers();
}

Value column(Value matrix, int d) { return kSqueeze({sliced(matrix, 1, d, 1)}, {1}); }

Value as_column(Value v, int rank) {
  for (int d = 1; d < rank; ++d) v = kExpandDims({v}, {-1});
  return v;
}

Value places(Value v) { return kCumsum({kOnesLike({v}, {DType::kInt64})}, {0}) - 1.0; }

Value rows_at(Value x, Value index) { return kGather({x, index}, {0}); }

void need_rank(const Expansion& e, int i, int rank, const char* what) {
  if (e.x(i).rank() == rank) return;
  value_error("{}: {}, got {}", e.op.def.name, what, e.x(i).type().str());
}

std::pair<int64_t, int64_t> matrix_shape(const Expansion& e, const char* attr) {
  const auto& s = e.attrs.ints(attr);
  if (s.size() != 2 || s[0] < 0 || s[1] < 0) {
    value_error("{}: {} must be the two sizes of a matrix, got {}", e.op.def.name, attr,
                e.attrs[attr].str());
  }
  return {s[0], s[1]};
}

Value sizes_of(ir::Graph& g, const std::vector<int64_t>& shape) {
  return g.constant(Tensor::from(shape, {static_cast<int64_t>(shape.size())}));
}

std::vector<Value> add_equal_entries(Value indices, int rank, Value values, Value sizes) {
  auto size = [&](int d) { return cast_to(sliced(sizes, 0, d, 1), DType::kInt64); };
  auto at = [&](int d) { return cast_to(column(indices, d), DType::kInt64); };
  // The place in row-major order tells equal entries and their order.
  Value place = at(0);
  for (int d = 1; d < rank; ++d) place = place * size(d) + at(d);
  std::vector<Value> distinct = all_results(kSortedDistinct, {place}, {});
  Value left = distinct[0];
  Value zeros = as_column(kZerosLike({left}, {values.dtype()}), values.rank());
  if (values.rank() > 1) zeros = zeros + kZerosLike({sliced(values, 0, 0, 1)});
  Value sums = kAxisScatterAdd({zeros, distinct[1], values}, {0});
  std::vector<Value> columns(rank);
  for (int d = rank - 1; d > 0; --d) {
    columns[d] = kFloorMod({left, size(d)});
    left = kFloorDiv({left, size(d)});
  }
  columns[0] = left;
  for (Value& c : columns) c = cast_to(kExpandDims({c}, {-1}), indices.dtype());
  Value joined =
      columns.size() == 1 ? columns[0] : indices.graph().add(op_of(kConcat), columns, {1})->out();
  return {joined, sums};
}

}  // namespace mycel::ops
