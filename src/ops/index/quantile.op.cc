// Order statistics: median and quantiles. All read places of the sorted axis, so gradients go to
// the elements that were read.
#include <limits>

#include "base/error.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Value;

namespace {

constexpr int64_t kLast = -1;

Value along_last(Value x, int axis) {
  return axis == x.rank() - 1 ? x : kMoveaxis({x}, {axis, kLast});
}

// The number of elements of the last axis, as a value that broadcasts over lines.
Value line_length(Value x, DType dtype) {
  int64_t n = x.shape()[-1];
  if (n == 0) value_error("the axis has no elements");
  if (n != kUnknownDim) return x.graph().scalar(dtype, static_cast<double>(n));
  return kReduceSum({kOnesLike({x}, {dtype})}, {Attr::Ints{kLast}, true});
}

// The lower of the two middle elements and where it stands; NaN wins, as it does in a sort.
void expand_median(Expansion& e) {
  Value x = e.x(0);
  if (x.rank() == 0) {
    e.result(x);
    return e.result(kZerosLike({x}, {DType::kInt64}));
  }
  int axis = normalize_axis(e.attrs.integer("axis"), x.rank(), "median");
  x = along_last(x, axis);
  int64_t n = x.shape()[-1];
  if (n == kUnknownDim || n == 0)
    value_error("median: axis {} must have a known size of at least 1, got {}", axis,
                e.x(0).type().str());
  std::vector<Value> sorted = all_results(kSort, {x}, {kLast, false});
  Value y = sliced(sorted[0], x.rank() - 1, (n - 1) / 2, 1);
  Value at = cast_to(sliced(sorted[1], x.rank() - 1, (n - 1) / 2, 1), DType::kInt64);
  if (is_float(x.dtype())) {  // NaNs stand last
    Value y_last = sliced(sorted[0], x.rank() - 1, n - 1, 1);
    Value bad = kIsnan({y_last});
    y = where(bad, y_last, y);
    Value nan_at = kArgmaxAxis({cast_to(kIsnan({x}), DType::kInt32)}, {kLast, DType::kInt64, true});
    at = where(bad, nan_at, at);
  }
  for (Value v : {y, at}) {
    if (!e.attrs.boolean("keepdims")) {
      e.result(kSqueeze({v}, {Attr::Ints{kLast}}));
    } else {
      e.result(axis == x.rank() - 1 ? v : kMoveaxis({v}, {kLast, axis}));
    }
  }
}

// Linear interpolation between the elements beside place q (n - 1) of each sorted line.
template <bool skip_nan>
void expand_quantile(Expansion& e) {
  Value x = e.x(0), q = e.x(1);
  bool keep = e.attrs.boolean("keepdims"), all = e.attrs["axis"].none();
  if (q.rank() > 1)
    value_error("{}: q must be a number or a vector, got {}", e.op.name, q.type().str());
  int rank = x.rank();
  int axis =
      all || rank == 0 ? 0 : normalize_axis(e.attrs.integer("axis"), rank, e.op.name.c_str());
  x = all || rank == 0 ? kRavel({x}) : along_last(x, axis);
  if (x.shape()[-1] == 0)
    value_error("{}: there is no quantile of no elements, got {}", e.op.name, e.x(0).type().str());
  DType work = x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  Value sorted = all_results(kSort, {x}, {kLast, false})[0];
  Value n = line_length(x, work);
  if (skip_nan) {
    Value numbers = cast_to(kLogicalNot({kIsnan({x})}), work);
    n = kReduceSum({numbers}, {Attr::Ints{kLast}, true});
  }
  Value fraction = cast_to(q.rank() == 0 ? kExpandDims({q}, {0}) : q, work);
  // A q outside [0, 1], or NaN, has no place in the line: the result there is NaN.
  Value fits = kLogicalAnd({kGreaterEqual({fraction, number(fraction, 0)}),
                            kLessEqual({fraction, number(fraction, 1)})});
  Value inside = where(fits, fraction, 0.0);
  Value lines = kZerosLike({sliced(x, x.rank() - 1, 0, 1)}, {work});  // spreads over the lines
  Value place = kMaximum({inside * (n - 1.0), number(n, 0)}) + lines;
  Value low = kFloor({place});
  Value high = kMinimum({low + 1.0, kMaximum({n - 1.0, number(n, 0)})});
  auto at = [&](Value i) { return kGatherD({sorted, cast_to(i, DType::kInt64)}, {kLast}); };
  Value below = at(low), above = at(high);
  Value weight = cast_to(place - low, x.dtype());
  // Equal neighbours (two infinities) need no interpolation.
  Value y = where(kEqual({below, above}), below, below + (above - below) * weight);
  if (!skip_nan) {
    Value last = sliced(sorted, x.rank() - 1, -1, 1);
    y = where(kIsnan({last}), last, y);
  }
  y = where(fits, y, number(y, std::numeric_limits<double>::quiet_NaN()));
  // y is [lines.., q]; q comes first, the axis is dropped or kept as 1.
  y = y.rank() == 1 ? y : kMoveaxis({y}, {kLast, 0});
  if (keep) {
    Attr::Ints ones;
    if (all || rank == 0) {
      for (int d = 0; d < rank; ++d) y = kExpandDims({y}, {kLast});
    } else {
      y = kExpandDims({y}, {axis + 1});
    }
  }
  e.result(q.rank() == 0 ? kSqueeze({y}, {Attr::Ints{0}}) : y);
}

}  // namespace

constexpr OpDef kMedian = check({
    .name = "median",
    .doc = "The median along axis, of an even number the lower of the two in the middle, and where "
           "it stands (int64). A NaN makes the median NaN.",
    .in = {"input: real"},
    .attr = {"axis: int = -1", "keepdims: bool = False"},
    .out = {"values", "indices"},
    .shard = "none",
    .expand = expand_median,
    .cases = "input[3, 5] [2, 4, 3] []; input in distinct(-2, 2); axis = -1 0; keepdims = False "
             "True; bad axis = 3; skip zero_size: an empty axis has no median; at ([3, 1, 2, 4]) "
             "-> 2, 2",
    .method = "median",
});

constexpr OpDef kQuantile = check({
    .name = "quantile",
    .doc = "The q-quantiles along axis (of all elements when None), interpolated linearly between "
           "the two nearest elements; a vector q gives a leading dim. NaN among the elements, or a "
           "q outside [0, 1], gives NaN.",
    .in = {"input: float", "q: float"},
    .attr = {"axis: int? = None", "keepdims: bool = False"},
    .shard = "none",
    .expand = expand_quantile<false>,
    .cases = "input[3, 5]; input in distinct(-2, 2); q[] [2]; q in {0.2, 0.55, 0.9}; axis = None "
             "-1 0; keepdims = False True; bad axis = 2; bad "
             "q[2, 2]; skip zero_size: an empty axis has no quantile; skip dtypes: q may have a "
             "dtype of its own; at ([1, 2, 4, 8], 0.5) -> 3",
});

constexpr OpDef kNanquantile = check({
    .name = "nanquantile",
    .doc = "As quantile, of the elements that are not NaN; NaN where there are none.",
    .in = {"input: float", "q: float"},
    .attr = {"axis: int? = None", "keepdims: bool = False"},
    .shard = "none",
    .expand = expand_quantile<true>,
    .cases = "input[3, 5]; input in distinct(-2, 2); q[] [2]; q in {0.2, 0.55, 0.9}; axis = None "
             "-1 0; keepdims = False True; bad axis = 2; bad "
             "q[2, 2]; skip zero_size: an empty axis has no quantile; skip dtypes: q may have a "
             "dtype of its own; at ([1, nan, 4, 8], 0.5) -> 4",
});

}  // namespace mycel::ops
