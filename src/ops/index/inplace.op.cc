// Rows changed at indices that are attributes, and whether a class is among the k best.
#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using Ints = Attr::Ints;

namespace {

struct Rows {
  Value x, index, v;  // index: [k, 1]
};

// The operands, `v` with a dim of rows.
Rows rows_of(const Expansion& e) {
  Value x = e.x(0), v = e.x(1);
  const Ints& at = e.attrs.ints("indices");
  if (x.rank() == 0) value_error("{}: 'x' needs a dim of rows, got {}", e.op.name, x.type().str());
  if (at.size() == 1 && v.rank() == x.rank() - 1) v = kExpandDims({v}, {0});
  int64_t n = x.shape()[0], k = v.rank() ? v.shape()[0] : 0;
  if (v.rank() != x.rank() || (k != static_cast<int64_t>(at.size()) && k != kUnknownDim)) {
    value_error("{}: 'v' must hold {} rows of {}, got {}", e.op.name, at.size(), x.type().str(),
                v.type().str());
  }
  for (int64_t i : at) {
    if (i < 0 || (n != kUnknownDim && i >= n))
      value_error("{}: index {} is outside [0, {})", e.op.name, i, n);
  }
  Value index = e.graph.constant(Tensor::from(at, Shape{static_cast<int64_t>(at.size()), 1}));
  return {x, index, v};
}

template <const ir::OpDef& scatter>
constexpr ir::ExpandRule scatter_rows = [](Expansion& e) {
  Rows r = rows_of(e);
  e.result(scatter({r.x, r.index, r.v}));
};

void expand_in_top_k(Expansion& e) {
  const Shape &s = e.x(0).shape(), &t = e.x(1).shape();
  if (s.rank() != 2 || t.rank() != 1 || dims_differ(s[0], t[0])) {
    value_error("intopk: x1 must be [n, classes] and x2 [n], got {} and {}", e.x(0).type().str(),
                e.x(1).type().str());
  }
  Value own = kGatherD({e.x(0), kExpandDims({e.x(1)}, {1})}, {1});
  Value better = cast_to(kGreater({e.x(0), own}), DType::kInt32);
  Value place = kReduceSum({better}, {Ints{1}});
  Value among = less(place, static_cast<double>(e.attrs.integer("k")));
  e.result(kLogicalAnd({among, kIsfinite({kSqueeze({own}, {Ints{1}})})}));
}

}  // namespace

constexpr OpDef kInplaceAdd = check({
    .name = "inplace_add",
    .doc = "x with v[k] added to row indices[k].",
    .in = {"x: number", "v: number"},
    .attr = {"indices: int[]"},
    .shard = "none",
    .expand = scatter_rows<kTensorScatterAdd>,
    .cases = "x[4, 3]; v[2, 3]; indices = [0, 2] [1, 1]; bad indices = [0]; bad indices = [0, 4]; "
             "bad indices = [-1, 0] | x[4, 3]; v[3]; indices = 2; skip zero_size: rows belong to "
             "indices; skip scalar: rows are needed",
    .primitive = "InplaceAdd(indices)",
});

constexpr OpDef kInplaceSub = check({
    .name = "inplace_sub",
    .doc = "x with v[k] taken from row indices[k].",
    .in = {"x: number", "v: number"},
    .attr = {"indices: int[]"},
    .shard = "none",
    .expand = scatter_rows<kTensorScatterSub>,
    .cases = "x[4, 3]; v[2, 3]; indices = [0, 2] [1, 1]; bad indices = [0]; bad indices = [0, 4] | "
             "x[4, 3]; v[3]; indices = 2; skip zero_size: rows belong to indices; skip scalar: "
             "rows are needed",
    .primitive = "InplaceSub(indices)",
});

constexpr OpDef kInplaceUpdate = check({
    .name = "inplace_update",
    .doc = "x with row indices[k] replaced by v[k].",
    .in = {"x: any", "v: any"},
    .attr = {"indices: int[]"},
    .shard = "none",
    .expand = scatter_rows<kTensorScatterUpdate>,
    .cases = "x[4, 3]; v[2, 3]; indices = [0, 2]; bad indices = [0]; bad indices = [0, 4] | x[4, "
             "3]; v[3]; indices = 2; skip zero_size: rows belong to indices; skip scalar: rows are "
             "needed",
    .primitive = "InplaceUpdate(indices)",
    .method = "inplace_update",
});

constexpr OpDef kInTopK = check({
    .name = "intopk",
    .doc = "Whether fewer than k classes have a greater score than the class x2[n], for each row n "
           "of scores; False where that score is not finite.",
    .in = {"x1: float[n, c]", "x2: index[n]"},
    .attr = {"k: int"},
    .shard = "none",
    .expand = expand_in_top_k,
    .cases = "x1[4, 3]; x1 in distinct(-1, 1); x2[4]; x2 in ints(0, 2); k = 1 2 5 0; bad x2[3]; "
             "bad x1[4]; skip zero_size: classes are needed; skip scalar: rows are needed",
    .primitive = "InTopK(k)",
});

}  // namespace mycel::ops
