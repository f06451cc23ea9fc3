// Trigonometric and hyperbolic functions and their inverses.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/complex_functions.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {
constexpr double kPi = 3.14159265358979323846;
}

constexpr OpDef kSin = check({
    .name = "sin",
    .doc = "Sine of an angle in radians.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * conj_of(kCos({a.x(0)})); },
    .scalar = unary([](auto x) { return formulas::sine(x); }),
    .cases = "at (0.5) -> 0.47942553860420301; at (100) -> -0.50636564110975879; at (inf) -> nan",
    .onnx = "Sin",
    .primitive = "Sin",
    .method = "sin",
});

constexpr OpDef kCos = check({
    .name = "cos",
    .doc = "Cosine of an angle in radians.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) -= a.dy() * conj_of(kSin({a.x(0)})); },
    .scalar = unary([](auto x) { return formulas::cosine(x); }),
    .cases = "at (0.5) -> 0.87758256189037271; at (100) -> 0.86231887228768389; at (inf) -> nan",
    .onnx = "Cos",
    .primitive = "Cos",
    .method = "cos",
});

constexpr OpDef kTan = check({
    .name = "tan",
    .doc = "Tangent of an angle in radians.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = a.y();
          a.dx(0) += a.dy() * conj_of(y * y + 1.0);
        },
    .scalar = unary([](auto x) { return formulas::tangent(x); }),
    .cases =
        "input in (-1.2, 1.2); at (0.5) -> 0.54630248984379051; at (1.5) -> 14.101419947171719",
    .onnx = "Tan",
    .primitive = "Tan",
    .method = "tan",
});

constexpr OpDef kAsin = check({
    .name = "asin",
    .doc = "Inverse sine in [-pi/2, pi/2]; NaN outside [-1, 1].",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += a.dy() * conj_of(kRsqrt({1.0 - x * x}));
        },
    .scalar = unary([](auto x) { return formulas::arc_sine(x); }),
    .cases = "input in (-0.9, 0.9); at (0.5) -> 0.52359877559829887; at (1) -> 1.5707963267948966; "
             "at (2) -> nan",
    .onnx = "Asin",
    .primitive = "Asin",
    .method = "asin arcsin",
    .alias = "arcsin",
});

constexpr OpDef kAcos = check({
    .name = "acos",
    .doc = "Inverse cosine in [0, pi]; NaN outside [-1, 1].",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) -= a.dy() * conj_of(kRsqrt({1.0 - x * x}));
        },
    .scalar = unary([](auto x) { return formulas::arc_cosine(x); }),
    .cases = "input in (-0.9, 0.9); at (0.5) -> 1.0471975511965979; at (-1) -> 3.1415926535897931; "
             "at (2) -> nan",
    .onnx = "Acos",
    .primitive = "ACos",
    .method = "acos arccos",
    .alias = "arccos",
});

constexpr OpDef kAtan = check({
    .name = "atan",
    .doc = "Inverse tangent in [-pi/2, pi/2].",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += a.dy() / conj_of(x * x + 1.0);
        },
    .scalar = unary([](auto x) { return formulas::arc_tangent(x); }),
    .cases = "at (1) -> 0.78539816339744828; at (-inf) -> -1.5707963267948966; at (3) -> "
             "1.2490457723982544",
    .onnx = "Atan",
    .primitive = "Atan",
    .method = "atan arctan",
    .alias = "arctan",
});

constexpr OpDef kAtan2 = check({
    .name = "atan2",
    .doc = "Angle of the point (other, input) in [-pi, pi], quadrants told apart: atan(input / "
           "other).",
    .in = {"input: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = a.x(0), x = a.x(1);
          Value scale = a.dy() / (x * x + y * y);
          a.dx(0) += scale * x;
          a.dx(1) -= scale * y;
        },
    .scalar = binary([](auto y, auto x) { return atan2(y, x); }),
    .cases =
        "input in (0.2, 2); at (1, -1) -> 2.3561944901923448; at (-1, -1) -> -2.3561944901923448; "
        "at (0, -1) -> 3.1415926535897931; at (0, 1) -> 0; bad input[2] other[3]",
    .primitive = "Atan2",
    .method = "atan2 arctan2",
    .alias = "arctan2",
});

constexpr OpDef kSinh = check({
    .name = "sinh",
    .doc = "Hyperbolic sine.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * conj_of(kCosh({a.x(0)})); },
    .scalar = unary([](auto x) { return formulas::hyperbolic_sine(x); }),
    .cases = "at (1) -> 1.1752011936438014; at (-inf) -> -inf",
    .onnx = "Sinh",
    .primitive = "Sinh",
    .method = "sinh",
});

constexpr OpDef kCosh = check({
    .name = "cosh",
    .doc = "Hyperbolic cosine.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * conj_of(kSinh({a.x(0)})); },
    .scalar = unary([](auto x) { return formulas::hyperbolic_cosine(x); }),
    .cases = "at (1) -> 1.5430806348152437; at (-inf) -> inf",
    .onnx = "Cosh",
    .primitive = "Cosh",
    .method = "cosh",
});

constexpr OpDef kAsinh = check({
    .name = "asinh",
    .doc = "Inverse hyperbolic sine.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += a.dy() * conj_of(kRsqrt({x * x + 1.0}));
        },
    .scalar = unary([](auto x) { return formulas::area_sine(x); }),
    .cases = "at (1) -> 0.88137358701954303; at (-1e10) -> -23.718998110500402",
    .onnx = "Asinh",
    .primitive = "Asinh",
    .method = "asinh arcsinh",
    .alias = "arcsinh",
});

constexpr OpDef kAcosh = check({
    .name = "acosh",
    .doc = "Inverse hyperbolic cosine; NaN below 1.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += a.dy() * conj_of(kRsqrt({x - 1.0}) * kRsqrt({x + 1.0}));
        },
    .scalar = unary([](auto x) { return formulas::area_cosine(x); }),
    .cases = "input in (1.3, 5); at (2) -> 1.3169578969248167; at (1) -> 0; at (0.5) -> nan",
    .onnx = "Acosh",
    .primitive = "Acosh",
    .method = "acosh arccosh",
    .alias = "arccosh",
});

constexpr OpDef kAtanh = check({
    .name = "atanh",
    .doc = "Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += a.dy() / conj_of((1.0 - x) * (1.0 + x));
        },
    .scalar = unary([](auto x) { return formulas::area_tangent(x); }),
    .cases = "input in (-0.8, 0.8); at (0.5) -> 0.54930614433405489; at (1) -> inf; at (2) -> nan",
    .onnx = "Atanh",
    .primitive = "Atanh",
    .method = "atanh arctanh",
    .alias = "arctanh",
});

constexpr OpDef kHypot = check({
    .name = "hypot",
    .doc = "sqrt(x^2 + y^2) without overflow in between; infinite when either is, even beside NaN.",
    .in = {"input: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = a.y();
          Value scale = a.dy() / where(equal(y, 0.0), 1.0, y);
          a.dx(0) += scale * a.x(0);
          a.dx(1) += scale * a.x(1);
        },
    .scalar = binary([](auto x, auto y) {
      auto p = abs(x), q = abs(y);
      auto big = max(p, q), small = min(p, q);
      auto ratio = select(big == 0, small, small / big);
      auto length = big * sqrt(1 + ratio * ratio);
      return select(isinf(x) | isinf(y), constant(x, HUGE_VAL), length);
    }),
    .cases = "input in (0.3, 2); at (3, 4) -> 5; at (0, 0) -> 0; at (-inf, nan) -> inf; at (3e200, "
             "4e200) -> 5e200",
    .onnx = "= Sqrt(Add(Mul(input, input), Mul(other, other)))",
    .primitive = "Hypot",
    .method = "hypot",
    .commutative = true,
});

constexpr OpDef kDeg2rad = check({
    .name = "deg2rad",
    .doc = "Degrees to radians: x * pi / 180.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * (kPi / 180); },
    .scalar = unary([](auto x) { return x * constant(x, kPi / 180); }),
    .cases = "at (90) -> 1.5707963267948966",
    .onnx = "= Mul(x, 0.017453292519943295)",
    .method = "deg2rad",
});

constexpr OpDef kRad2deg = check({
    .name = "rad2deg",
    .doc = "Radians to degrees: x * 180 / pi.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * (180 / kPi); },
    .scalar = unary([](auto x) { return x * constant(x, 180 / kPi); }),
    .cases = "at (1.5707963267948966) -> 90",
    .onnx = "= Mul(x, 57.29577951308232)",
    .method = "rad2deg",
});

namespace {
// Derivative of sin(pi x) / (pi x), also at 0.
Value sinc_slope(Value x) {
  Value zero = equal(x, 0.0);
  Value safe = where(zero, 1.0, x);
  Value angle = safe * kPi;
  return where(zero, 0.0, (kCos({angle}) - kSin({angle}) / angle) / safe);
}
}  // namespace

constexpr OpDef kSinc = check({
    .name = "sinc",
    .doc = "Normalised cardinal sine sin(pi x) / (pi x), 1 at 0.",
    .in = {"input: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * sinc_slope(a.x(0)); },
    .scalar = unary([](auto x) {
      auto angle = select(x == 0, constant(x, 1.0), x * constant(x, kPi));
      return select(x == 0, constant(x, 1.0), sin(angle) / angle);
    }),
    .cases = "at (0.5) -> 0.63661977236758138; at (0) -> 1; fd 1e-5",
    .primitive = "Sinc",
    .method = "sinc",
});

void register_trigonometric() {
  register_ops({&kSin, &kCos, &kTan, &kAsin, &kAcos, &kAtan, &kAtan2, &kSinh, &kCosh, &kAsinh,
                &kAcosh, &kAtanh, &kHypot, &kDeg2rad, &kRad2deg, &kSinc});
}

}  // namespace mycel::ops
