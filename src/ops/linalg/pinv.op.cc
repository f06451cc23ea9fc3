// The pseudo-inverse of Moore and Penrose.
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

extern const OpDef kPinvWithin;

namespace {

void pinv_type(TypeRuleCtx& c) {
  need_matrix(c, 0);
  const Shape& s = c.shape(0);
  Shape batch = behind_batch(s, 2, {});
  for (int i = 1; i < 3; ++i) {
    if (c.dtype(i) != real_part_of(c.dtype(0))) c.fail_type("tolerances have the dtype of s");
    if (!mycel::broadcast(batch, c.shape(i), &batch))
      c.fail("tolerances and batch dims do not broadcast");
  }
  c.result(c.dtype(0), behind_batch(batch, 0, {s[-1], s[-2]}));
}

// Golub and Pereyra 1973: with p the pseudo-inverse, e = 1 - a p, f = 1 - p a:
// dp = -p da p + p p^H da^H e + f da^H p^H p.
void pinv_grad(Adjoint& g) {
  Value a = g.x(0), p = g.y(), d = g.dy(), ph = adjoint_of(p), dh = adjoint_of(d);
  Value left = mm(dh, mm(p, ph));  // e d^H p p^H
  Value right = mm(mm(ph, p), dh);
  Value da = left - mm(a, mm(p, left)) + right - mm(mm(right, p), a);
  g.dx(0) += da - mm(ph, mm(d, ph));
}

Value tolerance(const Expansion& e, int i, DType d, double otherwise) {
  return e.has(i) ? cast_to(e.x(i), d) : e.graph.scalar(d, otherwise);
}

void expand_pinv(Expansion& e) {
  need_matrix(e);
  Value x = e.x(0);
  DType d = real_part_of(x.dtype());
  if (e.attrs.boolean("hermitian")) {
    need_square(e);
    Value lower = lower_part(x, -1);
    x = lower + adjoint_of(lower) + real_diagonal(x);
  }
  int64_t m = known_size(x, -2, "pinv"), n = known_size(x, -1, "pinv");
  double unit = d == DType::kFloat64 ? 0x1p-52 : 0x1p-23;
  double usual = static_cast<double>(std::max(m, n)) * unit;
  Value atol = tolerance(e, 1, d, 0), rtol = tolerance(e, 2, d, usual);
  if (e.has(1) && !e.has(2)) rtol = where(greater(atol, 0.0), 0.0, rtol);
  e.result(kPinvWithin({x, atol, rtol}));
}

}  // namespace

constexpr OpDef kPinvWithin = check({
    .name = "pinv_within",
    .doc =
        "v diag(1 / s) u^H of each matrix u diag(s) v^H, where singular values of max(atol, rtol "
        "s[0]) or less are left out. Tolerances broadcast with the batch dims.",
    .in = {"a: inexact[..., m, n]", "atol: float", "rtol: float"},
    .type = pinv_type,
    .shard = "... m n, ..., ... -> ... n m : whole(m), whole(n)",
    .grad = pinv_grad,
    .cases = "a[2, 4, 3] [3, 3] [2, 4]; atol[]; atol in (0, 1e-9); rtol[]; rtol in (0, 1e-9); no "
             "grad of atol: a choice; no grad of rtol: a choice; skip dtypes: tolerances follow; "
             "skip kernels: the same; fd 1e-5; bad a[3]; bad a[2, 3, 3] atol[3]",
    .internal = true,
});

constexpr OpDef kPinv = check({
    .name = "pinv",
    .doc = "The pseudo-inverse of each matrix [..., m, n]. Singular values of max(atol, rtol "
           "times the largest) or less count as 0; rtol is max(m, n) epsilon unless given, and 0 "
           "beside an atol above 0. hermitian: the lower triangle alone is read.",
    .in = {"x: inexact[..., m, n]", "atol?: float", "rtol?: float"},
    .attr = {"hermitian: bool = False"},
    .shard = "none",
    .expand = expand_pinv,
    .cases =
        "x[2, 4, 3] [2, 3]; x dtypes float32 float64 complex64 complex128; atol[]; atol in (0, "
        "1e-9); rtol[]; rtol in (0, 1e-9); no grad of atol: a choice; no grad of rtol: a choice; "
        "skip dtypes: tolerances follow; fd 1e-5; bad x[3] | x[3, 3]; hermitian = True",
});

void register_pinv() { register_ops({&kPinvWithin, &kPinv}); }

}  // namespace mycel::ops
