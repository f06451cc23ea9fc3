// Complex numbers and their parts. Gradients follow the convention that dx is the direction of
// steepest ascent of the real part of the loss: for y = f(x) holomorphic, dx = dy * conj(f'(x)).
#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {
DType complex_of(DType d) { return d == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64; }

void join_type(TypeRuleCtx& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.dtype(i) != DType::kFloat32 && c.dtype(i) != DType::kFloat64) {
      c.fail_type("float32 or float64 expected");
    }
  }
  types::broadcast(c);
  c.out[0].dtype = complex_of(c.dtype(0));
}
}  // namespace

constexpr OpDef kComplex = check({
    .name = "complex",
    .doc = "The complex number re + i*im of two float32 or float64 parts.",
    .in = {"real: float", "imag: float"},
    .promote = Promote::kCommon,
    .type = join_type,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kReal({a.dy()});
          a.dx(1) += kImag({a.dy()});
        },
    .scalar = binary([](auto re, auto im) { return make_complex(re, im); }),
    .cases = "dtypes float32 float64; at (1, -2) -> 1-2i",
    .primitive = "Complex",
});

constexpr OpDef kPolar = check({
    .name = "polar",
    .doc = "The complex number abs * (cos(angle) + i*sin(angle)).",
    .in = {"abs: float", "angle: float"},
    .promote = Promote::kCommon,
    .type = join_type,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value size = a.x(0), c = kCos({a.x(1)}), s = kSin({a.x(1)});
          Value re = kReal({a.dy()}), im = kImag({a.dy()});
          a.dx(0) += re * c + im * s;
          a.dx(1) += size * (im * c - re * s);
        },
    .scalar = binary(
        [](auto size, auto angle) { return make_complex(size * cos(angle), size * sin(angle)); }),
    .cases = "dtypes float32 float64; at (2, 0) -> 2+0i",
    .primitive = "Polar",
});

constexpr OpDef kReal = check({
    .name = "real",
    .doc = "Real part; a real operand is returned as it is.",
    .in = {"input: any"},
    .type = types::real_of_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },
    .scalar = unary([](auto x) { return real(x); }),
    .cases = "at (3) -> 3",
    .primitive = "Real",
    .method = "real",
});

constexpr OpDef kImag = check({
    .name = "imag",
    .doc = "Imaginary part; zeros for a real operand.",
    .in = {"input: any"},
    .type = types::real_of_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          if (is_complex(a.x_type(0).dtype)) a.dx(0) += kComplex({a.dy() * 0.0, a.dy()});
        },
    .scalar = unary([](auto x) { return imag(x); }),
    .cases = "at (3) -> 0",
    .primitive = "Imag",
    .method = "imag",
});

constexpr OpDef kConj = check({
    .name = "conj",
    .doc = "Complex conjugate; a real operand is returned as it is.",
    .in = {"input: any"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += conj_of(a.dy()); },
    .scalar = unary([](auto x) { return conj(x); }),
    .cases = "at (3) -> 3",
    .primitive = "Conj",
    .method = "conj",
});

constexpr OpDef kAngle = check({
    .name = "angle",
    .doc = "Angle of a complex number in (-pi, pi]; of a real one 0 or, when negative, pi; NaN "
           "stays NaN. "
           "Integers give float32.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::real_of_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          if (!is_complex(a.x_type(0).dtype)) return;
          // d angle = (re * d im - im * d re) / |z|^2
          Value re = kReal({a.x(0)}), im = kImag({a.x(0)});
          Value scale = kDivNoNan({a.dy(), re * re + im * im});
          a.dx(0) += kComplex({-(im * scale), re * scale});
        },
    .scalar = unary([](auto x) {
      if (x.im) return atan2(imag(x), real(x));
      auto half_turn = select(x < 0, constant(x, 3.14159265358979323846), constant(x, 0.0));
      return select(isnan(x), x, half_turn);
    }),
    .cases = "at (-3) -> 3.1415926535897931; at (2) -> 0",
    .primitive = "Angle",
    .method = "angle",
});

void register_complex() { register_ops({&kComplex, &kPolar, &kReal, &kImag, &kConj, &kAngle}); }

}  // namespace mycel::ops
