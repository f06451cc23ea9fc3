// Eigenvalues and eigenvectors.
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

DType complex_of(DType d) {
  return real_part_of(d) == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

void values_type(TypeRuleCtx& c, DType d) {
  need_square(c);
  c.result(d, behind_batch(c.shape(0), 1, {}));
}

// Giles 2008, 3.1, for Hermitian matrices of which the lower triangle is read.
Value from_values(Value v, Value dw) { return mm(scaled_columns(v, dw), adjoint_of(v)); }

void eigh_grad(Adjoint& a) {
  Value v = a.y(1);
  Value whole = from_values(v, a.dy(0));
  if (a.has_dy(1)) {
    Value inner = mm(adjoint_of(v), a.dy(1)) * cast_to(gap_reciprocals(a.y(0)), v.dtype());
    whole = whole + mm(mm(v, inner), adjoint_of(v));
  }
  a.dx(0) += onto_lower(whole);
}

// v^-H d v^H, of which a real matrix takes the real part.
void add_through(Adjoint& a, Value v, Value d) {
  Value da = kMatrixSolve({v, mm(d, adjoint_of(v))}, {true});
  a.dx(0) += is_complex(a.x_type(0).dtype) ? da : kReal({da});
}

// Giles 2008, 3.1; columns of v have length 1, so what would change it is taken out.
void eig_grad(Adjoint& a) {
  Value w = a.y(0), v = a.y(1);
  Value d = scaled_columns(identity_like(v), a.dy(0));
  if (a.has_dy(1)) {
    Value vh = adjoint_of(v), g = mm(vh, a.dy(1));
    g = g - mm(vh, mm(v, real_diagonal(g)));
    d = d + g * conj_of(gap_reciprocals(w));
  }
  add_through(a, v, d);
}

}  // namespace

constexpr OpDef kEigh = check({
    .name = "eigh",
    .doc = "Eigenvalues w [..., n], rising, and orthonormal eigenvectors, the columns of v, of "
           "each Hermitian matrix, whose lower triangle is read: a = v diag(w) v^H.",
    .in = {"a: inexact[..., n, n]"},
    .out = {"w", "v"},
    .type =
        [](TypeRuleCtx& c) {
          values_type(c, real_part_of(c.dtype(0)));
          c.result(c.dtype(0), c.shape(0));
        },
    .shard = "... m n -> ... n, ... m n : whole(m), whole(n)",
    .grad = eigh_grad,
    .cases = "a[2, 3, 3] [4, 4] [1, 1]; a in spd; a dtypes float32 float64; tol 1e-4; fd 1e-5; bad "
             "a[2, 3]; skip dtypes: signs are arbitrary",
});

constexpr OpDef kEigvalsh = check({
    .name = "eigvalsh",
    .doc = "Eigenvalues [..., n], rising, of each Hermitian matrix, whose lower triangle is read.",
    .in = {"a: inexact[..., n, n]"},
    .type = [](TypeRuleCtx& c) { values_type(c, real_part_of(c.dtype(0))); },
    .shard = "... m n -> ... n : whole(m), whole(n)",
    .grad =
        [](Adjoint& a) {
          auto parts = all_results(kEigh, {a.x(0)}, {});
          a.dx(0) += onto_lower(from_values(parts[1], a.dy()));
        },
    .cases = "a[2, 3, 3] [4, 4] [1, 1]; a in spd; a dtypes float32 float64 complex64 complex128; "
             "tol 1e-4; fd 1e-5; bad a[2, 3]",
});

constexpr OpDef kEig = check({
    .name = "eig",
    .doc =
        "Complex eigenvalues w [..., n] in no order and eigenvectors of length 1, the columns of "
        "v, of each square matrix: a v = v diag(w).",
    .in = {"a: inexact[..., n, n]"},
    .out = {"w", "v"},
    .type =
        [](TypeRuleCtx& c) {
          values_type(c, complex_of(c.dtype(0)));
          c.result(complex_of(c.dtype(0)), c.shape(0));
        },
    .shard = "... m n -> ... n, ... m n : whole(m), whole(n)",
    .grad = eig_grad,
    .cases = "a[2, 3, 3] [1, 1]; a in regular; a dtypes float32 float64 complex64 complex128; tol "
             "1e-4; bad a[2, 3]; skip grad: phases are arbitrary, "
             "tests/python/test_linalg.py; skip grad2: the same; skip dtypes: the order and "
             "phases are arbitrary",
});

constexpr OpDef kEigvals = check({
    .name = "eigvals",
    .doc = "Complex eigenvalues [..., n] of each square matrix, in no order.",
    .in = {"a: inexact[..., n, n]"},
    .type = [](TypeRuleCtx& c) { values_type(c, complex_of(c.dtype(0))); },
    .shard = "... m n -> ... n : whole(m), whole(n)",
    .grad =
        [](Adjoint& a) {
          auto parts = all_results(kEig, {a.x(0)}, {});
          add_through(a, parts[1], scaled_columns(identity_like(parts[1]), a.dy()));
        },
    .cases = "a[2, 3, 3] [1, 1]; a in regular; a dtypes float32 float64 complex64 complex128; tol "
             "1e-4; fd 1e-5; bad a[2, 3]; skip dtypes: the order is arbitrary",
});

void register_eigen() { register_ops({&kEigh, &kEigvalsh, &kEig, &kEigvals}); }

}  // namespace mycel::ops
