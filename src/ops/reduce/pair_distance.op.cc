// Distances between the rows of matrices in the p-norm.
#include <cmath>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

// The p-norm over the last dim. Where it is 0 the gradient is taken to be 0.
Value length(const Expansion& e, Value d) {
  double p = e.attrs.real("p");
  if (std::isnan(p) || p < 0) value_error("{}: p must not be negative, got {}", e.op.name, p);
  Attr::Ints last{-1};
  if (p == 0) return kReduceSum({cast_to(not_equal(d, 0.0), d.dtype())}, {last, false});
  Value size = kAbs({d});
  if (p == 1) return kReduceSum({size}, {last, false});
  if (std::isinf(p)) return kReduceMax({size}, {last, false});
  Value zero = equal(size, 0.0);
  Value power = p == 2 ? d * d : where(zero, 0.0, kPow({where(zero, 1.0, size), number(d, p)}));
  Value sum = kReduceSum({power}, {last, false});
  Value none = equal(sum, 0.0), safe = where(none, 1.0, sum);
  return where(none, 0.0, p == 2 ? kSqrt({safe}) : kPow({safe, number(d, 1 / p)}));
}

void expand_cdist(Expansion& e) {
  Value a = e.x(0), b = e.x(1);
  if (a.rank() < 2 || b.rank() < 2)
    value_error("cdist: x1 and x2 need two dims or more, got {} and {}", a.type().str(),
                b.type().str());
  e.result(length(e, kExpandDims({a}, {-2}) - kExpandDims({b}, {-3})));
}

// Rows i < j in order (0, 1), (0, 2), …
void expand_pdist(Expansion& e) {
  Value x = e.x(0);
  if (x.rank() < 2)
    value_error("pdist: the operand needs two dims or more, got {}", x.type().str());
  int64_t n = x.shape()[-2];
  if (n == kUnknownDim)
    value_error("pdist: the number of rows must be known, got {}", x.type().str());
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) first.push_back(i), second.push_back(j);
  }
  Shape pairs{static_cast<int64_t>(first.size())};
  auto rows = [&](const std::vector<int64_t>& at) {
    return kGather({x, e.graph.constant(Tensor::from(at, pairs))}, {x.rank() - 2});
  };
  e.result(length(e, rows(first) - rows(second)));
}

}  // namespace

constexpr OpDef kCdist = check({
    .name = "cdist",
    .doc = "Distances of every row of x1 [.., p, m] to every row of x2 [.., r, m] in the p-norm: "
           "[.., p, r]. p = 0 counts the entries that differ; infinity takes the largest.",
    .in = {"x1: float", "x2: float"},
    .attr = {"p: float = 2"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_cdist,
    .cases = "x1[4, 3] [2, 4, 3]; x2[5, 3]; p = 2 1 3; tol 1e-4; bad p = -1.0; bad x1[3]; skip "
             "zero_size: rows have one length; skip scalar: two dims are needed | x1[4, 3]; x2[5, "
             "3]; p = inf 0",
    .primitive = "Cdist(p)",
});

constexpr OpDef kPdist = check({
    .name = "pdist",
    .doc = "Distances between the rows i < j of a matrix in the p-norm, pairs in row-major order: "
           "n (n - 1) / 2 of them.",
    .in = {"input: float"},
    .attr = {"p: float = 2"},
    .shard = "none",
    .expand = expand_pdist,
    .cases = "input[4, 3] [2, 4, 3]; p = 2 1 3 inf; tol 1e-4; bad p = -1.0; bad input[3]; skip "
             "scalar: two dims are needed",
    .primitive = "Pdist(p)",
});

void register_pair_distances() { register_ops({&kCdist, &kPdist}); }

}  // namespace mycel::ops
