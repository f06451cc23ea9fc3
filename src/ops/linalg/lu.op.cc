// LU with partial pivoting: the factors in one matrix, and what is done with them.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

extern const OpDef kPivotsToPermutation;

namespace {

void lu_type(TypeRuleCtx& c) {
  need_matrix(c);
  const Shape& s = c.shape(0);
  types::same_as_first(c);
  c.result(DType::kInt32, behind_batch(s, 2, {shorter(s[-2], s[-1])}));
  c.result(DType::kInt32, behind_batch(s, 2, {s[-2]}));
}

Value lower_solve(Value l, Value b, bool adjoint) {
  return kTriangularSolve({l, b}, {true, true, adjoint});
}
// b u^-H
Value behind_upper(Value b, Value u) {
  return adjoint_of(kTriangularSolve({u, adjoint_of(b)}, {false, false, false}));
}

Value stacked(Value above, Value below, int axis) { return kConcat({above, below}, {axis}); }

// Of a[order] = l u with l = [l1; l2], u = [u1 u2], everything beyond the square l1, u1 being
// solved for: da1 = l1^-H (tril(l1^H dl1, -1) + triu(du1 u1^H)) u1^-H.
void lu_grad(Adjoint& a) {
  Value packed = a.y(0), d = a.dy(0);
  int64_t m = known_size(packed, -2, "lu_factor"), n = known_size(packed, -1, "lu_factor");
  int64_t k = std::min(m, n);
  auto corner = [&](Value v) { return columns_of(rows_of(v, 0, k), 0, k); };
  Value lu = corner(packed), dlu = corner(d);
  Value l = lower_part(lu, -1) + identity_like(lu), u = upper_part(lu);
  Value low = mm(adjoint_of(l), lower_part(dlu, -1));
  Value up = mm(upper_part(dlu), adjoint_of(u));
  Value beyond;
  if (m > k) {
    Value l2 = rows_of(packed, k, m - k), dl2 = rows_of(d, k, m - k);
    up = up - mm(adjoint_of(l2), dl2);
    beyond = behind_upper(dl2, u);
  } else if (n > k) {
    Value u2 = columns_of(packed, k, n - k), du2 = columns_of(d, k, n - k);
    low = low - mm(du2, adjoint_of(u2));
    beyond = lower_solve(l, du2, true);
  }
  Value inner = lower_part(low, -1) + upper_part(up);
  Value da = behind_upper(lower_solve(l, inner, true), u);
  int rank = packed.rank();
  if (beyond) da = stacked(da, beyond, m > k ? rank - 2 : rank - 1);
  a.dx(0) += ordered_rows(da, kArgsort({a.y(2)}));
}

void permutation_type(TypeRuleCtx& c) {
  const Shape& s = c.shape(0);
  if (s.rank() < 1) c.fail("'pivots' needs a dim");
  int64_t n = c.attrs.integer("size");
  if (s[-1] != kUnknownDim && s[-1] > n) c.fail("{} exchanges among {} rows", s[-1], n);
  c.result(DType::kInt32, behind_batch(s, 1, {n}));
}

// From 1-based exchanges, as the published functions take them.
Value order_of(const Expansion& e, int i, int64_t rows) {
  return kPivotsToPermutation({cast_to(e.x(i), DType::kInt64) - 1.0}, {rows});
}

void expand_lu_solve(Expansion& e) {
  need_matrix(e, 0);
  need_square(e, 1);
  Value lu = e.x(1), order = order_of(e, 2, known_size(lu, -1, "lu_solve"));
  if (dims_differ(e.x(0).shape()[-2], lu.shape()[-1]) || order.rank() + 1 != lu.rank())
    value_error("lu_solve: b {}, LU_data {} and LU_pivots {} do not belong together",
                e.x(0).type().str(), lu.type().str(), e.x(2).type().str());
  Value y = kTriangularSolve({lu, ordered_rows(e.x(0), order)}, {true, true, false});
  e.result(kTriangularSolve({lu, y}, {false, false, false}));
}

void expand_lu_unpack(Expansion& e) {
  need_matrix(e, 0);
  Value lu = e.x(0);
  int64_t m = known_size(lu, -2, "lu_unpack"), n = known_size(lu, -1, "lu_unpack");
  int64_t k = std::min(m, n);
  if (e.x(1).rank() + 1 != lu.rank() || dims_differ(e.x(1).shape()[-1], k))
    value_error("lu_unpack: LU_pivots of {} must have one entry for each of {} steps, got {}",
                lu.type().str(), k, e.x(1).type().str());
  // Row i of order's matrix has its one at order[i]; p undoes it.
  Value order = order_of(e, 1, m);
  Value places = e.graph.add(op_of(kArange), {}, {0.0, double(m), 1.0, DType::kInt32})->out();
  Value hits = kEqual({kExpandDims({order}, {-2}), kExpandDims({places}, {-1})});
  Value left = columns_of(lu, 0, k);
  e.result(cast_to(hits, lu.dtype()));
  e.result(lower_part(left, -1) + identity_like(left));
  e.result(upper_part(rows_of(lu, 0, k)));
}

}  // namespace

constexpr OpDef kLuFactor = check({
    .name = "lu_factor",
    .doc = "Of each [m, n] matrix the factors of a[permutation] = l u in one matrix, l below the "
           "diagonal with ones on it, u above; the row that step i exchanged with row i; and the "
           "permutation. Rows are chosen by the largest element of the column.",
    .in = {"a: inexact[..., m, n]"},
    .out = {"lu", "pivots", "permutation"},
    .type = lu_type,
    .shard = "... m n -> ... m n, ... k, ... m : whole(m), whole(n)",
    .grad = lu_grad,
    .cases = "a[2, 3, 3] [4, 2] [3, 5]; a in (-2, 2); a dtypes float32 float64 complex64 "
             "complex128; bad a[3]; skip dtypes: rounding may choose another row; fd 1e-5; skip "
             "grad2: the case by 1e-5 is beyond differences | a[1, 1]; a in (1, 2)",
});

constexpr OpDef kPivotsToPermutation = check({
    .name = "pivots_to_permutation",
    .doc = "Where each of `size` rows comes from when row i is exchanged with row pivots[i], one "
           "after the other. IndexError for a pivot outside.",
    .in = {"pivots: index[..., k]"},
    .attr = {"size: int"},
    .type = permutation_type,
    .shard = "... k -> ... k : whole(k)",
    .grad = no_gradient("places are not differentiable"),
    .cases = "pivots[2, 3]; pivots in ints(0, 3); size = 4; bad size = 2; skip scalar: a dim is "
             "needed",
    .internal = true,
});

constexpr OpDef kLuSolve = check({
    .name = "lu_solve",
    .doc = "x with a x = b from a's LU factors [..., n, n] and its pivots, which count from 1; b "
           "is [..., n, k].",
    .in = {"b: inexact[..., n, k]", "lu_data: inexact[..., n, n]", "lu_pivots: int[..., n]"},
    .shard = "none",
    .expand = expand_lu_solve,
    .cases = "b[2, 3, 2]; lu_data[2, 3, 3]; lu_data in regular; b dtypes float32 float64 complex64 "
             "complex128; lu_data dtypes float32 float64 complex64 complex128; lu_pivots[2, 3]; "
             "lu_pivots in {1, 2, 3}; bad b[2, 4, 2]; bad lu_pivots[3]; skip dtypes: both have one "
             "dtype; skip zero_size: sizes belong together",
    .primitive = "LuSolve()",
    .method = "lu_solve",
});

constexpr OpDef kLuUnpack = check({
    .name = "lu_unpack",
    .doc = "Permutation matrix p, l and u with a = p l u, from the LU factors [..., m, n] and the "
           "pivots, which count from 1.",
    .in = {"lu_data: inexact[..., m, n]", "lu_pivots: int[..., k]"},
    .out = {"p", "l", "u"},
    .shard = "none",
    .expand = expand_lu_unpack,
    .cases = "lu_data[2, 3, 3]; lu_data dtypes float32 float64 complex64 complex128; lu_pivots[2, "
             "3]; lu_pivots in {1, 2, 3}; bad lu_pivots[2, 2]; skip "
             "zero_size: sizes belong together | lu_data[3, 2]; lu_pivots[2] | lu_data[2, 4]; "
             "lu_pivots[2]; lu_pivots in {1, 2}",
    .internal = true,
});

void register_lu() { register_ops({&kLuFactor, &kPivotsToPermutation, &kLuSolve, &kLuUnpack}); }

}  // namespace mycel::ops
