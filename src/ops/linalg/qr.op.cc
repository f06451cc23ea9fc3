// The QR decomposition.
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

void qr_type(TypeRuleCtx& c) {
  need_matrix(c);
  const Shape& s = c.shape(0);
  bool complete = c.attrs.string("mode") == "complete";
  int64_t k = complete ? s[-2] : shorter(s[-2], s[-1]);
  c.result(c.dtype(0), behind_batch(s, 2, {s[-2], k}));
  c.result(c.dtype(0), behind_batch(s, 2, {k, s[-1]}));
}

// With x = q^H da r^-1: its strict lower triangle is that of the skew q^H dq, the rest is dr r^-1,
// whose diagonal is real. Columns beyond the square are solved for: r2 = q^H a2.
void qr_grad(Adjoint& a) {
  Value q = a.y(0), r = a.y(1), dq = a.dy(0), dr = upper_part(a.dy(1));
  int64_t m = known_size(q, -2, "qr"), n = known_size(r, -1, "qr");
  if (a.attrs().string("mode") == "complete" && m > n)
    value_error(
        "qr: the columns of q beyond the {} of the matrix are not unique and have no "
        "gradient; use mode 'reduced'",
        n);
  Value beyond;
  if (n > m) {
    Value dr2 = columns_of(dr, m, n - m);
    dq = dq + mm(columns_of(a.x(0), m, n - m), adjoint_of(dr2));
    beyond = mm(q, dr2);
    r = columns_of(r, 0, m), dr = columns_of(dr, 0, m);
  }
  Value k = mm(adjoint_of(q), dq) - mm(dr, adjoint_of(r));
  Value strict = upper_part(k, 1);
  Value inner = dq - mm(q, strict + adjoint_of(strict) + real_diagonal(k));
  Value da = adjoint_of(kTriangularSolve({r, adjoint_of(inner)}, {false, false, false}));
  if (beyond) da = kConcat({da, beyond}, {da.rank() - 1});
  a.dx(0) += da;
}

}  // namespace

constexpr OpDef kQr = check({
    .name = "qr",
    .doc = "q with orthonormal columns and an upper triangle r whose product is the matrix [..., "
           "m, n]; q is [m, min(m, n)], with mode complete [m, m]. By Householder reflectors, "
           "signs as LAPACK's.",
    .in = {"input: inexact[..., m, n]"},
    .attr = {"mode: str(reduced|complete) = reduced"},
    .out = {"q", "r"},
    .type = qr_type,
    .shard = "... m n -> ... m k, ... k n : whole(m), whole(n)",
    .grad = qr_grad,
    .cases = "input[2, 4, 3] [3, 3] [2, 3]; input in (-2, 2); input dtypes float32 float64 "
             "complex64 complex128; tol 1e-4; fd 1e-5; bad input[3] | input[3, 3] [2, 3]; mode = "
             "complete | input[3, 2]; mode = complete; skip grad: not unique; skip grad2: not "
             "unique",
});

constexpr OpDef kQrFull = check({
    .name = "qr_full",
    .doc = "The QR decomposition, with q square when full_matrices.",
    .in = {"x: inexact[..., m, n]"},
    .attr = {"full_matrices: bool = False"},
    .out = {"q", "r"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_matrix(e);
          const char* mode = e.attrs.boolean("full_matrices") ? "complete" : "reduced";
          e.results = all_results(kQr, {e.x(0)}, {mode});
        },
    .cases = "x[2, 3, 3]; x in (-2, 2); full_matrices = False True; tol 1e-4; fd 1e-5; x dtypes "
             "float32 float64 complex64 complex128; bad x[3]",
    .primitive = "Qr(full_matrices)",
    .internal = true,
});

void register_qr() { register_ops({&kQr, &kQrFull}); }

}  // namespace mycel::ops
