// Special functions: the error function, the gamma function and what belongs to them.
#include <cmath>

#include "base/error.h"
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/gamma.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
constexpr double kHalfSqrtPi = 0.88622692545275801365;
constexpr double kLogPi = 1.14472988584940017414;

// The density x^(a-1) e^-x / gamma(a), slope of the incomplete gamma function in x.
Value gamma_density(Value a, Value x) { return kExp({kXlogy({a - 1.0, x}) - x - kLgamma({a})}); }

[[noreturn]] void no_order_gradient(const char* op, const char* operand) {
  throw UserError(
      ErrorKind::kUnsupported,
      fmt::format("{}: the gradient with respect to {} is not implemented", op, operand),
      "Wrap that operand in stop_gradient.");
}

}  // namespace

constexpr OpDef kErf = check({
    .name = "erf",
    .doc = "Error function 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.",
    .in = {"input: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += a.dy() * kExp({-(x * x)}) * kTwoOverSqrtPi;
        },
    .scalar = unary([](auto x) { return erf(x); }),
    .cases = "at (0.5) -> 0.52049987781304654; at (-3) -> -0.99997790950300141; at (inf) -> 1",
    .onnx = "Erf",
    .primitive = "Erf",
    .method = "erf",
});

constexpr OpDef kErfc = check({
    .name = "erfc",
    .doc = "1 - erf(x), accurate where erf(x) is near 1.",
    .in = {"input: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) -= a.dy() * kExp({-(x * x)}) * kTwoOverSqrtPi;
        },
    .scalar = unary([](auto x) { return erfc(x); }),
    .cases = "at (0.5) -> 0.47950012218695346; at (5) -> 1.5374597944280349e-12; at (-inf) -> 2",
    .onnx = "= Sub(1, Erf(input))",
    .primitive = "Erfc",
    .method = "erfc",
});

constexpr OpDef kErfinv = check({
    .name = "erfinv",
    .doc = "Inverse of erf: infinite at -1 and 1, NaN beyond.",
    .in = {"input: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = a.y();
          a.dx(0) += a.dy() * kExp({y * y}) * kHalfSqrtPi;
        },
    .scalar = unary([](auto x) { return gamma::erfinv(x); }),
    .cases = "input in (-0.9, 0.9); at (0.5) -> 0.47693627620446987; at (-0.999) -> "
             "-2.3267537655135246; at (0) -> 0; "
             "at (1) -> inf; at (2) -> nan; at (1e-10) -> 8.8622692545275802e-11",
    .primitive = "Erfinv",
    .method = "erfinv",
});

constexpr OpDef kLgamma = check({
    .name = "lgamma",
    .doc = "Logarithm of |gamma(x)|; infinite at 0 and at negative whole numbers.",
    .in = {"input: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * kDigamma({a.x(0)}); },
    .scalar = unary([](auto x) { return lgamma(x); }),
    .cases = "input in (0.3, 6); at (0.5) -> 0.57236494292470009; at (10) -> 12.801827480081469; "
             "at (-1.5) -> "
             "0.86004701537648101; at (0) -> inf",
    .primitive = "Lgamma",
    .method = "lgamma",
});

namespace {
extern const OpDef kPolygamma, kZeta, kIgamma, kIgammac, kIgammaSlope;
}

constexpr OpDef kDigamma = check({
    .name = "digamma",
    .doc = "Derivative of log gamma; NaN at negative whole numbers.",
    .in = {"input: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value one = a.graph().scalar(DType::kInt32, 1);
          a.dx(0) += a.dy() * kPolygamma({one, a.x(0)});
        },
    .scalar = unary([](auto x) { return gamma::digamma(x); }),
    .cases = "input in (0.5, 6); at (1) -> -0.57721566490153286; at (10) -> 2.2517525890667211; at "
             "(-1.5) -> "
             "0.70315664064524319; at (-1) -> nan",
    .primitive = "Digamma",
    .method = "digamma",
});

namespace {

constexpr OpDef kPolygamma = check({
    .name = "polygamma",
    .doc = "Derivative number n of digamma at x, n a whole number that is not negative.",
    .in = {"n: int", "input: real"},
    .type =
        [](TypeRuleCtx& c) {
          Shape s = c.shape(0);
          if (!mycel::broadcast(s, c.shape(1), &s)) c.fail("the shapes do not broadcast");
          c.result(is_float(c.dtype(1)) ? c.dtype(1) : DType::kFloat32, s);
        },
    .shard = "..., ... -> ...",
    .grad = [](Adjoint& a) { a.dx(1) += a.dy() * kPolygamma({a.x(0) + 1.0, a.x(1)}); },
    .scalar = binary([](auto n, auto x) { return gamma::polygamma(n, x); }),
    .cases = "n in ints(0, 3); input in (0.5, 4); at (1, 1) -> 1.6449340668482264; at (2, 0.5) -> "
             "-16.828796644234320; "
             "at (0, 1) -> -0.57721566490153286; fd 1e-5; bad n[2] input[3]",
    .primitive = "Polygamma",
});

constexpr OpDef kZeta = check({
    .name = "zeta",
    .doc = "Hurwitz zeta function, the sum of (other + k)^-input over k >= 0; NaN for input < 1.",
    .in = {"input: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          if (a.wants(0)) no_order_gradient("zeta", "input");
          a.dx(1) -= a.dy() * a.x(0) * kZeta({a.x(0) + 1.0, a.x(1)});
        },
    .scalar = binary([](auto s, auto q) { return gamma::zeta(s, q); }),
    .cases = "input in (1.5, 5); other in (0.5, 4); no grad of input: the derivative in the "
             "exponent is not implemented; "
             "at (2, 1) -> 1.6449340668482264; at (3, 0.5) -> 8.4143983221171600; at (1, 2) -> "
             "inf; fd 1e-5; "
             "bad input[2] other[3]",
    .primitive = "Zeta",
});

constexpr OpDef kIgamma = check({
    .name = "igamma",
    .doc = "Regularised lower incomplete gamma function P(a, x); NaN for negative operands.",
    .in = {"input: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          if (a.wants(0)) a.dx(0) += a.dy() * kIgammaSlope({a.x(0), a.x(1)});
          if (a.wants(1)) a.dx(1) += a.dy() * gamma_density(a.x(0), a.x(1));
        },
    .scalar = binary([](auto x, auto y) { return gamma::lower(x, y); }),
    .cases = "input in (0.5, 5); other in (0.5, 6); at (2, 1) -> 0.26424111765711533; at (0.5, 4) "
             "-> 0.99532226501895271; "
             "at (1, 0) -> 0; at (2, inf) -> 1; at (-1, 1) -> nan; skip grad2: the derivative in a "
             "is not "
             "differentiable again; bad input[2] other[3]",
    .primitive = "Igamma",
    .method = "igamma",
});

constexpr OpDef kIgammac = check({
    .name = "igammac",
    .doc = "Regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x), accurate where it "
           "is small.",
    .in = {"input: real", "other: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          if (a.wants(0)) a.dx(0) -= a.dy() * kIgammaSlope({a.x(0), a.x(1)});
          if (a.wants(1)) a.dx(1) -= a.dy() * gamma_density(a.x(0), a.x(1));
        },
    .scalar = binary([](auto x, auto y) { return gamma::upper(x, y); }),
    .cases = "input in (0.5, 5); other in (0.5, 6); at (2, 1) -> 0.73575888234288467; at (2, 30) "
             "-> 2.9008631203404541e-12; "
             "at (1, 0) -> 1; skip grad2: the derivative in a is not differentiable again; bad "
             "input[2] other[3]",
    .primitive = "Igammac",
    .method = "igammac",
});

constexpr OpDef kIgammaSlope = check({
    .name = "igamma_grad_a",
    .doc = "Derivative of P(a, x) in a.",
    .in = {"a: float", "x: float"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = no_gradient("the second derivative in the order has no implementation"),
    .scalar = binary([](auto x, auto y) { return gamma::lower_slope(x, y); }),
    .cases = "a in (0.5, 5); x in (0.5, 6); tol 1e-4",
    .primitive = "IgammaGradA",
    .internal = true,
});

constexpr OpDef kBetainc = check({
    .name = "betainc",
    .doc =
        "Regularised incomplete beta function I_x(a, b); NaN outside of a, b > 0 and 0 <= x <= 1.",
    .in = {"a: real", "b: real", "x: real"},
    .promote = Promote::kFloat,
    .type = types::broadcast,
    .shard = "..., ..., ... -> ...",
    .grad =
        [](Adjoint& g) {
          if (g.wants(0)) no_order_gradient("betainc", "a");
          if (g.wants(1)) no_order_gradient("betainc", "b");
          Value a = g.x(0), b = g.x(1), x = g.x(2);
          Value log_beta = kLgamma({a}) + kLgamma({b}) - kLgamma({a + b});
          g.dx(2) += g.dy() * kExp({kXlogy({a - 1.0, x}) + kXlogy({b - 1.0, 1.0 - x}) - log_beta});
        },
    .scalar = ternary([](auto a, auto b, auto x) { return gamma::beta(a, b, x); }),
    .cases = "a in (0.5, 4); b in (0.5, 4); x in (0.1, 0.9); no grad of a: not implemented; no "
             "grad of b: not "
             "implemented; at (2, 3, 0.25) -> 0.26171875; at (0.5, 0.5, 0.5) -> 0.5; at (2, 3, 1) "
             "-> 1; fd 1e-5",
    .primitive = "Betainc",
    .internal = true,
});

constexpr OpDef kMvlgamma = check({
    .name = "mvlgamma",
    .doc = "Logarithm of the multivariate gamma function of dimension p: p(p-1)/4 log pi + sum of "
           "lgamma(x - i/2) over i < p; every x must be above (p-1)/2.",
    .in = {"input: real"},
    .attr = {"p: int"},
    .promote = Promote::kFloat,
    .type =
        [](TypeRuleCtx& c) {
          int64_t p = c.attrs.integer("p");  // one term each
          if (p < 1 || p > 4096) c.fail("p must be 1 to 4096, got {}", p);
          types::same_as_first(c);
        },
    .shard = "... -> ...",
    .expand =
        [](Expansion& e) {
          int64_t p = e.attrs.integer("p");
          Value sum = kLgamma({e.x(0)});
          for (int64_t i = 1; i < p; ++i)
            sum = sum + kLgamma({e.x(0) - 0.5 * static_cast<double>(i)});
          e.result(sum + static_cast<double>(p * (p - 1)) * 0.25 * kLogPi);
        },
    .cases = "input in (1.6, 5); input[3, 4]; p = 3 1; at (3) -> 2.694924879806965; bad p = 0; tol "
             "1e-4; "
             "skip dtypes: small dtypes round x to the poles",
    .primitive = "Mvlgamma(p)",
    .method = "mvlgamma",
});

}  // namespace

void register_special() {
  register_ops({&kErf, &kErfc, &kErfinv, &kLgamma, &kDigamma, &kPolygamma, &kZeta, &kIgamma,
                &kIgammac, &kIgammaSlope, &kBetainc, &kMvlgamma});
}

}  // namespace mycel::ops
