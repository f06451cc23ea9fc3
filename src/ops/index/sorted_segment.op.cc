// Reductions over runs of rows: segment_ids ascend, and the result has a row for each id up to the
// last. How many that is becomes known when the op runs, so the result starts as rows of zeros, the
// runs are reduced by their number, and each result is put at its id.
#include "base/error.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::no_gradient;
using ir::TypeRuleCtx;
using Ints = Attr::Ints;

namespace {

struct Runs {
  Value number;  // of each row's run
  Value id;      // of each run; -1 behind the last run
  int64_t rows;
};

Runs runs_of(const Expansion& e) {
  Value x = e.x(0), ids = e.x(1);
  if (x.rank() < 1 || ids.rank() != 1)
    value_error("{}: needs rows and a vector of segment_ids, got {} and {}", e.op.name,
                x.type().str(), ids.type().str());
  int64_t n = ids.shape()[0];
  if (n == kUnknownDim || x.shape()[0] != n)
    value_error(
        "{}: there must be a segment id for each row, in a number known while compiling, "
        "got {} and {}",
        e.op.name, x.type().str(), ids.type().str());
  if (n == 0) return {ids, ids, 0};
  Value fresh = kNotEqual({sliced(ids, 0, 1, n - 1), sliced(ids, 0, 0, n - 1)});
  Value number = kPadNd({kCumsum({cast_to(fresh, DType::kInt64)}, {0})}, {Ints{1}, Ints{0}});
  Value id = kUnsortedSegmentMax({ids, number}, {n});
  return {number, where(less(id, 0.0), -1.0, id), n};
}

// The runs' values at their ids, over zeros.
Value placed(const Expansion& e, const Runs& r, Value values) {
  Value zeros = kZeroRows({values, e.x(1)});
  return r.rows == 0 ? zeros : kAxisScatterAdd({zeros, r.id, values}, {0, 0, "skip"});
}

template <const OpDef& reduction>
void expand_reduction(Expansion& e) {
  Runs r = runs_of(e);
  Value x = e.x(0);
  e.result(placed(e, r, r.rows == 0 ? x : reduction({x, r.number}, {r.rows})));
}

// `v` per run, with the dims of rows.
Value as_rows(Value v, int rank) {
  for (int d = 1; d < rank; ++d) v = kExpandDims({v}, {-1});
  return v;
}

Value count_of(const Expansion& e, const Runs& r, DType dtype) {
  Value ones = filled(e.graph, 1, {r.rows}, dtype);
  return kUnsortedSegmentSum({ones, r.number}, {r.rows});
}

void expand_mean(Expansion& e) {
  Runs r = runs_of(e);
  Value x = e.x(0);
  if (r.rows == 0) return e.result(placed(e, r, x));
  DType wide = is_float(x.dtype()) || is_complex(x.dtype()) ? x.dtype() : DType::kFloat64;
  Value sum = kUnsortedSegmentSum({x, r.number}, {r.rows});
  Value count = as_rows(count_of(e, r, wide), x.rank());
  e.result(placed(e, r, cast_to(kDivNoNan({cast_to(sum, wide), count}), x.dtype())));
}

// Ids that no row has hold the empty product.
void expand_prod(Expansion& e) {
  Runs r = runs_of(e);
  Value x = e.x(0);
  if (r.rows == 0) return e.result(placed(e, r, x));
  Value products = placed(e, r, kUnsortedSegmentProd({x, r.number}, {r.rows}));
  Value rows = as_rows(placed(e, r, count_of(e, r, DType::kFloat32)), x.rank());
  e.result(where(greater(rows, 0.0), products, 1.0));
}

void zero_rows_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  if (s.rank() < 1 || c.shape(1).rank() != 1) c.fail("needs rows and a vector of ids");
  s.set(0, kUnknownDim);
  c.result(c.dtype(0), s);
}

}  // namespace

#define SORTED_CASES                                                                              \
  "input_x[5, 3] [5]; input_x in distinct(0.5, 2); segment_ids[5]; segment_ids in sorted(0, 4); " \
  "bad segment_ids[4]; bad segment_ids[5, 1]; skip zero_size: ids belong to rows; skip scalar: "  \
  "rows are needed; skip dtypes: ids of one dtype"

constexpr OpDef kZeroRows = check({
    .name = "zero_rows",
    .doc = "Zeros of the dtype and shape of x but for dim 0, whose size is the last of the "
           "ascending ids and 1; ValueError for ids that descend or are negative.",
    .in = {"x: any", "ids: index[n]"},
    .type = zero_rows_type,
    .shard = "none",
    .grad = [](Adjoint&) {},
    .cases = "x[5, 3]; ids[5]; ids in sorted(0, 7); bad ids[2, 2]; skip dtypes: ids of one dtype",
    .internal = true,
});

constexpr OpDef kSegmentSum = check({
    .name = "segment_sum",
    .doc = "y[s] = the sum of the rows of input_x whose id is s, for every s up to the last of the "
           "ascending segment_ids; 0 where there is none.",
    .in = {"input_x: number[n, k]", "segment_ids: index[n]"},
    .shard = "none",
    .expand = expand_reduction<kUnsortedSegmentSum>,
    .cases = SORTED_CASES,
    .primitive = "SegmentSum()",
    .internal = true,
});

constexpr OpDef kSegmentMax = check({
    .name = "segment_max",
    .doc = "y[s] = the maximum of the rows of input_x whose id is s, for every s up to the last of "
           "the ascending segment_ids; 0 where there is none.",
    .in = {"input_x: real[n, k]", "segment_ids: index[n]"},
    .shard = "none",
    .expand = expand_reduction<kUnsortedSegmentMax>,
    .cases = SORTED_CASES,
    .primitive = "SegmentMax()",
    .internal = true,
});

constexpr OpDef kSegmentMin = check({
    .name = "segment_min",
    .doc = "y[s] = the minimum of the rows of input_x whose id is s, for every s up to the last of "
           "the ascending segment_ids; 0 where there is none.",
    .in = {"input_x: real[n, k]", "segment_ids: index[n]"},
    .shard = "none",
    .expand = expand_reduction<kUnsortedSegmentMin>,
    .cases = SORTED_CASES,
    .primitive = "SegmentMin()",
    .internal = true,
});

constexpr OpDef kSegmentMean = check({
    .name = "segment_mean",
    .doc = "y[s] = the mean of the rows of input_x whose id is s, for every s up to the last of "
           "the ascending segment_ids; 0 where there is none. Integers are cut off.",
    .in = {"input_x: number[n, k]", "segment_ids: index[n]"},
    .shard = "none",
    .expand = expand_mean,
    .cases = SORTED_CASES,
    .primitive = "SegmentMean()",
    .internal = true,
});

constexpr OpDef kSegmentProd = check({
    .name = "segment_prod",
    .doc = "y[s] = the product of the rows of input_x whose id is s, for every s up to the last of "
           "the ascending segment_ids; 1 where there is none.",
    .in = {"input_x: number[n, k]", "segment_ids: index[n]"},
    .shard = "none",
    .expand = expand_prod,
    .cases = SORTED_CASES,
    .primitive = "SegmentProd()",
    .internal = true,
});

#undef SORTED_CASES

}  // namespace mycel::ops
