// Whole quotients and remainders, powers, and products and quotients that treat zero specially.
#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "loops/nest.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/formulas.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {
// Step functions have a gradient: zero almost everywhere.
void zero_gradient(Adjoint&) {}

// x mod y = x - y * quotient, the quotient being a step function.
template <const OpDef& round>
void remainder_gradient(Adjoint& a) {
  a.dx(0) += a.dy();
  if (a.wants(1)) a.dx(1) -= a.dy() * round({a.x(0) / a.x(1)});
}

// The sign goes last: the lowest number of a dtype has no positive counterpart.
loops::Val gcd(loops::Val x, loops::Val y) {
  auto& nest = x.nest();
  loops::Var a = nest.var(x), b = nest.var(y);
  nest.loop_while([&] { return b.get() != 0; },
                  [&] {
                    auto r = a.get() % b.get();
                    a.set(b.get());
                    b.set(r);
                  });
  return abs(a.get());
}
}  // namespace

constexpr OpDef kFloorDiv = check({
    .name = "floor_div",
    .doc =
        "Quotient rounded down, floor(x / y) taken from the exact remainder. Infinities as their "
        "plain quotient: inf // 2 is inf, 1 // -inf is -0. An integer divided by 0 gives 0.",
    .in = {"x: real", "y: real"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = zero_gradient,
    .scalar = binary([](auto x, auto y) { return formulas::floor_div(x, y); }),
    .cases = "y in (0.5, 3); at (-7, 2) -> -4; at (1, 0.1) -> 9; at (1, 0) -> inf; at "
             "(inf, -2) -> -inf; at (-1, inf) -> -0.0; at (inf, inf) -> nan; bad x[2] y[3]",
    .onnx = "= int Div(Sub(x, Mod(x, y)), y) | Floor(Div(x, y))",
    .primitive = "FloorDiv",
    .method = "__floordiv__ __rfloordiv__ __ifloordiv__",
    .alias = "floordiv tensor_floordiv",
});

constexpr OpDef kFloorMod = check({
    .name = "floor_mod",
    .doc = "Remainder with the sign of the divisor, as Python's %: x - y * floor(x / y). An "
           "integer modulo "
           "0 gives 0.",
    .in = {"x: real", "y: real"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = remainder_gradient<kFloor>,
    .scalar = binary([](auto x, auto y) { return formulas::floor_mod(x, y); }),
    .cases =
        "y in (0.5, 3); at (-7, 2) -> 1; at (7, -2) -> -1; at (5.5, 2) -> 1.5; at (1, 0) -> nan",
    .onnx = "Mod",
    .primitive = "FloorMod",
    .method = "remainder __mod__ __rmod__ __imod__",
    .alias = "remainder floormod tensor_mod",
});

constexpr OpDef kTruncateDiv = check({
    .name = "truncate_div",
    .doc = "Quotient rounded towards zero, as C's division of integers; an integer divided by 0 "
           "gives 0.",
    .in = {"x: real", "y: real"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = zero_gradient,
    .scalar = binary([](auto x, auto y) { return trunc(x / y); }),
    .cases = "y in (0.5, 3); at (-7, 2) -> -3; at (7, 2) -> 3",
    .onnx = "= int Div(x, y) | Mul(Sign(Div(x, y)), Floor(Abs(Div(x, y))))",
    .primitive = "TruncateDiv",
});

constexpr OpDef kTruncateMod = check({
    .name = "truncate_mod",
    .doc = "Remainder with the sign of the dividend, as C's fmod; an integer modulo 0 gives 0.",
    .in = {"x: real", "y: real"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = remainder_gradient<kTrunc>,
    .scalar = binary([](auto x, auto y) { return x % y; }),
    .cases = "y in (0.5, 3); at (-7, 2) -> -1; at (7, -2) -> 1; at (5.5, 2) -> 1.5",
    .onnx = "= int Sub(x, Mul(Div(x, y), y)) | Sub(x, Mul(Mul(Sign(Div(x, y)), Floor(Abs(Div(x, "
            "y)))), y))",
    .primitive = "TruncateMod; Mod",
    .method = "fmod",
    .alias = "fmod",
});

constexpr OpDef kPow = check({
    .name = "pow",
    .doc = "Power x^y; integers stay integers (a negative exponent then gives 0, or 1 and -1 for "
           "those "
           "bases), 0^0 is 1, a negative base with a fractional exponent NaN.",
    .in = {"input: number", "exponent: number"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0), y = a.x(1);
          if (a.wants(0)) {
            // x^(y-1) would be infinite for x = y = 0, where the slope is 0: take another exponent
            // there.
            Value zero = equal(y, 0.0);
            a.dx(0) += a.dy() * conj_of(y * kPow({x, where(zero, 1.0, y - 1.0)}));
          }
          if (a.wants(1)) {
            Value safe = where(equal(x, 0.0), 1.0, x);
            a.dx(1) += a.dy() * conj_of(a.y() * kLog({safe}));
          }
        },
    .scalar = binary([](auto x, auto y) { return pow(x, y); }),
    .cases =
        "input in (0.3, 3); at (2, 0.5) -> 1.4142135623730951; at (0, 0) -> 1; at (-2, 3) -> -8; "
        "at (-2, 0.5) -> nan; bad input[2] exponent[3]",
    .onnx = "Pow",
    .primitive = "Pow",
    .method = "pow __pow__ __rpow__",
    .alias = "tensor_pow pows",
});

constexpr OpDef kFloatPower = check({
    .name = "float_power",
    .doc = "Power x^y computed in float64 (complex128 for complex operands).",
    .in = {"input: number", "exponent: number"},
    .type =
        [](TypeRuleCtx& c) {
          bool complex = is_complex(c.dtype(0)) || is_complex(c.dtype(1));
          Shape s = c.shape(0);
          if (!mycel::broadcast(s, c.shape(1), &s)) c.fail("the shapes do not broadcast");
          c.result(complex ? DType::kComplex128 : DType::kFloat64, s);
        },
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          DType wide = a.y_type().dtype;
          Value x = cast_to(a.x(0), wide), y = cast_to(a.x(1), wide);
          Value zero = equal(y, 0.0);
          a.dx(0) += a.dy() * conj_of(y * kPow({x, where(zero, 1.0, y - 1.0)}));
          if (a.wants(1)) a.dx(1) += a.dy() * conj_of(a.y() * kLog({where(equal(x, 0.0), 1.0, x)}));
        },
    .scalar = binary([](auto x, auto y) {
      DType wide = x.im || y.im ? DType::kComplex128 : DType::kFloat64;
      return pow(cast(x, wide), cast(y, wide));
    }),
    .cases = "input in (0.3, 3); at (2, 10) -> 1024",
    .method = "float_power",
});

constexpr OpDef kDivNoNan = check({
    .name = "div_no_nan",
    .doc = "Quotient x / y, and 0 where y is 0.",
    .in = {"x1: number", "x2: number"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = conj_of(a.x(1));
          Value quotient = kDivNoNan({a.dy(), y});
          a.dx(0) += quotient;
          if (a.wants(1)) a.dx(1) -= kDivNoNan({quotient * conj_of(a.x(0)), y});
        },
    .scalar = binary([](auto x, auto y) {
      auto zero = y == constant(y, int64_t{0});
      return select(zero, constant(x, int64_t{0}), x / select(zero, constant(y, int64_t{1}), y));
    }),
    .cases = "x2 in (0.5, 2); at (3, 0) -> 0; at (3, 2) -> 1.5",
    .onnx = "= Where(Equal(x2, 0), 0, Div(x1, x2))",
    .primitive = "DivNoNan",
});

constexpr OpDef kMulNoNan = check({
    .name = "mul_no_nan",
    .doc = "Product x * y, and 0 where y is 0 whatever x is.",
    .in = {"x: number", "y: number"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kMulNoNan({a.dy(), conj_of(a.x(1))});
          a.dx(1) += kMulNoNan({a.dy(), conj_of(a.x(0))});
        },
    .scalar = binary([](auto x, auto y) {
      auto zero = constant(y, int64_t{0});
      return select(y == zero, zero, x * y);
    }),
    .cases = "at (inf, 0) -> 0; at (3, 2) -> 6",
    .onnx = "= Where(Equal(y, 0), 0, Mul(x, y))",
    .primitive = "MulNoNan",
});

constexpr OpDef kXdivy = check({
    .name = "xdivy",
    .doc = "Quotient x / y, and 0 where x is 0 whatever y is.",
    .in = {"x: number", "y: number"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0), y = a.x(1);
          Value used = cast_to(not_equal(x, 0.0), x.dtype());
          a.dx(0) += a.dy() * conj_of(kXdivy({used, y}));
          if (a.wants(1)) a.dx(1) -= a.dy() * conj_of(kXdivy({kXdivy({x, y}), y}));
        },
    .scalar = binary([](auto x, auto y) {
      auto zero = constant(x, int64_t{0});
      return select(x == zero, zero, x / select(x == zero, constant(y, int64_t{1}), y));
    }),
    .cases = "y in (0.5, 2); at (0, 0) -> 0; at (3, 2) -> 1.5; at (1, 0) -> inf",
    .onnx = "= Where(Equal(x, 0), 0, Div(x, y))",
    .primitive = "Xdivy",
    .method = "xdivy",
});

constexpr OpDef kXlogy = check({
    .name = "xlogy",
    .doc = "x * log(y), and 0 where x is 0 (unless y is NaN).",
    .in = {"input: number", "other: number"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0), y = a.x(1);
          Value used = cast_to(not_equal(x, 0.0), x.dtype());
          if (a.wants(0)) a.dx(0) += a.dy() * conj_of(kXlogy({used, y}));
          if (a.wants(1)) a.dx(1) += a.dy() * conj_of(kXdivy({x, y}));
        },
    .scalar = binary([](auto x, auto y) {
      auto skip = (x == constant(x, int64_t{0})) & !isnan(y);
      return select(skip, constant(x, int64_t{0}),
                    x * log(select(skip, constant(y, int64_t{1}), y)));
    }),
    .cases =
        "other in (0.5, 2); at (0, 0) -> 0; at (3, 2) -> 2.0794415416798357; at (0, nan) -> nan",
    .onnx = "= Where(Equal(input, 0), 0, Mul(input, Log(other)))",
    .primitive = "Xlogy",
    .method = "xlogy",
});

constexpr OpDef kSquaredDifference = check({
    .name = "squared_difference",
    .doc = "(x - y)^2.",
    .in = {"x: number", "y: number"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value slope = a.dy() * conj_of(a.x(0) - a.x(1)) * 2.0;
          a.dx(0) += slope;
          a.dx(1) -= slope;
        },
    .scalar = binary([](auto x, auto y) {
      auto gap = x - y;
      return gap * gap;
    }),
    .cases = "at (3, 5) -> 4",
    .onnx = "= Mul(Sub(x, y), Sub(x, y))",
    .primitive = "SquaredDifference",
    .commutative = true,
});

constexpr OpDef kGcd = check({
    .name = "gcd",
    .doc = "Greatest common divisor, never negative; gcd(0, 0) is 0.",
    .in = {"input: int", "other: int"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = no_gradient("integers have no gradient"),
    .scalar = binary([](auto x, auto y) { return gcd(x, y); }),
    .cases = "at (12, -18) -> 6; at (0, 5) -> 5; at (0, 0) -> 0",
    .primitive = "Gcd",
    .method = "gcd",
    .commutative = true,
});

constexpr OpDef kLcm = check({
    .name = "lcm",
    .doc = "Least common multiple, never negative; 0 when either is 0.",
    .in = {"input: int", "other: int"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = no_gradient("integers have no gradient"),
    .scalar = binary([](auto x, auto y) { return abs(x / gcd(x, y) * y); }),  // x / 0 is 0 here
    .cases = "at (4, -6) -> 12; at (0, 5) -> 0; at (0, 0) -> 0",
    .primitive = "Lcm",
    .method = "lcm",
    .commutative = true,
});

void register_division() {
  register_ops({&kFloorDiv, &kFloorMod, &kTruncateDiv, &kTruncateMod, &kPow, &kFloatPower,
                &kDivNoNan, &kMulNoNan, &kXdivy, &kXlogy, &kSquaredDifference, &kGcd, &kLcm});
}

}  // namespace mycel::ops
