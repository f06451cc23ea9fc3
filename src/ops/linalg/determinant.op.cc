// Determinants, and their logarithms.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matrices.h"
#include "ops/linalg/rooms.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

extern const OpDef kCofactor;

namespace {

// A number per matrix, beside its elements.
Value spread(Value v) { return kExpandDims({kExpandDims({v}, {-1})}, {-1}); }

// With c = conj(det a) a^-H: dc = tr(a^-1 da)^* c - c da^H a^-H.
void cofactor_grad(Adjoint& a) {
  Value h = adjoint_of(kInverse({a.x(0)})), c = a.y(), d = a.dy();
  Value trace = kReduceSum({conj_of(d) * h}, {Attr::Ints{-2, -1}, true});
  a.dx(0) += trace * c - mm(mm(c, adjoint_of(d)), h);
}

// d log|det a| = Re tr(a^-1 da); the sign of a complex one turns with the imaginary part.
void slogdet_grad(Adjoint& a) {
  Value h = adjoint_of(kInverse({a.x(0)}));
  a.dx(0) += cast_to(spread(a.dy(1)), h.dtype()) * h;
  if (!is_complex(h.dtype()) || !a.has_dy(0)) return;
  Value turn = kImag({conj_of(a.dy(0)) * a.y(0)});
  a.dx(0) -= spread(kComplex({turn * 0.0, turn})) * h;
}

void slogdet_type(TypeRuleCtx& c) {
  need_square(c);
  Shape batch = behind_batch(c.shape(0), 2, {});
  c.result(c.dtype(0), batch);
  c.result(real_part_of(c.dtype(0)), batch);
}

}  // namespace

constexpr OpDef kDet = check({
    .name = "det",
    .doc = "The determinant of each square matrix.",
    .in = {"input: inexact[..., n, n]"},
    .type =
        [](TypeRuleCtx& c) {
          need_square(c);
          c.result(c.dtype(0), behind_batch(c.shape(0), 2, {}));
        },
    .shard = "... m n -> ... : whole(m), whole(n)",
    .grad = [](Adjoint& a) { a.dx(0) += spread(a.dy()) * kCofactor({a.x(0)}); },
    .cases = "input[2, 3, 3] [1, 1] [4, 4]; input in regular; input dtypes float32 float64 "
             "complex64 complex128; bad input[2, 3]",
    .onnx = "Det",
    .primitive = "MatrixDeterminant()",
    .method = "det matrix_determinant",
    .alias = "matrix_determinant",
});

constexpr OpDef kCofactor = check({
    .name = "cofactor",
    .doc = "The gradient of each determinant, conj(det(x)) x^-H, of singular matrices too: the "
           "determinants of what is left without a row and a column, with alternating signs, "
           "conjugated.",
    .in = {"x: inexact[..., n, n]"},
    .type =
        [](TypeRuleCtx& c) {
          need_square(c);
          types::same_as_first(c);
        },
    .shard = "... m n -> ... m n : whole(m), whole(n)",
    .grad = cofactor_grad,
    .cases = "x[2, 3, 3] [1, 1] [4, 4]; x in regular; x dtypes float32 float64 complex64 "
             "complex128; bad x[2, 3]",
    .internal = true,
});

constexpr OpDef kSlogdet = check({
    .name = "slogdet",
    .doc = "Sign (of a complex matrix: of length 1) and logarithm of the absolute value of each "
           "determinant; 0 and -inf of a singular matrix.",
    .in = {"input: inexact[..., n, n]"},
    .out = {"sign", "logabsdet"},
    .type = slogdet_type,
    .shard = "... m n -> ..., ... : whole(m), whole(n)",
    .grad = slogdet_grad,
    .cases = "input[2, 3, 3] [1, 1]; input in regular; input dtypes float32 float64 complex64 "
             "complex128; bad input[2, 3]",
    .primitive = "LogMatrixDeterminant()",
    .method = "slogdet log_matrix_determinant",
    .alias = "log_matrix_determinant",
});

constexpr OpDef kLogdet = check({
    .name = "logdet",
    .doc = "The logarithm of each determinant: NaN where it is negative, -inf where it is 0.",
    .in = {"input: inexact[..., n, n]"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          need_square(e);
          auto parts = all_results(kSlogdet, {e.x(0)}, {});
          e.result(kLog({parts[0]}) + cast_to(parts[1], parts[0].dtype()));
        },
    .cases = "input[2, 3, 3] [1, 1]; input in spd; input dtypes float32 float64 complex64 "
             "complex128; bad input[2, 3]",
    .method = "logdet",
});

void register_determinant() { register_ops({&kDet, &kCofactor, &kSlogdet, &kLogdet}); }

}  // namespace mycel::ops
