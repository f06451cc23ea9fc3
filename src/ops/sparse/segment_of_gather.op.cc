// Means over segments of rows picked by index.
#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"
#include "ops/sparse/sparse.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;

namespace {

void expand_segment_mean(Expansion& e) {
  need_rank(e, 1, 1, "indices must be a vector");
  need_rank(e, 2, 1, "segment_ids must be a vector");
  Value x = e.x(0), ids = cast_to(e.x(2), DType::kInt64);
  if (x.rank() == 0) value_error("sparse_segment_mean: x must have 1 dim or more, got a scalar");
  if (e.x(1).shape().known() && e.x(2).shape().known() && !(e.x(1).shape() == e.x(2).shape())) {
    value_error("sparse_segment_mean: indices and segment_ids must be as many, got {} and {}",
                e.x(1).type().str(), e.x(2).type().str());
  }
  Value rows = rows_at(x, e.x(1)), counts = kBincount({ids});
  Value zeros = as_column(kZerosLike({counts}, {x.dtype()}), x.rank());
  if (x.rank() > 1) zeros = zeros + kZerosLike({sliced(x, 0, 0, 1)});
  Value sums = kAxisScatterAdd({zeros, ids, rows}, {0});
  e.result(kDivNoNan({sums, as_column(cast_to(counts, x.dtype()), x.rank())}));
}

}  // namespace

constexpr OpDef kSparseSegmentMean = check({
    .name = "sparse_segment_mean",
    .doc = "Means of the rows x[indices] that have one segment id: row s of the result belongs to "
           "id s, zeros where it is absent; as many rows as the largest id and 1.",
    .in = {"x: inexact", "indices: index", "segment_ids: index"},
    .shard = "none",
    .expand = expand_segment_mean,
    .cases = "x[4, 3]; indices[5]; indices in ints(0, 3); segment_ids[5]; segment_ids in ints(0, "
             "3); bad indices[4]; bad segment_ids[5, 1] | x[4]; skip dtypes: indices of one dtype; "
             "skip zero_size: there are rows; skip scalar: rows are needed",
});

void register_segments_of_gathers() { ir::register_ops({&kSparseSegmentMean}); }

}  // namespace mycel::ops
