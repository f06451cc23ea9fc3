// Further activation functions, each a formula; their gradients are written with values.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/formulas.h"
#include "ops/elementwise/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {
// Constants of selu (arXiv:1706.02515).
constexpr double kSeluAlpha = 1.6732632423543772848;
constexpr double kSeluScale = 1.0507009873554804934;
constexpr double kFastGeluSteepness = 1.702;

// dy inside (low, high), 0 outside.
Value inside(Value x, double low, double high, Value dy) {
  return where(kLogicalAnd({greater(x, low), less(x, high)}), dy, 0.0);
}
}  // namespace

constexpr OpDef kRelu6 = check({
    .name = "relu6",
    .doc = "min(max(x, 0), 6).",
    .in = {"x: real"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += inside(a.y(), 0, 6, a.dy()); },
    .scalar = unary([](auto x) { return min(max(x, 0), 6); }),
    .cases = "x in (-3, 9); at (7) -> 6; at (-1) -> 0; at (2) -> 2",
    .onnx = "= Clip(x, 0, 6)",
    .primitive = "ReLU6",
});

constexpr OpDef kLeakyRelu = check({
    .name = "leaky_relu",
    .doc = "x where x > 0, else alpha * x.",
    .in = {"input: float"},
    .attr = {"alpha: float = 0.2"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += where(greater(a.x(0), 0), a.dy(), a.dy() * a.attrs().real("alpha"));
        },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        out[0] = select(in[0] > 0, in[0], in[0] * constant(in[0], attrs[0].real()));
                      }),
    .cases = "alpha = 0.2 1.5; at (-2) -> -0.4; at (3) -> 3",
    .onnx = "LeakyRelu(alpha=0.01)",
});

constexpr OpDef kElu = check({
    .name = "elu",
    .doc = "x where x > 0, else alpha * (e^x - 1) (arXiv:1511.07289).",
    .in = {"input_x: float"},
    .attr = {"alpha: float = 1.0"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += where(greater(x, 0), a.dy(), a.dy() * (a.y() + a.attrs().real("alpha")));
        },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto x = in[0];
                        out[0] = select(x > 0, x, constant(x, attrs[0].real()) * expm1(min(x, 0)));
                      }),
    .cases = "alpha = 1 0.5; at (-1) -> -0.63212055882855767; at (3) -> 3",
    .onnx = "Elu(alpha=1.0)",
    .primitive = "Elu(alpha)",
});

constexpr OpDef kSelu = check({
    .name = "selu",
    .doc = "Self-normalising unit scale * elu(x, alpha), scale 1.0507, alpha 1.6733 "
           "(arXiv:1706.02515).",
    .in = {"input_x: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value slope = a.dy() * (a.y() + kSeluScale * kSeluAlpha);
          a.dx(0) += where(greater(a.x(0), 0), a.dy() * kSeluScale, slope);
        },
    .scalar = unary([](auto x) {
      auto c = [&](double v) { return constant(x, v); };
      return select(x > 0, c(kSeluScale) * x, c(kSeluScale * kSeluAlpha) * expm1(min(x, 0)));
    }),
    .cases = "at (1) -> 1.0507009873554805; at (-1) -> -1.1113307378125625",
    .onnx = "Selu",
    .primitive = "SeLU",
});

constexpr OpDef kCelu = check({
    .name = "celu",
    .doc = "max(x, 0) + min(0, alpha * (e^(x / alpha) - 1)) (arXiv:1704.07483).",
    .in = {"x: float"},
    .attr = {"alpha: float = 1.0"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.attrs.real("alpha") == 0) c.fail("alpha must not be 0");
          types::same_as_first(c);
        },
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          double alpha = a.attrs().real("alpha");
          Value x = a.x(0);
          a.dx(0) += where(greater(x, 0), a.dy(), a.dy() * (a.y() * (1 / alpha) + 1.0));
        },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto x = in[0];
                        auto alpha = constant(x, attrs[0].real());
                        out[0] = select(x > 0, x, alpha * expm1(min(x, 0) / alpha));
                      }),
    .cases = "alpha = 1 2; at (-1) -> -0.63212055882855767; at (3) -> 3; bad alpha = 0",
    .onnx = "Celu(alpha=1.0)",
    .primitive = "CeLU(alpha)",
});

constexpr OpDef kMish = check({
    .name = "mish",
    .doc = "x * tanh(softplus(x)) (arXiv:1908.08681).",
    .in = {"x: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0), t = kTanh({kSoftplus({x})});
          a.dx(0) += a.dy() * (t + x * (1.0 - t * t) * kSigmoid({x}));
        },
    .scalar = unary([](auto x) { return x * tanh(formulas::softplus(x)); }),
    .cases = "at (1) -> 0.86509838826731033; at (-2) -> -0.25250148269571675",
    .onnx = "Mish",
    .primitive = "Mish",
});

constexpr OpDef kHardsigmoid = check({
    .name = "hardsigmoid",
    .doc = "min(max((x + 3) / 6, 0), 1).",
    .in = {"input: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += inside(a.x(0), -3, 3, a.dy() * (1.0 / 6)); },
    .scalar = unary([](auto x) { return min(max(x + 3, 0), 6) * constant(x, 1.0 / 6); }),
    .cases = "input in (-5, 5); at (1.5) -> 0.75; at (-4) -> 0; at (4) -> 1",
    .onnx = "= Clip(Add(Mul(input, 0.16666666666666666), 0.5), 0, 1)",
    .primitive = "HSigmoid",
});

constexpr OpDef kHardswish = check({
    .name = "hardswish",
    .doc = "x * min(max(x + 3, 0), 6) / 6 (arXiv:1905.02244).",
    .in = {"x: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          Value middle = inside(x, -3, 3, a.dy() * (x * (1.0 / 3) + 0.5));
          a.dx(0) += where(kGreaterEqual({x, number(x, 3)}), a.dy(), middle);
        },
    .scalar = unary([](auto x) { return x * min(max(x + 3, 0), 6) * constant(x, 1.0 / 6); }),
    .cases = "x in (-5, 5); at (1.5) -> 1.125; at (-4) -> 0; at (4) -> 4",
    .onnx = "HardSwish",
    .primitive = "HSwish",
});

constexpr OpDef kHardtanh = check({
    .name = "hardtanh",
    .doc = "min(max(x, min_val), max_val).",
    .in = {"input: float"},
    .attr = {"min_val: float = -1.0", "max_val: float = 1.0"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.attrs.real("min_val") > c.attrs.real("max_val"))
            c.fail("min_val must not be above max_val");
          types::same_as_first(c);
        },
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += inside(a.x(0), a.attrs().real("min_val"), a.attrs().real("max_val"), a.dy());
        },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        out[0] = min(max(in[0], constant(in[0], attrs[0].real())),
                                     constant(in[0], attrs[1].real()));
                      }),
    .cases = "min_val = -1 -0.5; max_val = 1 0.5; at (2) -> 1; at (-2) -> -1; bad min_val = 3",
    .onnx = "= Clip(input, min_val, max_val)",
});

constexpr OpDef kHardshrink = check({
    .name = "hardshrink",
    .doc = "x where |x| > lambd, else 0.",
    .in = {"x: float"},
    .attr = {"lambd: float = 0.5"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += where(greater(kAbs({x}), a.attrs().real("lambd")), a.dy(), 0.0);
        },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto x = in[0];
                        // NaN compares false with everything and is kept.
                        out[0] =
                            select(abs(x) <= constant(x, attrs[0].real()), constant(x, 0.0), x);
                      }),
    .cases = "lambd = 0.5 1; at (0.4) -> 0; at (-2) -> -2",
    .onnx = "= Where(Greater(Abs(x), lambd), x, 0)",
    .primitive = "HShrink(lambd)",
    .method = "hardshrink",
});

constexpr OpDef kSoftshrink = check({
    .name = "softshrink",
    .doc = "x - lambd where x > lambd, x + lambd where x < -lambd, else 0.",
    .in = {"x: float"},
    .attr = {"lambd: float = 0.5"},
    .type =
        [](TypeRuleCtx& c) {
          if (c.attrs.real("lambd") < 0) c.fail("lambd must not be negative");
          types::same_as_first(c);
        },
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          a.dx(0) += where(greater(kAbs({x}), a.attrs().real("lambd")), a.dy(), 0.0);
        },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto x = in[0];
                        auto bound = constant(x, attrs[0].real());
                        out[0] = select(x > bound, x - bound, select(x < -bound, x + bound, x * 0));
                      }),
    .cases = "lambd = 0.5 1; at (0.4) -> 0; at (-2) -> -1.5; bad lambd = -1",
    .onnx = "= Sub(x, Clip(x, -lambd, lambd))",
    .primitive = "SoftShrink(lambd)",
    .method = "soft_shrink",
    .alias = "soft_shrink",
});

constexpr OpDef kSoftsign = check({
    .name = "softsign",
    .doc = "x / (1 + |x|).",
    .in = {"x: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value below = kReciprocal({kAbs({a.x(0)}) + 1.0});
          a.dx(0) += a.dy() * below * below;
        },
    .scalar = unary([](auto x) { return x / (1 + abs(x)); }),
    .cases = "at (3) -> 0.75; at (-1) -> -0.5",
    .onnx = "Softsign",
    .primitive = "Softsign",
});

constexpr OpDef kTanhshrink = check({
    .name = "tanhshrink",
    .doc = "x - tanh(x).",
    .in = {"input: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value t = kTanh({a.x(0)});
          a.dx(0) += a.dy() * t * t;
        },
    .scalar = unary([](auto x) { return x - tanh(x); }),
    .cases = "at (1) -> 0.23840584404423515",
    .onnx = "= Sub(input, Tanh(input))",
});

constexpr OpDef kFastGelu = check({
    .name = "fast_gelu",
    .doc = "x * sigmoid(1.702 x), a fast form of gelu (arXiv:1606.08415).",
    .in = {"x: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0), s = kSigmoid({x * kFastGeluSteepness});
          a.dx(0) += a.dy() * s * (1.0 + x * (1.0 - s) * kFastGeluSteepness);
        },
    .scalar =
        unary([](auto x) { return x * formulas::sigmoid(x * constant(x, kFastGeluSteepness)); }),
    .cases = "at (1) -> 0.8457957659328212; at (-2) -> -0.06434137685579186",
    .primitive = "FastGeLU; FastGelu",
});

constexpr OpDef kThreshold = check({
    .name = "threshold",
    .doc = "x where x > thr, else value.",
    .in = {"input: float"},
    .attr = {"thr: float", "value: float"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) { a.dx(0) += where(greater(a.x(0), a.attrs().real("thr")), a.dy(), 0.0); },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto x = in[0];
                        out[0] = select(x <= constant(x, attrs[0].real()),
                                        constant(x, attrs[1].real()), x);
                      }),
    .cases = "thr = 0.5; value = 7; at (0.4) -> 7; at (2) -> 2",
    .onnx = "= Where(Greater(input, thr), input, value)",
});

constexpr OpDef kLogit = check({
    .name = "logit",
    .doc = "log(x / (1 - x)), x first clamped to [eps, 1 - eps] when eps is given.",
    .in = {"input: float"},
    .attr = {"eps: float? = None"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value x = a.x(0);
          Value slope = a.dy() / (x * (1.0 - x));
          const Attr& eps = a.attrs()["eps"];
          a.dx(0) +=
              eps.none() || eps.real() < 0 ? slope : inside(x, eps.real(), 1 - eps.real(), slope);
        },
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto x = in[0];
                        if (!attrs[0].none() && attrs[0].real() >= 0) {
                          x = min(max(x, constant(x, attrs[0].real())),
                                  constant(x, 1 - attrs[0].real()));
                        }
                        out[0] = log(x / (1 - x));
                      }),
    .cases = "input in (0.1, 0.9); eps = None 0.2; at (0.75) -> 1.0986122886681098; at (0) -> -inf",
    .primitive = "Logit(eps)",
    .method = "logit",
});

constexpr OpDef kPrelu = check({
    .name = "prelu",
    .doc =
        "x where x > 0, else weight * x; weight has one element, or one per channel (axis 1 of x).",
    .in = {"x: float", "weight: float"},
    .promote = Promote::kCommon,
    .type =
        [](TypeRuleCtx& c) {
          const Shape &x = c.shape(0), &w = c.shape(1);
          bool one = w.rank() == 0 || (w.rank() == 1 && w[0] == 1);
          bool unknown =
              w.rank() == 1 && (w[0] == kUnknownDim || (x.rank() > 1 && x[1] == kUnknownDim));
          bool channels = w.rank() == 1 && x.rank() > 1 && w[0] == x[1];
          if (!one && !channels && !unknown)
            c.fail("weight must have one element, or as many as axis 1 of x");
          types::same_as_first(c);
        },
    .shard = "n c ..., c -> n c ...",
    .expand =
        [](Expansion& e) {
          Value x = e.x(0), w = e.x(1);
          if (w.rank() == 1 && x.rank() < 2) w = kReshape({w}, {ir::Attr(Shape())});
          if (w.rank() == 1 && x.rank() > 2) {
            Attr::Ints shape(x.rank() - 1, 1);
            shape[0] = w.shape()[0] == kUnknownDim ? -1 : w.shape()[0];
            w = kReshape({w}, {shape});
          }
          e.result(where(greater(x, 0), x, w * x));
        },
    .cases = "x[2, 3, 4] [2, 3]; weight[3]; bad weight[5] | x[2, 3] [4] []; weight[1] []",
    .onnx = "PRelu",
    .primitive = "PReLU",
});

constexpr OpDef kGlu = check({
    .name = "glu",
    .doc = "a * sigmoid(b), where a and b are the two halves of x along axis (arXiv:1612.08083).",
    .in = {"x: float"},
    .attr = {"axis: int = -1"},
    .type =
        [](TypeRuleCtx& c) {
          int axis = c.axis(c.attrs.integer("axis"));
          Shape s = c.shape(0);
          if (s[axis] == kUnknownDim) c.fail("axis {} must have a known size", axis);
          if (s[axis] % 2) c.fail("axis {} must have an even size", axis);
          s.set(axis, s[axis] / 2);
          c.result(c.dtype(0), s);
        },
    .shard = "... -> ...",
    .expand =
        [](Expansion& e) {
          int axis = normalize_axis(e.attrs.integer("axis"), e.x(0).rank(), "glu");
          int64_t half = e.x(0).shape()[axis] / 2;
          e.result(sliced(e.x(0), axis, 0, half) * kSigmoid({sliced(e.x(0), axis, half, half)}));
        },
    .cases = "x[2, 4, 6]; axis = -1 0 1; bad x[3]; at ([3, 0]) -> [1.5]",
    .primitive = "GLU(axis)",
});

void register_more_activations() {
  register_ops({&kRelu6, &kLeakyRelu, &kElu, &kSelu, &kCelu, &kMish, &kHardsigmoid, &kHardswish,
                &kHardtanh, &kHardshrink, &kSoftshrink, &kSoftsign, &kTanhshrink, &kFastGelu,
                &kThreshold, &kLogit, &kPrelu, &kGlu});
}

}  // namespace mycel::ops
