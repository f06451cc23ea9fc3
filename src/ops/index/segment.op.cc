// Reductions over groups of rows: row i of x belongs to segment segment_ids[i]. Rows with a
// negative id belong to none; an id of num_segments or more is an error.
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attr;
using ir::check;
using ir::TypeRuleCtx;

namespace {

constexpr const char* kIds = "skip_negative";

Shape segment_shape(const Shape& x, const Shape& ids, int64_t segments) {
  Shape s{segments};
  for (int d = ids.rank(); d < x.rank(); ++d) s.push_back(x[d]);
  return s;
}

void segment_type(TypeRuleCtx& c) {
  const Shape &x = c.shape(0), &ids = c.shape(1);
  int64_t n = c.attrs.integer("num_segments");
  if (n < 0) c.fail("num_segments must not be negative, got {}", n);
  bool fits = ids.rank() > 0 && ids.rank() <= x.rank();
  for (int d = 0; fits && d < ids.rank(); ++d)
    fits = ids[d] == x[d] || ids[d] == kUnknownDim || x[d] == kUnknownDim;
  if (!fits) c.fail("the shape of segment_ids must be the first dims of x");
  c.result(c.dtype(0), segment_shape(x, ids, n));
}

// Row i of the result is the row of `v` for the segment of row i of x; 0 for a negative id.
Value of_segment(Adjoint& a, Value v) { return kGather({v, a.x(1)}, {0, 0, kIds}); }

Value segment_sum(Adjoint& a, Value rows) {
  return kUnsortedSegmentSum({rows, a.x(1)}, {a.attrs()["num_segments"]});
}

// Whoever equals the extreme shares its gradient, evenly among ties.
void extreme_grad(Adjoint& a) {
  Value mine = cast_to(kEqual({a.x(0), of_segment(a, a.y())}), a.y_type().dtype);
  Value shares = segment_sum(a, mine);
  Value share = kDivNoNan({a.dy(), shares});
  a.dx(0) += mine * of_segment(a, share);
}

// The product of the other rows: y / x where no row is 0, that of the others where exactly this one
// is.
void prod_grad(Adjoint& a) {
  Value x = a.x(0), zero = equal(x, 0.0), safe = where(zero, 1.0, x);
  Value product = of_segment(a, kUnsortedSegmentProd({safe, a.x(1)}, {a.attrs()["num_segments"]}));
  Value zeros = of_segment(a, segment_sum(a, cast_to(zero, x.dtype())));
  Value rest = where(zero, where(equal(zeros, 1.0), product, 0.0),
                     where(equal(zeros, 0.0), product / safe, 0.0));
  a.dx(0) += of_segment(a, a.dy()) * conj_of(rest);
}

}  // namespace

// Every segment has a row: an empty one holds the extreme of its dtype, which no other dtype can
// compare with.
#define SEGMENT_CASES                                                                              \
  "x[5, 3]; x in distinct(0.5, 2); segment_ids[5]; segment_ids in permutation; num_segments = 5; " \
  "bad segment_ids[4]; "                                                                           \
  "bad num_segments = -1 | x[2, 3]; segment_ids[2, 3]; segment_ids in ints(0, 0); num_segments = " \
  "1; skip zero_size: ids belong to rows; skip "                                                   \
  "scalar: rows are needed; skip dtypes: ids of one dtype"

constexpr OpDef kUnsortedSegmentSum = check({
    .name = "unsorted_segment_sum",
    .doc = "y[s] = the sum of the rows of x whose segment id is s; 0 for an empty segment.",
    .in = {"x: number", "segment_ids: index"},
    .attr = {"num_segments: int"},
    .type = segment_type,
    .shard = "none",
    .grad = [](Adjoint& a) { a.dx(0) += of_segment(a, a.dy()); },
    .cases = SEGMENT_CASES,
    .primitive = "UnsortedSegmentSum",
});

constexpr OpDef kUnsortedSegmentMax = check({
    .name = "unsorted_segment_max",
    .doc = "y[s] = the maximum of the rows of x whose segment id is s; the lowest finite number "
           "for an empty segment.",
    .in = {"x: real", "segment_ids: index"},
    .attr = {"num_segments: int"},
    .type = segment_type,
    .shard = "none",
    .grad = extreme_grad,
    .cases = SEGMENT_CASES,
    .primitive = "UnsortedSegmentMax",
    .method = "unsorted_segment_max",
});

constexpr OpDef kUnsortedSegmentMin = check({
    .name = "unsorted_segment_min",
    .doc = "y[s] = the minimum of the rows of x whose segment id is s; the highest finite number "
           "for an empty segment.",
    .in = {"x: real", "segment_ids: index"},
    .attr = {"num_segments: int"},
    .type = segment_type,
    .shard = "none",
    .grad = extreme_grad,
    .cases = SEGMENT_CASES,
    .primitive = "UnsortedSegmentMin",
    .method = "unsorted_segment_min",
});

constexpr OpDef kUnsortedSegmentProd = check({
    .name = "unsorted_segment_prod",
    .doc = "y[s] = the product of the rows of x whose segment id is s; 1 for an empty segment.",
    .in = {"x: number", "segment_ids: index"},
    .attr = {"num_segments: int"},
    .type = segment_type,
    .shard = "none",
    .grad = prod_grad,
    .cases = SEGMENT_CASES,
    .primitive = "UnsortedSegmentProd",
    .method = "unsorted_segment_prod",
});

}  // namespace mycel::ops
