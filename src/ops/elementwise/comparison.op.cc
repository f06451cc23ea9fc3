// Comparisons and the questions asked of one number; the results are bool.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {
constexpr GradRule kBoolResult = no_gradient("the result is bool");

loops::Val as_number(loops::Val x) { return is_bool(x.dtype()) ? cast(x, DType::kUInt8) : x; }

void ordered(TypeRuleCtx& c) {
  if (is_complex(c.dtype(0))) c.fail_type("complex numbers have no order");
  types::broadcast_bool(c);
}
}  // namespace

constexpr OpDef kEqual = check({
    .name = "equal",
    .doc = "Whether x equals y; NaN equals nothing.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = types::broadcast_bool,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return x == y; }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; at (2, 2) -> 1; at (nan, nan) -> 0; bad "
             "input[2] other[3]",
    .onnx = "Equal",
    .primitive = "Equal",
    .method = "equal __eq__",
    .alias = "eq",
    .commutative = true,
});

constexpr OpDef kNotEqual = check({
    .name = "not_equal",
    .doc = "Whether x differs from y; NaN differs from everything.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = types::broadcast_bool,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return x != y; }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; at (2, 2) -> 0; at (nan, nan) -> 1",
    .onnx = "= Not(Equal(input, other))",
    .primitive = "NotEqual",
    .method = "not_equal ne __ne__",
    .alias = "ne",
    .commutative = true,
});

constexpr OpDef kLess = check({
    .name = "less",
    .doc = "Whether x < y.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = ordered,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return as_number(x) < as_number(y); }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; dtypes bool int8 uint8 int32 int64 uint64 "
             "float16 float32 "
             "float64; at (1, 2) -> 1; at (nan, 1) -> 0",
    .onnx = "Less",
    .primitive = "Less",
    .method = "less lt __lt__",
    .alias = "lt tensor_lt",
});

constexpr OpDef kLessEqual = check({
    .name = "less_equal",
    .doc = "Whether x <= y.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = ordered,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return as_number(x) <= as_number(y); }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; dtypes bool int8 uint8 int32 int64 uint64 "
             "float16 float32 "
             "float64; at (2, 2) -> 1; at (nan, 1) -> 0",
    .onnx = "LessOrEqual",
    .primitive = "LessEqual",
    .method = "less_equal le __le__",
    .alias = "le tensor_le",
});

constexpr OpDef kGreater = check({
    .name = "greater",
    .doc = "Whether x > y.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = ordered,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return as_number(x) > as_number(y); }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; dtypes bool int8 uint8 int32 int64 uint64 "
             "float16 float32 "
             "float64; at (1, 2) -> 0; at (1, nan) -> 0",
    .onnx = "Greater",
    .primitive = "Greater",
    .method = "greater gt __gt__",
    .alias = "gt tensor_gt",
});

constexpr OpDef kGreaterEqual = check({
    .name = "greater_equal",
    .doc = "Whether x >= y.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = ordered,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = binary([](auto x, auto y) { return as_number(x) >= as_number(y); }),
    .cases = "input in {0, 1, 2}; other in {0, 1, 2}; dtypes bool int8 uint8 int32 int64 uint64 "
             "float16 float32 "
             "float64; at (2, 2) -> 1; at (1, nan) -> 0",
    .onnx = "GreaterOrEqual",
    .primitive = "GreaterEqual",
    .method = "greater_equal ge __ge__",
    .alias = "ge tensor_ge",
});

constexpr OpDef kIsnan = check({
    .name = "isnan",
    .doc = "Whether x is NaN; false for integers.",
    .in = {"x: any"},
    .type = types::bool_like_first,
    .shard = "... -> ...",
    .grad = kBoolResult,
    .scalar = unary([](auto x) { return isnan(x); }),
    .cases = "x in {0, 1, inf, -inf, nan}; at (nan) -> 1; at (inf) -> 0",
    .onnx = "IsNaN",
    .primitive = "IsNan",
    .method = "isnan",
});

constexpr OpDef kIsinf = check({
    .name = "isinf",
    .doc = "Whether x is +inf or -inf; false for integers.",
    .in = {"input: any"},
    .type = types::bool_like_first,
    .shard = "... -> ...",
    .grad = kBoolResult,
    .scalar = unary([](auto x) { return isinf(x); }),
    .cases = "input in {0, 1, inf, -inf, nan}; at (nan) -> 0; at (-inf) -> 1",
    .onnx = "IsInf",
    .primitive = "IsInf",
    .method = "isinf",
});

constexpr OpDef kIsfinite = check({
    .name = "isfinite",
    .doc = "Whether x is neither infinite nor NaN; true for integers.",
    .in = {"x: any"},
    .type = types::bool_like_first,
    .shard = "... -> ...",
    .grad = kBoolResult,
    .scalar = unary([](auto x) { return isfinite(x); }),
    .cases = "x in {0, 1, inf, -inf, nan}; at (nan) -> 0; at (-inf) -> 0; at (3) -> 1",
    .onnx = "= Equal(Sub(x, x), 0)",
    .primitive = "IsFinite",
    .method = "isfinite",
});

constexpr OpDef kIsneginf = check({
    .name = "isneginf",
    .doc = "Whether x is -inf; false for integers.",
    .in = {"input: real"},
    .type = types::bool_like_first,
    .shard = "... -> ...",
    .grad = kBoolResult,
    .scalar = unary([](auto x) { return isinf(x) & (x < 0); }),
    .cases = "input in {0, 1, inf, -inf, nan}; at (inf) -> 0; at (-inf) -> 1",
    .onnx = "= int Less(input, input) | And(IsInf(input), Less(input, 0))",
    .method = "isneginf",
});

constexpr OpDef kIsposinf = check({
    .name = "isposinf",
    .doc = "Whether x is +inf; false for integers.",
    .in = {"input: real"},
    .type = types::bool_like_first,
    .shard = "... -> ...",
    .grad = kBoolResult,
    .scalar = unary([](auto x) { return isinf(x) & (x > 0); }),
    .cases = "input in {0, 1, inf, -inf, nan}; at (inf) -> 1; at (-inf) -> 0",
    .onnx = "= int Less(input, input) | And(IsInf(input), Greater(input, 0))",
    .method = "isposinf",
});

constexpr OpDef kIsreal = check({
    .name = "isreal",
    .doc = "Whether the imaginary part is 0; true for real dtypes.",
    .in = {"input: any"},
    .type = types::bool_like_first,
    .shard = "... -> ...",
    .grad = kBoolResult,
    .scalar = unary(
        [](auto x) { return x.im ? imag(x) == 0 : constant(x.nest(), DType::kBool, int64_t{1}); }),
    .cases = "at (2) -> 1",
    .method = "isreal",
});

constexpr OpDef kApproximateEqual = check({
    .name = "approximate_equal",
    .doc = "Whether |x - y| < tolerance.",
    .in = {"x: real", "y: real"},
    .attr = {"tolerance: float = 1e-05"},
    .promote = Promote::kCommon,
    .type = types::broadcast_bool,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = formula(2, 1,
                      [](auto in, auto& attrs, auto out) {
                        DType wide = is_float(in[0].dtype()) ? in[0].dtype() : DType::kFloat64;
                        auto gap = abs(cast(in[0], wide) - cast(in[1], wide));
                        out[0] = gap < constant(gap, attrs[0].real());
                      }),
    .cases = "x in {0, 1, 2}; y in {0, 1, 2}; tolerance = 1e-5 1.5; at (1, 1.000001) -> 1; at (1, "
             "1.1) -> 0",
    .primitive = "ApproximateEqual(tolerance)",
    .method = "approximate_equal",
});

constexpr OpDef kIsclose = check({
    .name = "isclose",
    .doc =
        "Whether |x - y| <= atol + rtol * |y|; infinities only of the same sign, NaN with NaN when "
        "equal_nan.",
    .in = {"x1: real", "x2: real"},
    .attr = {"rtol: float = 1e-05", "atol: float = 1e-08", "equal_nan: bool = False"},
    .promote = Promote::kCommon,
    .type = types::broadcast_bool,
    .shard = "..., ... -> ...",
    .grad = kBoolResult,
    .scalar = formula(2, 1,
                      [](auto in, auto& attrs, auto out) {
                        DType wide = is_float(in[0].dtype()) ? in[0].dtype() : DType::kFloat64;
                        auto x = cast(in[0], wide), y = cast(in[1], wide);
                        auto bound =
                            constant(x, attrs[1].real()) + constant(x, attrs[0].real()) * abs(y);
                        auto close = (x == y) | (isfinite(x) & isfinite(y) & (abs(x - y) <= bound));
                        out[0] = attrs[2].boolean() ? close | (isnan(x) & isnan(y)) : close;
                      }),
    .cases = "x1 in {0, 1, inf, nan}; x2 in {0, 1, inf, nan}; equal_nan = False True; at (1, "
             "1.000001) -> 1; "
             "at (inf, -inf) -> 0; at (nan, nan) -> 0; at (inf, inf) -> 1",
    .primitive = "IsClose(rtol, atol, equal_nan)",
    .method = "isclose",
});

void register_comparison() {
  register_ops({&kEqual, &kNotEqual, &kLess, &kLessEqual, &kGreater, &kGreaterEqual, &kIsnan,
                &kIsinf, &kIsfinite, &kIsneginf, &kIsposinf, &kIsreal, &kApproximateEqual,
                &kIsclose});
}

}  // namespace mycel::ops
