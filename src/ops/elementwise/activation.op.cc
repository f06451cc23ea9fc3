// The activations that nearly every network uses, each with its own gradient kernel; the other ones
// are in activation_more.op.cc.
#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/complex_functions.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/formulas.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {
constexpr double kSqrtHalf = 0.70710678118654752440;          // 1 / sqrt(2)
constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;  // 1 / sqrt(2 pi)
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;     // sqrt(2 / pi)
constexpr double kGeluCubic = 0.044715;

// Derivative of the tanh form of gelu.
loops::Val gelu_tanh_slope(loops::Val x) {
  auto c = [&](double v) { return constant(x, v); };
  auto t = tanh(c(kSqrtTwoOverPi) * (x + c(kGeluCubic) * x * x * x));
  auto inner = c(kSqrtTwoOverPi) * (c(1.0) + c(3 * kGeluCubic) * x * x);
  return c(0.5) * (c(1.0) + t) + c(0.5) * x * (c(1.0) - t * t) * inner;
}
// Phi(x), the normal distribution, and exp(-x^2 / 2), which it is made of.
struct Normal {
  loops::Val cdf, bell;
};

// erfc(t) exp(t^2) (t + 2) in (t - 2) / (t + 2), 0 <= t <= 10.2; relative error 4.3e-8.
constexpr double kScaledErfc[] = {1.02158274,    -0.68716097,     0.279469609,
                                  -0.0364352657, -0.0214834413,   0.00643776931,
                                  0.00297899719, -0.000755456004, -0.000461917124};

// float32: 1 - Phi(|x|) = exp(-x^2 / 2) g(|x| / sqrt 2) / 2, to some units in the last place even
// far out, where 1 + erf would have no digit left. One exponential serves both.
Normal normal(loops::Val x) {
  auto c = [&](double v) { return constant(x, v); };
  loops::Val bell = exp(c(-0.5) * x * x);
  if (x.dtype() == DType::kFloat64) return {c(0.5) * erfc(c(-kSqrtHalf) * x), bell};
  loops::Val t = min(abs(x) * c(kSqrtHalf), c(12.0)), r = c(1.0) / (t + c(2.0));
  loops::Val q = (t - c(2.0)) * r, sum = c(kScaledErfc[8]);
  for (int k = 8; k-- > 0;) sum = sum * q + c(kScaledErfc[k]);
  loops::Val tail = c(0.5) * bell * (sum * r);
  return {select(x < c(0.0), tail, c(1.0) - tail), bell};
}

// Derivative of x * Phi(x): Phi(x) + x * phi(x).
loops::Val gelu_erf_slope(loops::Val x) {
  Normal n = normal(x);
  return n.cdf + x * (n.bell * constant(x, kInverseSqrtTwoPi));
}

// The second derivatives, as graph values: only a gradient of a gradient needs them.
Value gelu_erf_curvature(Value x) {
  return kExp({x * x * -0.5}) * (2.0 - x * x) * kInverseSqrtTwoPi;
}
Value gelu_tanh_curvature(Value x) {
  Value u = (x + x * x * x * kGeluCubic) * kSqrtTwoOverPi;
  Value du = (x * x * (3 * kGeluCubic) + 1.0) * kSqrtTwoOverPi;
  Value ddu = x * (6 * kGeluCubic * kSqrtTwoOverPi);
  Value t = kTanh({u});
  Value s = 1.0 - t * t;
  return s * du + x * s * (ddu - t * du * du * 2.0) * 0.5;
}
extern const OpDef kReluGrad, kSigmoidGrad, kTanhGrad, kGeluGrad, kSiluGrad;
}  // namespace

constexpr OpDef kRelu = check({
    .name = "relu",
    .doc = "max(x, 0); NaN stays NaN. Its slope at 0 is taken as 0.",
    .in = {"input: real"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += kReluGrad({a.dy(), a.y()}); },
    .scalar = unary([](auto x) { return max(x, 0); }),
    .cases = "at (2.5) -> 2.5; at (-2.5) -> 0; at (nan) -> nan",
    .onnx = "Relu",
    .primitive = "ReLU",
});

namespace {
constexpr OpDef kReluGrad = check({
    .name = "relu_grad",
    .doc = "Gradient of relu: dy where y > 0, else 0.",
    .in = {"dy: real", "y: real"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += kReluGrad({a.dy(), a.x(1)}); },
    .scalar = binary([](auto dy, auto y) { return select(y > 0, dy, 0); }),
    .cases = "at (3, 2) -> 3; at (3, 0) -> 0",
    .primitive = "ReluGrad",
    .internal = true,
});
}  // namespace

constexpr OpDef kSigmoid = check({
    .name = "sigmoid",
    .doc = "Logistic function 1 / (1 + e^-x).",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += kSigmoidGrad({conj_of(a.y()), a.dy()}); },
    .scalar = unary([](auto x) { return formulas::sigmoid(x); }),
    .cases = "at (0) -> 0.5; at (2) -> 0.88079707797788244; at (-1000) -> 0; at (1000) -> 1",
    .onnx = "Sigmoid",
    .primitive = "Sigmoid",
    .method = "sigmoid",
});

namespace {
constexpr OpDef kSigmoidGrad = check({
    .name = "sigmoid_grad",
    .doc = "Gradient of sigmoid from its result: dy * y * (1 - y).",
    .in = {"y: inexact", "dy: inexact"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = conj_of(a.x(0));
          if (a.wants(0)) a.dx(0) += a.dy() * conj_of(a.x(1)) * (1.0 - y * 2.0);
          a.dx(1) += kSigmoidGrad({y, a.dy()});
        },
    .scalar = binary([](auto y, auto dy) { return dy * y * (1 - y); }),
    .cases = "at (0.25, 2) -> 0.375",
    .primitive = "SigmoidGrad",
    .internal = true,
});
}  // namespace

constexpr OpDef kTanh = check({
    .name = "tanh",
    .doc = "Hyperbolic tangent.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += kTanhGrad({conj_of(a.y()), a.dy()}); },
    .scalar = unary([](auto x) { return formulas::hyperbolic_tangent(x); }),
    .cases = "at (0.5) -> 0.46211715726000976; at (100) -> 1",
    .onnx = "Tanh",
    .primitive = "Tanh",
    .method = "tanh",
});

namespace {
constexpr OpDef kTanhGrad = check({
    .name = "tanh_grad",
    .doc = "Gradient of tanh from its result: dy * (1 - y^2).",
    .in = {"y: inexact", "dy: inexact"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = conj_of(a.x(0));
          if (a.wants(0)) a.dx(0) += a.dy() * conj_of(a.x(1)) * y * -2.0;
          a.dx(1) += kTanhGrad({y, a.dy()});
        },
    .scalar = binary([](auto y, auto dy) { return dy * (1 - y * y); }),
    .cases = "at (0.5, 2) -> 1.5",
    .primitive = "TanhGrad",
    .internal = true,
});
}  // namespace

constexpr OpDef kLogsigmoid = check({
    .name = "logsigmoid",
    .doc = "log(sigmoid(x)) = -log(1 + e^-x), without overflow.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * kSigmoid({-a.x(0)}); },
    .scalar = unary([](auto x) { return -formulas::softplus(-x); }),
    .cases = "at (0) -> -0.69314718055994531; at (-1000) -> -1000; at (2) -> -0.12692801104297263",
    .onnx = "= Neg(Softplus(Neg(x)))",
    .primitive = "LogSigmoid",
});

constexpr OpDef kSoftplus = check({
    .name = "softplus",
    .doc = "log(1 + e^x), without overflow.",
    .in = {"x: real"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * kSigmoid({a.x(0)}); },
    .scalar = unary([](auto x) { return formulas::softplus(x); }),
    .cases = "at (0) -> 0.69314718055994531; at (1000) -> 1000; at (-40) -> 4.2483542552915889e-18",
    .onnx = "Softplus",
    .primitive = "Softplus",
});

constexpr OpDef kSilu = check({
    .name = "silu",
    .doc = "x * sigmoid(x), also called swish (arXiv:1710.05941).",
    .in = {"x: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += kSiluGrad({a.dy(), a.x(0)}); },
    .scalar = unary([](auto x) { return x * formulas::sigmoid(x); }),
    .cases = "at (2) -> 1.7615941559557649; at (-1) -> -0.26894142136999512",
    .onnx = "= Mul(x, Sigmoid(x))",
    .primitive = "SiLU",
});

namespace {
constexpr OpDef kSiluGrad = check({
    .name = "silu_grad",
    .doc = "Gradient of silu: dy * s * (1 + x * (1 - s)) with s = sigmoid(x).",
    .in = {"dy: float", "x: float"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kSiluGrad({a.dy(), a.x(1)});
          if (!a.wants(1)) return;
          Value s = kSigmoid({a.x(1)});
          a.dx(1) += a.dy() * a.x(0) * s * (1.0 - s) * (2.0 + a.x(1) * (1.0 - s * 2.0));
        },
    .scalar = binary([](auto dy, auto x) {
      auto s = formulas::sigmoid(x);
      return dy * s * (1 + x * (1 - s));
    }),
    .cases = "at (2, 0) -> 1",
    .primitive = "SiLUGrad",
    .internal = true,
});
}  // namespace

constexpr OpDef kGelu = check({
    .name = "gelu",
    .doc = "Gaussian error linear unit x * Phi(x) (arXiv:1606.08415). approximate 'none' uses the "
           "exact "
           "Phi(x) = erfc(-x / sqrt 2) / 2, 'tanh' the form 0.5 x (1 + tanh(sqrt(2/pi) (x + "
           "0.044715 x^3))).",
    .in = {"input_x: float"},
    .attr = {"approximate: str(none|tanh) = none"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += kGeluGrad({a.dy(), a.x(0)}, {a.attrs()["approximate"]}); },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto x = in[0];
                        auto c = [&](double v) { return constant(x, v); };
                        if (attrs[0].string() == "none") {
                          out[0] = x * normal(x).cdf;
                        } else {
                          out[0] =
                              c(0.5) * x *
                              (c(1.0) + tanh(c(kSqrtTwoOverPi) * (x + c(kGeluCubic) * x * x * x)));
                        }
                      }),
    .cases =
        "at (1) -> 0.84134474606854293; at (-3) -> -0.004049694094890288 | approximate = tanh; "
        "at (1) -> 0.84119199060827676",
    .onnx = "Gelu(approximate=none)",
    .primitive = "GeLU[approximate=tanh]; Gelu[approximate=tanh]",
});

namespace {
constexpr OpDef kGeluGrad = check({
    .name = "gelu_grad",
    .doc = "Gradient of gelu: dy times the derivative at x.",
    .in = {"dy: float", "x: float"},
    .attr = {"approximate: str(none|tanh) = none"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          bool exact = a.attrs().string("approximate") == "none";
          a.dx(0) += kGeluGrad({a.dy(), a.x(1)}, {a.attrs()["approximate"]});
          if (!a.wants(1)) return;
          Value bend = exact ? gelu_erf_curvature(a.x(1)) : gelu_tanh_curvature(a.x(1));
          a.dx(1) += a.dy() * a.x(0) * bend;
        },
    .scalar = formula(2, 1,
                      [](auto in, auto& attrs, auto out) {
                        out[0] = in[0] * (attrs[0].string() == "none" ? gelu_erf_slope(in[1])
                                                                      : gelu_tanh_slope(in[1]));
                      }),
    .cases = "at (2, 0) -> 1 | approximate = tanh; at (2, 0) -> 1",
    .internal = true,
});
}  // namespace

void register_activation() {
  register_ops({&kRelu, &kReluGrad, &kSigmoid, &kSigmoidGrad, &kTanh, &kTanhGrad, &kLogsigmoid,
                &kSoftplus, &kSilu, &kSiluGrad, &kGelu, &kGeluGrad});
}

}  // namespace mycel::ops
