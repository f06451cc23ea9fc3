// The Cholesky decomposition and what is solved with it.
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

// d = l^H dl, cut to the lower triangle with half of the diagonal, taken back through l on both
// sides (Giles 2008, 4.6).
void cholesky_grad(Adjoint& a) {
  Value l = a.y(), m = mm(adjoint_of(l), lower_part(a.dy()));
  Value p = lower_part(m, -1) + real_diagonal(m) * 0.5;
  Value right = kTriangularSolve({l, adjoint_of(p)}, {true, false, true});  // l^-H p^H
  Value s = kTriangularSolve({l, adjoint_of(right)}, {true, false, true});  // l^-H p l^-1
  a.dx(0) += onto_lower(s);
}

// The lower factor, whichever triangle is given.
Value lower_factor(const Expansion& e, int i) {
  Value l = e.x(i);
  return e.attrs.boolean("upper") ? adjoint_of(upper_part(l)) : l;
}

// (l l^H)^-1 b
Value solved(Value l, Value b) {
  Value y = kTriangularSolve({l, b}, {true, false, false});
  return kTriangularSolve({l, y}, {true, false, true});
}

}  // namespace

constexpr OpDef kCholeskyFactor = check({
    .name = "cholesky_factor",
    .doc = "The lower triangle l of a = l l^H for Hermitian positive definite matrices, of which "
           "the lower triangle is read. ValueError for others.",
    .in = {"a: inexact[..., n, n]"},
    .type =
        [](TypeRuleCtx& c) {
          need_square(c);
          types::same_as_first(c);
        },
    .shard = "... m n -> ... m n : whole(m), whole(n)",
    .grad = cholesky_grad,
    .cases =
        "a[2, 3, 3] [4, 4]; a in spd; a dtypes float32 float64 complex64 complex128 | a[1, 1]; "
        "bad a[2, 3]",
    .internal = true,
});

constexpr OpDef kCholesky = check({
    .name = "cholesky",
    .doc = "The lower triangle l of a = l l^H, or the upper one u of a = u^H u, for each Hermitian "
           "positive definite matrix a in [..., n, n]; of others the Hermitian part (a + a^H) / 2 "
           "is taken. ValueError where it is not positive definite.",
    .in = {"input_x: inexact[..., n, n]"},
    .attr = {"upper: bool = False"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_square(e);
          Value l = kCholeskyFactor({hermitian_part(e.x(0))});
          if (!e.attrs.boolean("upper")) return e.result(l);
          Value u = adjoint_of(l);  // the conjugate of 0 is 0 - 0i
          e.result(is_complex(u.dtype()) ? upper_part(u) : u);
        },
    .cases = "input_x[2, 3, 3] [4, 4]; input_x in spd; upper = False True; input_x dtypes float32 "
             "float64 complex64 complex128; bad input_x[2, 3]",
    .primitive = "Cholesky(upper)",
    .method = "cholesky",
});

constexpr OpDef kCholeskyInverse = check({
    .name = "cholesky_inverse",
    .doc = "The inverse of the matrix whose Cholesky factor is given: (l l^H)^-1, with upper (u^H "
           "u)^-1.",
    .in = {"input_x: inexact[..., n, n]"},
    .attr = {"upper: bool = False"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_square(e);
          Value l = lower_factor(e, 0);
          e.result(solved(l, identity_like(l)));
        },
    .cases = "input_x[2, 3, 3]; input_x in lower; input_x dtypes float32 float64 complex64 "
             "complex128; bad input_x[2, 3] | input_x[4, 4]; input_x in upper; upper = True",
    .primitive = "CholeskyInverse(upper)",
    .method = "cholesky_inverse",
});

constexpr OpDef kCholeskySolve = check({
    .name = "cholesky_solve",
    .doc = "x with a x = input, where input2 is the Cholesky factor of a: input [..., n, k], "
           "input2 [..., n, n].",
    .in = {"input: inexact[..., n, k]", "input2: inexact[..., n, n]"},
    .attr = {"upper: bool = False"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_matrix(e, 0);
          need_square(e, 1);
          e.result(solved(lower_factor(e, 1), e.x(0)));
        },
    .cases = "input[2, 3, 2]; input2[2, 3, 3]; input2 in lower; input dtypes float32 float64 "
             "complex64 complex128; bad input[2, 4, 2]; bad input2[2, 3, 2]; skip dtypes: both "
             "have one dtype | input[3, 2]; input2[3, 3]; input2 in upper; upper = True",
    .primitive = "CholeskySolve(upper)",
    .method = "cholesky_solve",
});

void register_cholesky() {
  register_ops({&kCholeskyFactor, &kCholesky, &kCholeskyInverse, &kCholeskySolve});
}

}  // namespace mycel::ops
