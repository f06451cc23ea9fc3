// Functions of matrices: powers, exponential, logarithm.
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

// f([[a, e], [0, a]]) has the derivative of f at a in the direction e at its upper right (Mathias
// 1996); with a^H for a that is the adjoint of the derivative.
void function_grad(Adjoint& a) {
  Value h = adjoint_of(a.x(0)), d = a.dy();
  int64_t n = known_size(h, -1, a.node().op->name.c_str());
  int rank = h.rank();
  auto joined = [&](Value p, Value q, int axis) { return kConcat({p, q}, {axis}); };
  Value block = joined(joined(h, d, rank - 1), joined(kZerosLike({h}), h, rank - 1), rank - 2);
  Value y = a.graph().add(*a.node().op, {block})->out();
  a.dx(0) += columns_of(rows_of(y, 0, n), n, n);
}

void square_type(TypeRuleCtx& c) {
  need_square(c);
  types::same_as_first(c);
}

void expand_power(Expansion& e) {
  need_square(e);
  int64_t n = e.attrs.integer("n");
  Value base = e.x(0);
  if (n == 0) return e.result(identity_like(base));
  if (n < 0) base = kInverse({base});
  uint64_t left = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  Value y;
  while (true) {
    if (left & 1) y = y ? mm(y, base) : base;
    left >>= 1;
    if (!left) break;
    base = mm(base, base);
  }
  e.result(y);
}

}  // namespace

constexpr OpDef kMatrixExp = check({
    .name = "matrix_exp",
    .doc = "The exponential of each square matrix, the sum of x^k / k!. By Pade approximants with "
           "scaling and squaring (Higham 2005).",
    .in = {"input: inexact[..., n, n]"},
    .type = square_type,
    .shard = "... m n -> ... m n : whole(m), whole(n)",
    .grad = function_grad,
    .cases = "input[2, 3, 3] [1, 1]; input in (-1, 1); input dtypes float32 float64 complex64 "
             "complex128; bad input[2, 3]",
    .primitive = "MatrixExp()",
});

constexpr OpDef kMatrixLogarithm = check({
    .name = "matrix_logarithm",
    .doc = "The principal logarithm of each square complex matrix, the inverse of matrix_exp for "
           "matrices without eigenvalues on the negative real axis.",
    .in = {"x: complex[..., n, n]"},
    .type = square_type,
    .shard = "... m n -> ... m n : whole(m), whole(n)",
    .grad = function_grad,
    .cases = "x[2, 3, 3] [1, 1]; x in regular; bad x[2, 3]; tol 1e-4",
    .primitive = "MatrixLogarithm()",
    .internal = true,
});

constexpr OpDef kMatrixPower = check({
    .name = "matrix_power",
    .doc = "Each square matrix multiplied with itself n times; for negative n its inverse, for 0 "
           "the identity.",
    .in = {"input: inexact[..., n, n]"},
    .attr = {"n: int"},
    .shard = "none",
    .expand = expand_power,
    .cases = "input[2, 3, 3]; input in regular; n = 0 1 2 5 -1 -3; input dtypes float32 float64 "
             "complex64 complex128; tol 1e-4; bad input[2, 3]",
    .primitive = "MatrixPower(n)",
    .method = "matrix_power",
});

void register_matrix_functions() { register_ops({&kMatrixExp, &kMatrixLogarithm, &kMatrixPower}); }

}  // namespace mycel::ops
