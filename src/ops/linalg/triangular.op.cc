// Systems of equations with triangular matrices, and products with tridiagonal ones.
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

// With x = op(a)^-1 b: db = op(a)^-H dx, da = -db x^H, or its adjoint's when op is one.
void triangular_grad(Adjoint& g) {
  bool lower = g.attrs().boolean("lower"), unit = g.attrs().boolean("unit_diagonal");
  bool adjoint = g.attrs().boolean("adjoint");
  Value db = kTriangularSolve({g.x(0), g.dy()}, {lower, unit, !adjoint});
  g.dx(1) += db;
  if (!g.wants(0)) return;
  Value da = adjoint ? mm(g.y(), adjoint_of(db)) : mm(db, adjoint_of(g.y()));
  g.dx(0) -= lower ? lower_part(da, unit ? -1 : 0) : upper_part(da, unit ? 1 : 0);
}

void expand_tridiagonal(Expansion& e) {
  for (int i = 0; i < 4; ++i) need_matrix(e, i);
  Value x = e.x(3);
  int64_t n = known_size(x, -2, "tridiagonal_matmul");
  for (int i = 0; i < 3; ++i) {
    if (dims_differ(e.x(i).shape()[-2], 1) || dims_differ(e.x(i).shape()[-1], n))
      value_error("tridiagonal_matmul: '{}' must be [..., 1, {}], got {}", e.op.inputs[i].name, n,
                  e.x(i).type().str());
  }
  auto column = [&](int i) { return kSwapaxes({e.x(i)}, {-2, -1}); };
  auto moved = [&](int64_t start, int64_t above, int64_t below) {
    Attr::Ints low(x.rank(), 0), high(x.rank(), 0);
    low[x.rank() - 2] = above, high[x.rank() - 2] = below;
    return kPadNd({rows_of(x, start, n - 1)}, {low, high});
  };
  Value y = column(1) * x;
  if (n > 1) y = y + column(0) * moved(1, 0, 1) + column(2) * moved(0, 1, 0);
  e.result(y);
}

}  // namespace

constexpr OpDef kTriangularSolve = check({
    .name = "triangular_solve",
    .doc = "x with a x = b, or a^H x = b with adjoint, where a is the lower or upper triangle of "
           "[..., n, n], its diagonal taken as ones with unit_diagonal, and b is [..., n, k]. "
           "ValueError for a zero on the diagonal.",
    .in = {"a: inexact[..., n, n]", "b: inexact[..., n, k]"},
    .attr = {"lower: bool = True", "unit_diagonal: bool = False", "adjoint: bool = False"},
    .promote = Promote::kCommon,
    .type = solution_type,
    .shard = "... n n, ... n k -> ... n k : whole(n)",
    .grad = triangular_grad,
    .cases = "a[2, 3, 3]; a in lower; b[2, 3, 2]; unit_diagonal = False True; adjoint = False "
             "True; bad a[2, 3, 2]; bad b[2, 4, 2]; bad b[3]; a dtypes float32 float64 complex64 "
             "complex128; skip dtypes: both have one dtype | a[3, 3]; a in upper; b[2, 3, 1]; "
             "lower = False; adjoint = False True | a[2, 1, 3, 3]; a in lower; b[4, 3, 2]",
});

constexpr OpDef kMatrixTriangularSolve = check({
    .name = "matrix_triangular_solve",
    .doc = "x with matrix x = rhs, or matrix^H x = rhs with adjoint, for the lower or upper "
           "triangle of matrix.",
    .in = {"matrix: inexact[..., n, n]", "rhs: inexact[..., n, k]"},
    .attr = {"lower: bool = True", "adjoint: bool = False"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(
              kTriangularSolve({e.x(0), e.x(1)}, {e.attrs["lower"], false, e.attrs["adjoint"]}));
        },
    .cases = "matrix[2, 3, 3]; matrix in lower; rhs[2, 3, 2]; matrix dtypes float32 float64 "
             "complex64 complex128; rhs dtypes float32 float64 complex64 complex128; adjoint = "
             "False True; bad rhs[2, 2, 2]; skip dtypes: both have one dtype; skip bad_input: the "
             "primitive names itself",
    .primitive = "MatrixTriangularSolve(lower, adjoint)",
    .internal = true,
});

constexpr OpDef kTridiagonalMatmul = check({
    .name = "tridiagonal_matmul",
    .doc = "The product of tridiagonal matrices, given by their diagonals [..., 1, m], with rhs "
           "[..., m, n]: y[i] = subdiag[i] rhs[i-1] + maindiag[i] rhs[i] + superdiag[i] rhs[i+1]. "
           "The last element of superdiag and the first of subdiag are not used.",
    .in = {"superdiag: inexact[..., 1, m]", "maindiag: inexact[..., 1, m]",
           "subdiag: inexact[..., 1, m]", "rhs: inexact[..., m, n]"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_tridiagonal,
    .cases = "superdiag[2, 1, 3]; maindiag[2, 1, 3]; subdiag[2, 1, 3]; rhs[2, 3, 4]; superdiag "
             "dtypes float32 float64 complex64 complex128; bad rhs[2, 4, 4]; bad maindiag[2, 2, "
             "3]; skip dtypes: all have one dtype | superdiag[1, 1]; maindiag[1, 1]; subdiag[1, "
             "1]; rhs[1, 2]",
    .primitive = "TridiagonalMatMul()",
    .internal = true,
});

void register_triangular() {
  register_ops({&kTriangularSolve, &kMatrixTriangularSolve, &kTridiagonalMatmul});
}

}  // namespace mycel::ops
