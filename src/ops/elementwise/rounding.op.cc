// Rounding, signs and the parts of numbers. Step functions have gradient zero.
#include <cmath>
#include <limits>

#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/complex_functions.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/formulas.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

void zero_gradient(Adjoint&) {}

// The next float from x towards y, by stepping the bit pattern as an integer.
loops::Val next_after(loops::Val x, loops::Val y) {
  DType bits = x.dtype() == DType::kFloat64 ? DType::kInt64 : DType::kInt32;
  auto pattern = bitcast(x, bits);
  auto one = constant(pattern, int64_t{1});
  auto away = (x > 0) == (y > x);  // from zero
  auto stepped = bitcast(select(away, pattern + one, pattern - one), x.dtype());
  auto smallest = bitcast(one, x.dtype());
  auto from_zero = select(y > 0, smallest, -smallest);
  auto moved = select(x == 0, from_zero, stepped);
  return select(isnan(x) | isnan(y), x + y, select(x == y, y, moved));
}

}  // namespace

constexpr OpDef kAbs = check({
    .name = "abs",
    .doc =
        "Absolute value; of a complex number its modulus, as a real. The slope at 0 is taken as 0.",
    .in = {"input: any"},
    .type = types::real_of_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += cast_to(a.dy(), x.dtype()) * kSgn({x});
        },
    .scalar = unary([](auto x) { return abs(x); }),
    .cases = "at (-1.5) -> 1.5; at (-0.0) -> 0",
    .onnx = "Abs",
    .primitive = "Abs; ComplexAbs",
    .method = "abs absolute __abs__",
    .alias = "absolute",
});

constexpr OpDef kSign = check({
    .name = "sign",
    .doc = "-1, 0 or 1 by the sign of x; NaN stays NaN.",
    .in = {"input: any"},
    .type =
        [](TypeRuleCtx& c) {
          if (is_complex(c.dtype(0)))
            c.fail_type("complex numbers have no sign; use sgn for x / |x|");
          types::same_as_first(c);
        },
    .shard = "... -> ...",
    .grad = zero_gradient,
    .scalar = unary([](auto x) { return sign(x); }),
    .cases = "dtypes bool int8 int32 int64 uint8 float16 float32 float64; at (-3) -> -1; at (0) -> "
             "0; at (nan) -> nan",
    .onnx = "Sign",
    .primitive = "Sign",
    .method = "sign",
});

constexpr OpDef kSgn = check({
    .name = "sgn",
    .doc = "x / |x|, 0 for 0: the sign of a real number, the direction of a complex one.",
    .in = {"input: any"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          if (!is_complex(a.x_type(0).dtype)) return;
          // d sgn = (dz - s Re(conj(s) dz)) / |z|, a symmetric map: the adjoint is the same.
          Value s = a.y(), dy = a.dy(), size = kAbs({a.x(0)});
          Value along = kReal({kConj({s}) * dy});
          Value across = dy - s * cast_to(along, dy.dtype());
          a.dx(0) += kDivNoNan({across, cast_to(size, dy.dtype())});
        },
    .scalar = unary([](auto x) {
      if (!x.im) return sign(x);
      auto size = abs(x);
      auto safe = select(size == 0, constant(size, 1.0), size);
      auto zero = constant(size, 0.0);
      return make_complex(select(size == 0, zero, real(x) / safe),
                          select(size == 0, zero, imag(x) / safe));
    }),
    .cases = "at (-3) -> -1; at (0) -> 0",
    .method = "sgn",
});

constexpr OpDef kSignbit = check({
    .name = "signbit",
    .doc = "Whether the sign bit is set: x < 0, or x is -0.0 or a NaN with sign.",
    .in = {"input: real"},
    .type = types::bool_like_first,
    .shard = "... -> ...",
    .grad = no_gradient("the result is bool"),
    .scalar = unary([](auto x) { return formulas::sign_bit(x); }),
    .cases = "at (-3) -> 1; at (-0.0) -> 1; at (0) -> 0",
    .method = "signbit",
});

constexpr OpDef kCopysign = check({
    .name = "copysign",
    .doc = "The size of x with the sign bit of other.",
    .in = {"x: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += a.dy() * kSign({x}) * kSign({a.y()});
        },
    .scalar = binary([](auto x, auto y) { return formulas::with_sign_of(x, y); }),
    .cases = "at (3, -0.0) -> -3; at (-3, 1) -> 3",
    .method = "copysign",
});

constexpr OpDef kPositive = check({
    .name = "positive",
    .doc = "The operand itself, of a number dtype.",
    .in = {"input: number"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },
    .scalar = unary([](auto x) { return x; }),
    .cases = "at (-1.5) -> -1.5",
    .onnx = "Identity",
    .method = "positive __pos__",
});

constexpr OpDef kFloor = check({
    .name = "floor",
    .doc = "Largest whole number not above x; integers are returned as they are.",
    .in = {"input: real"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = zero_gradient,
    .scalar = unary([](auto x) { return floor(x); }),
    .cases = "at (-1.5) -> -2; at (2.7) -> 2",
    .onnx = "Floor",
    .primitive = "Floor",
    .method = "floor",
});

constexpr OpDef kCeil = check({
    .name = "ceil",
    .doc = "Smallest whole number not below x; integers are returned as they are.",
    .in = {"input: real"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = zero_gradient,
    .scalar = unary([](auto x) { return ceil(x); }),
    .cases = "at (-1.5) -> -1; at (2.2) -> 3",
    .onnx = "Ceil",
    .primitive = "Ceil",
    .method = "ceil",
});

constexpr OpDef kRound = check({
    .name = "round",
    .doc = "Nearest whole number, halves to the even one; integers are returned as they are.",
    .in = {"input: number"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = zero_gradient,
    .scalar = unary([](auto x) { return formulas::round_to_even(x); }),
    .cases = "at (2.5) -> 2; at (3.5) -> 4; at (-0.6) -> -1",
    .onnx = "Round",
    .primitive = "Round; Rint",
    .method = "round __round__",
    .alias = "rint",
});

constexpr OpDef kTrunc = check({
    .name = "trunc",
    .doc = "The whole part: x rounded towards zero; integers are returned as they are.",
    .in = {"input: real"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = zero_gradient,
    .scalar = unary([](auto x) { return trunc(x); }),
    .cases = "at (-1.5) -> -1; at (2.7) -> 2",
    .onnx = "= int Identity(input) | Mul(Sign(input), Floor(Abs(input)))",
    .primitive = "Trunc",
    .method = "trunc",
});

constexpr OpDef kFrac = check({
    .name = "frac",
    .doc = "The fractional part x - trunc(x), with the sign of x.",
    .in = {"x: real"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },
    .scalar = unary([](auto x) { return x - trunc(x); }),
    .cases = "at (-1.5) -> -0.5; at (2.75) -> 0.75",
    .onnx = "= int Sub(x, x) | Sub(x, Mul(Sign(x), Floor(Abs(x))))",
    .method = "frac",
});

constexpr OpDef kNextafter = check({
    .name = "nextafter",
    .doc = "The next number of the dtype from x towards y.",
    .in = {"input: float", "other: float"},
    .promote = Promote::kCommon,
    .type =
        [](TypeRuleCtx& c) {
          if (c.dtype(0) != DType::kFloat32 && c.dtype(0) != DType::kFloat64) {
            c.fail_type("float32 or float64 expected");
          }
          types::broadcast(c);
        },
    .shard = "..., ... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy(); },
    .scalar = binary([](auto x, auto y) { return next_after(x, y); }),
    .cases = "dtypes float32 float64; at (1, 2) -> 1.0000000000000002; at (0, -1) -> "
             "-4.9406564584124654e-324; "
             "at (1, 1) -> 1; skip grad: a quotient of differences sees the steps; skip grad2: as "
             "for grad",
    .primitive = "NextAfter",
    .method = "nextafter",
});

constexpr OpDef kLdexp = check({
    .name = "ldexp",
    .doc = "x * 2^other.",
    .in = {"x: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy() * kExp2({a.x(1)});
          if (a.wants(1)) a.dx(1) += a.dy() * a.y() * 0.69314718055994530942;
        },
    .scalar = binary([](auto x, auto y) { return x * exp2(y); }),
    .cases = "at (3, -2) -> 0.75",
    .method = "ldexp",
});

namespace {
// The largest finite number of a float dtype.
double largest_finite(DType d) {
  switch (d) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.fep127;
    case DType::kFloat32:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

constexpr OpDef kReplaceNonfinite = check({
    .name = "replace_nonfinite",
    .doc = "NaN and the two infinities replaced by three numbers.",
    .in = {"x: float"},
    .attr = {"nan: float", "posinf: float", "neginf: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += where(kIsfinite({a.x(0)}), a.dy(), 0.0); },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto x = in[0];
                        auto c = [&](double v) { return constant(x, v); };
                        auto finite = select(x == c(HUGE_VAL), c(attrs[1].real()),
                                             select(x == c(-HUGE_VAL), c(attrs[2].real()), x));
                        out[0] = select(isnan(x), c(attrs[0].real()), finite);
                      }),
    .cases = "nan = 1; posinf = 2; neginf = 3; at (nan) -> 1; at (inf) -> 2; at (-inf) -> 3; at "
             "(5) -> 5",
    .internal = true,
});
}  // namespace

constexpr OpDef kNanToNum = check({
    .name = "nan_to_num",
    .doc = "NaN replaced by `nan`, infinities by `posinf` and `neginf` (None: the largest and "
           "smallest "
           "number of the dtype); integers and bools are returned as they are.",
    .in = {"input: real"},
    .attr = {"nan: float = 0.0", "posinf: float? = None", "neginf: float? = None"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .expand =
        [](Expansion& e) {
          DType d = e.x(0).dtype();
          if (!is_float(d)) return e.result(e.x(0));
          const Attr &high = e.attrs["posinf"], &low = e.attrs["neginf"];
          e.result(kReplaceNonfinite({e.x(0)},
                                     {e.attrs["nan"], high.none() ? largest_finite(d) : high.real(),
                                      low.none() ? -largest_finite(d) : low.real()}));
        },
    .cases =
        "at (nan) -> 0; at (inf) -> 1.7976931348623157e308; at (2) -> 2 | nan = 3; posinf = 7; "
        "at (nan) -> 3; at (inf) -> 7",
    .primitive = "NanToNum(nan, posinf, neginf)",
    .method = "nan_to_num",
});

void register_rounding() {
  register_ops({&kAbs, &kSign, &kSgn, &kSignbit, &kCopysign, &kPositive, &kFloor, &kCeil, &kRound,
                &kTrunc, &kFrac, &kNextafter, &kLdexp, &kReplaceNonfinite, &kNanToNum});
}

}  // namespace mycel::ops
