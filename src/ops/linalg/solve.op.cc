// Systems of equations, inverses and least squares.
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

// With x = op(a)^-1 b: db = op(a)^-H dx, da = -db x^H, or its adjoint when op is one.
void solve_grad(Adjoint& g) {
  bool adjoint = g.attrs().boolean("adjoint");
  Value db = kMatrixSolve({g.x(0), g.dy()}, {!adjoint});
  g.dx(1) += db;
  if (g.wants(0)) g.dx(0) -= adjoint ? mm(g.y(), adjoint_of(db)) : mm(db, adjoint_of(g.y()));
}

Value least_squares(Value a, Value b) {
  int64_t m = known_size(a, -2, "lstsq"), n = known_size(a, -1, "lstsq");
  auto qr = all_results(kQr, {m >= n ? a : adjoint_of(a)}, {"reduced"});
  if (m >= n) return kTriangularSolve({qr[1], mm(adjoint_of(qr[0]), b)}, {false, false, false});
  return mm(qr[0], kTriangularSolve({qr[1], b}, {false, false, true}));
}

void expand_lstsq(Expansion& e) {
  need_matrix(e, 0);
  Value a = e.x(0), b = e.x(1);
  if (b.rank() + 1 == a.rank()) b = kExpandDims({b}, {-1});
  if (b.rank() != a.rank() || dims_differ(a.shape()[-2], b.shape()[-2]))
    value_error("lstsq: a of {} rows and the right sides do not belong together: {} and {}",
                a.shape()[-2], a.type().str(), e.x(1).type().str());
  e.result(least_squares(a, b));
}

void expand_normal_equations(Expansion& e) {
  need_matrix(e, 0);
  need_matrix(e, 1);
  Value a = e.x(0), b = e.x(1);
  if (dims_differ(a.shape()[-2], b.shape()[-2]))
    value_error("matrix_solve_ls: matrix and rhs must have one number of rows, got {} and {}",
                a.type().str(), b.type().str());
  if (e.has(2) && e.x(2).rank() != 0)
    value_error("matrix_solve_ls: l2_regularizer must be a number, got {}", e.x(2).type().str());
  if (!e.attrs.boolean("fast")) return e.result(mm(kPinv({a}), b));
  bool tall = known_size(a, -2, "matrix_solve_ls") >= known_size(a, -1, "matrix_solve_ls");
  Value h = adjoint_of(a), normal = tall ? mm(h, a) : mm(a, h);
  if (e.has(2)) normal = normal + identity_like(normal) * cast_to(e.x(2), a.dtype());
  Value l = kCholesky({normal});
  e.result(tall ? kCholeskySolve({mm(h, b), l}) : mm(h, kCholeskySolve({b, l})));
}

}  // namespace

constexpr OpDef kMatrixSolve = check({
    .name = "matrix_solve",
    .doc = "x with matrix x = rhs, or matrix^H x = rhs with adjoint; matrix [..., n, n], rhs [..., "
           "n, k], batch dims broadcast. ValueError for a singular matrix.",
    .in = {"matrix: inexact[..., n, n]", "rhs: inexact[..., n, k]"},
    .attr = {"adjoint: bool = False"},
    .promote = Promote::kCommon,
    .type = solution_type,
    .shard = "... n n, ... n k -> ... n k : whole(n)",
    .grad = solve_grad,
    .cases = "matrix[2, 3, 3]; matrix in regular; rhs[2, 3, 2]; adjoint = False True; matrix "
             "dtypes float32 float64 complex64 complex128; bad matrix[2, 3, 2]; bad rhs[2, 4, 2]; "
             "bad rhs[3]; skip dtypes: both have one dtype | matrix[1, 1]; rhs[1, 1] | matrix[3, "
             "3]; rhs[2, 3, 1]",
    .primitive = "MatrixSolve(adjoint)",
});

constexpr OpDef kInverse = check({
    .name = "inverse",
    .doc = "The inverse of each square matrix. ValueError for a singular one.",
    .in = {"input: inexact[..., n, n]"},
    .type =
        [](TypeRuleCtx& c) {
          need_square(c);
          types::same_as_first(c);
        },
    .shard = "... m n -> ... m n : whole(m), whole(n)",
    .grad =
        [](Adjoint& a) {
          Value h = adjoint_of(a.y());
          a.dx(0) -= mm(h, mm(a.dy(), h));
        },
    .cases = "input[2, 3, 3] [1, 1]; input in regular; input dtypes float32 float64 complex64 "
             "complex128; bad input[2, 3]",
    .method = "inverse",
});

constexpr OpDef kMatrixInverse = check({
    .name = "matrix_inverse",
    .doc = "The inverse of each square matrix, of its conjugate transpose with adjoint.",
    .in = {"x: inexact[..., n, n]"},
    .attr = {"adjoint: bool = False"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_square(e);
          Value y = kInverse({e.x(0)});
          e.result(e.attrs.boolean("adjoint") ? adjoint_of(y) : y);
        },
    .cases = "x[2, 3, 3]; x in regular; adjoint = False True; x dtypes float32 float64 complex64 "
             "complex128; bad x[2, 3]",
    .primitive = "MatrixInverse(adjoint)",
    .internal = true,
});

constexpr OpDef kLstsq = check({
    .name = "lstsq",
    .doc = "For input [..., m, n] of full rank and A [..., m, k] or [m]: with m >= n the x that "
           "makes |input x - A| least, else the shortest x with input x = A. By QR.",
    .in = {"input: inexact[..., m, n]", "a: inexact"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_lstsq,
    .cases =
        "input[2, 4, 3]; a[2, 4, 2]; input dtypes float32 float64 complex64 complex128; a dtypes "
        "float32 float64 complex64 complex128; bad a[2, 3, 2]; skip zero_size: sizes belong "
        "together; skip dtypes: both have one dtype | input[3, 4]; a[3, 1] | input[4, 2]; a[4]",
    .method = "lstsq",
});

constexpr OpDef kMatrixSolveLs = check({
    .name = "matrix_solve_ls",
    .doc = "Least squares: with fast by the normal equations, (a^H a + l2_regularizer) x = a^H rhs "
           "and for more columns than rows x = a^H (a a^H + l2_regularizer)^-1 rhs; else by "
           "singular values, without the regularizer, for matrices of any rank.",
    .in = {"matrix: inexact[..., m, n]", "rhs: inexact[..., m, k]", "l2_regularizer?: float[]"},
    .attr = {"fast: bool = True"},
    .shard = "none",
    .expand = expand_normal_equations,
    .cases = "matrix[2, 4, 3]; rhs[2, 4, 2]; matrix dtypes float32 float64 complex64 complex128; "
             "rhs dtypes float32 float64 complex64 complex128; l2_regularizer in (0.1, 1); fast = "
             "True False; bad rhs[2, 3, 2]; skip dtypes: both have one dtype; skip zero_size: "
             "sizes belong together | matrix[2, 3]; rhs[2, 2]",
    .primitive = "MatrixSolveLs(fast)",
    .internal = true,
});

void register_solve() {
  register_ops({&kMatrixSolve, &kInverse, &kMatrixInverse, &kLstsq, &kMatrixSolveLs});
}

}  // namespace mycel::ops
