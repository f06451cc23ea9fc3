// Householder reflectors: QR as LAPACK packs it, and products with its q.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

void geqrf_type(TypeRuleCtx& c) {
  need_matrix(c);
  const Shape& s = c.shape(0);
  types::same_as_first(c);
  c.result(c.dtype(0), behind_batch(s, 2, {shorter(s[-2], s[-1])}));
}

// The product of the reflectors is 1 - v t v^H with t = (1 + diag(tau) s)^-1 diag(tau), s the
// strict upper triangle of v^H v (Puglisi 1992). Here: v and t c, or t^H c.
struct Reflectors {
  Value v, tau, system;

  Reflectors(const Expansion& e, int64_t most) {
    Value packed = e.x(0);
    int64_t k = known_size(e.x(1), -1, e.op.name.c_str());
    if (e.x(1).rank() + 1 != packed.rank() ||
        (packed.shape()[-1] != kUnknownDim && k > packed.shape()[-1]) || k > most)
      value_error("{}: '{}' of {} reflectors at most belongs to {}, got {}", e.op.name,
                  e.op.inputs[1].name, most, packed.type().str(), e.x(1).type().str());
    Value columns = columns_of(packed, 0, k);
    v = lower_part(columns, -1) + identity_like(columns);
    tau = e.x(1);
    Value strict = upper_part(mm(adjoint_of(v), v), 1);
    system = scaled_rows(tau, strict) + identity_like(strict);
  }
  Value inner(Value c, bool adjoint) const {
    if (adjoint)
      return scaled_rows(conj_of(tau), kTriangularSolve({system, c}, {false, true, true}));
    return kTriangularSolve({system, scaled_rows(tau, c)}, {false, true, false});
  }
  Value times(Value c, bool adjoint) const {
    return c - mm(v, inner(mm(adjoint_of(v), c), adjoint));
  }
};

void expand_orgqr(Expansion& e) {
  need_matrix(e, 0);
  int64_t m = known_size(e.x(0), -2, "orgqr"), n = known_size(e.x(0), -1, "orgqr");
  if (m < n) value_error("orgqr: at most as many columns as rows, got {}", e.x(0).type().str());
  e.result(Reflectors(e, n).times(identity_like(e.x(0)), false));
}

void expand_ormqr(Expansion& e) {
  need_matrix(e, 0);
  need_matrix(e, 2);
  Value c = e.x(2);
  bool left = e.attrs.boolean("left"), adjoint = e.attrs.boolean("transpose");
  int64_t m = known_size(e.x(0), -2, "ormqr");
  if (c.rank() != e.x(0).rank() || dims_differ(c.shape()[left ? -2 : -1], m))
    value_error("ormqr: q is {} by {}; 'other' must have {} {}, got {}", m, m, m,
                left ? "rows" : "columns", c.type().str());
  Reflectors q(e, m);
  e.result(left ? q.times(c, adjoint) : adjoint_of(q.times(adjoint_of(c), !adjoint)));
}

}  // namespace

constexpr OpDef kGeqrf = check({
    .name = "geqrf",
    .doc = "QR as LAPACK's geqrf packs it: r in the upper triangle, below it the reflectors h_i = "
           "1 - tau_i v_i v_i^H whose product is q; and tau [..., min(m, n)].",
    .in = {"input: inexact[..., m, n]"},
    .out = {"y", "tau"},
    .type = geqrf_type,
    .shard = "... m n -> ... m n, ... k : whole(m), whole(n)",
    .grad = no_gradient("the packed form has none; qr has"),
    .cases = "input[2, 4, 3] [3, 3] [2, 3]; input in (-2, 2); input dtypes float32 float64 "
             "complex64 complex128; tol 1e-4; bad input[3]",
    .primitive = "Geqrf()",
    .method = "geqrf",
});

constexpr OpDef kOrgqr = check({
    .name = "orgqr",
    .doc = "The first n columns of the product of the reflectors that geqrf packs in [..., m, n], "
           "m >= n; input2 is their tau.",
    .in = {"input: inexact[..., m, n]", "input2: inexact[..., k]"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_orgqr,
    .cases = "input[2, 4, 3]; input2[2, 3] [2, 2]; input dtypes float32 float64 complex64 "
             "complex128; bad input[2, 3, 4]; bad input2[2, 4]; bad input2[3]; skip dtypes: both "
             "have one dtype; skip zero_size: sizes belong together",
    .primitive = "Orgqr()",
    .method = "orgqr",
});

constexpr OpDef kOrmqr = check({
    .name = "ormqr",
    .doc = "q other, or other q when not left, for the square q of the reflectors that geqrf "
           "packs; q^H with transpose.",
    .in = {"input: inexact[..., m, k]", "tau: inexact[..., k]", "other: inexact"},
    .attr = {"left: bool = True", "transpose: bool = False"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_ormqr,
    .cases = "input[2, 4, 3]; tau[2, 3]; other[2, 4, 2]; transpose = False True; bad other[2, 3, "
             "2]; bad tau[2, 4]; input dtypes float32 float64 complex64 complex128; skip dtypes: "
             "all have one dtype; skip zero_size: sizes belong together | input[4, 2]; tau[2]; "
             "other[3, 4]; left = False; transpose = False True",
    .primitive = "Ormqr(left, transpose)",
    .method = "ormqr",
});

void register_reflectors() { register_ops({&kGeqrf, &kOrgqr, &kOrmqr}); }

}  // namespace mycel::ops
