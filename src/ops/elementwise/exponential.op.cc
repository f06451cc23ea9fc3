// Exponentials and logarithms.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/complex_functions.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/formulas.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {
constexpr double kLn2 = 0.69314718055994530942;
constexpr double kLn10 = 2.30258509299404568402;
}  // namespace

constexpr OpDef kExp = check({
    .name = "exp",
    .doc = "Exponential e^x.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * conj_of(a.y()); },
    .scalar = unary([](auto x) { return exp(x); }),
    .cases = "at (1) -> 2.7182818284590452; at (-inf) -> 0; at (inf) -> inf; at (nan) -> nan",
    .onnx = "Exp",
    .primitive = "Exp",
    .method = "exp",
    .alias = "tensor_exp",
});

constexpr OpDef kExpm1 = check({
    .name = "expm1",
    .doc = "e^x - 1, accurate for x near 0.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * conj_of(a.y() + 1.0); },
    .scalar = unary([](auto x) { return formulas::exponential_minus_one(x); }),
    .cases = "at (1e-10) -> 1.00000000005e-10; at (1) -> 1.7182818284590452",
    .onnx = "= Sub(Exp(input), 1)",
    .primitive = "Expm1",
    .method = "expm1",
    .alias = "tensor_expm1",
});

constexpr OpDef kExp2 = check({
    .name = "exp2",
    .doc = "Power of two 2^x.",
    .in = {"input: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * a.y() * kLn2; },
    .scalar = unary([](auto x) { return exp2(x); }),
    .cases = "at (-3) -> 0.125; at (0.5) -> 1.4142135623730951",
    .onnx = "= Pow(2, input)",
});

constexpr OpDef kLog = check({
    .name = "log",
    .doc =
        "Natural logarithm; 0 gives -inf, negative numbers NaN, complex ones the principal value.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() / conj_of(a.x(0)); },
    .scalar = unary([](auto x) { return log(x); }),
    .cases = "input in (0.2, 5); at (10) -> 2.302585092994046; at (0) -> -inf; at (-1) -> nan; at "
             "(inf) -> inf",
    .onnx = "Log",
    .primitive = "Log",
    .method = "log",
});

constexpr OpDef kLog1p = check({
    .name = "log1p",
    .doc = "Natural logarithm of 1 + x, accurate for x near 0.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() / conj_of(a.x(0) + 1.0); },
    .scalar = unary([](auto x) { return formulas::logarithm_of_one_plus(x); }),
    .cases = "input in (-0.8, 4); at (1e-10) -> 9.9999999995e-11; at (-1) -> -inf",
    .onnx = "= Log(Add(input, 1))",
    .primitive = "Log1p",
    .method = "log1p",
});

constexpr OpDef kLog2 = check({
    .name = "log2",
    .doc = "Logarithm to base 2.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() / conj_of(a.x(0) * kLn2); },
    .scalar = unary([](auto x) { return formulas::binary_logarithm(x); }),
    .cases = "input in (0.2, 5); at (8) -> 3; at (10) -> 3.3219280948873622",
    .onnx = "= Div(Log(input), 0.6931471805599453)",
    .method = "log2",
});

constexpr OpDef kLog10 = check({
    .name = "log10",
    .doc = "Logarithm to base 10.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() / conj_of(a.x(0) * kLn10); },
    .scalar = unary([](auto x) { return formulas::decimal_logarithm(x); }),
    .cases = "input in (0.2, 5); at (1000) -> 3; at (2) -> 0.30102999566398120",
    .onnx = "= Div(Log(input), 2.302585092994046)",
    .method = "log10",
});

constexpr OpDef kLogaddexp = check({
    .name = "logaddexp",
    .doc = "log(e^x + e^y) without overflow.",
    .in = {"input: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value s = kSigmoid({a.x(0) - a.x(1)});
          a.dx(0) += a.dy() * s;
          a.dx(1) += a.dy() * (1.0 - s);
        },
    .scalar = binary([](auto x, auto y) {
      // Equal infinities have no difference: there the answer is the operand itself.
      return select(x == y, x + constant(x, kLn2), max(x, y) + log1p(exp(-abs(x - y))));
    }),
    .cases = "at (1000, 1000) -> 1000.6931471805599; at (0, 1) -> 1.3132616875182228; at (-inf, "
             "-inf) -> -inf; "
             "at (-inf, 2) -> 2; bad input[2] other[3]",
    .onnx = "= Add(Max(input, other), Softplus(Neg(Abs(Sub(input, other)))))",
    .method = "logaddexp",
    .commutative = true,
});

constexpr OpDef kLogaddexp2 = check({
    .name = "logaddexp2",
    .doc = "log2(2^x + 2^y) without overflow.",
    .in = {"input: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value s = kSigmoid({(a.x(0) - a.x(1)) * kLn2});
          a.dx(0) += a.dy() * s;
          a.dx(1) += a.dy() * (1.0 - s);
        },
    .scalar = binary([](auto x, auto y) {
      return select(x == y, x + 1, max(x, y) + log1p(exp2(-abs(x - y))) * constant(x, 1 / kLn2));
    }),
    .cases = "at (1000, 1000) -> 1001; at (0, 1) -> 1.5849625007211563; at (-inf, 2) -> 2",
    .method = "logaddexp2",
    .commutative = true,
});

void register_exponential() {
  register_ops(
      {&kExp, &kExpm1, &kExp2, &kLog, &kLog1p, &kLog2, &kLog10, &kLogaddexp, &kLogaddexp2});
}

}  // namespace mycel::ops
