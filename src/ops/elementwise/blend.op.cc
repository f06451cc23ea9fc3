// Several operands: clipping, interpolation, fused multiply-adds, sums of many tensors.
#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

void ordered(TypeRuleCtx& c) {
  if (is_complex(c.dtype(0))) c.fail_type("complex numbers have no order");
  types::broadcast(c);
}

// fmax and fmin: a NaN loses against a number.
template <bool largest>
loops::Val prefer_number(loops::Val x, loops::Val y) {
  auto chosen = largest ? max(x, y) : min(x, y);
  return select(isnan(x), y, select(isnan(y), x, chosen));
}
// Gradient of the operand that was chosen; NaN comparisons are false, so a NaN operand gets none.
void number_gradient(Adjoint& a, bool largest) {
  Value x = a.x(0), y = a.x(1);
  Value beats = largest ? kGreaterEqual({x, y}) : kLessEqual({x, y});
  Value first = kLogicalOr({beats, kIsnan({y})});
  a.dx(0) += where(first, a.dy(), 0.0);
  a.dx(1) += where(first, 0.0, a.dy());
}

void three(TypeRuleCtx& c) { types::broadcast(c); }

// input + value * f(tensor1, tensor2); `value` is an operand, so that it may be a tensor.
void scaled_type(TypeRuleCtx& c) { types::broadcast(c); }

}  // namespace

constexpr OpDef kClip = check({
    .name = "clip_by_value",
    .doc = "min(max(x, low), high), bounds as operands that broadcast; an absent bound does not "
           "bind. Where "
           "low is above high the result is high. NaN stays NaN.",
    .in = {"x: real", "clip_value_min?: real", "clip_value_max?: real"},
    .type =
        [](TypeRuleCtx& c) {
          if (!c.has(1) && !c.has(2))
            c.fail("one of clip_value_min and clip_value_max must be given");
          Shape s = c.shape(0);
          for (int i = 1; i <= 2; ++i) {
            if (c.has(i) && !mycel::broadcast(s, c.shape(i), &s))
              c.fail("the shapes do not broadcast");
          }
          DType d = c.dtype(0);
          for (int i = 1; i <= 2; ++i) {
            if (c.has(i)) d = promote(d, c.dtype(i));
          }
          c.result(d, s);
        },
    .shard = "..., ..., ... -> ...",
    .expand =
        [](Expansion& e) {
          Value y = e.x(0);
          if (e.has(1)) y = kMaximum({y, e.x(1)});
          if (e.has(2)) y = kMinimum({y, e.x(2)});
          e.result(y);
        },
    .cases =
        "x[3, 4]; clip_value_min[4]; clip_value_max[3, 1]; with clip_value_max; at (3, 0, 2) -> 2; "
        "at (-1, 0, 2) -> 0; at (nan, 0, 2) -> nan",
    .onnx = "Clip",
    .method = "clip clamp",
    .alias = "clip clamp",
});

constexpr OpDef kFmax = check({
    .name = "fmax",
    .doc = "The larger of x and y; a NaN loses against a number.",
    .in = {"input: real", "other: real"},
    .promote = Promote::kCommon,
    .type = ordered,
    .shard = "..., ... -> ...",
    .grad = [](Adjoint& a) { number_gradient(a, true); },
    .scalar = binary([](auto x, auto y) { return prefer_number<true>(x, y); }),
    .cases = "at (1, nan) -> 1; at (nan, 2) -> 2; at (1, 2) -> 2",
    .onnx = "= int Max(input, other) | Where(IsNaN(input), other, Where(IsNaN(other), input, "
            "Max(input, other)))",
    .primitive = "Fmax",
    .commutative = true,
});

constexpr OpDef kFmin = check({
    .name = "fmin",
    .doc = "The smaller of x and y; a NaN loses against a number.",
    .in = {"input: real", "other: real"},
    .promote = Promote::kCommon,
    .type = ordered,
    .shard = "..., ... -> ...",
    .grad = [](Adjoint& a) { number_gradient(a, false); },
    .scalar = binary([](auto x, auto y) { return prefer_number<false>(x, y); }),
    .cases = "at (1, nan) -> 1; at (nan, 2) -> 2; at (1, 2) -> 1",
    .onnx = "= int Min(input, other) | Where(IsNaN(input), other, Where(IsNaN(other), input, "
            "Min(input, other)))",
    .primitive = "Fmin",
    .commutative = true,
});

constexpr OpDef kHeaviside = check({
    .name = "heaviside",
    .doc = "Step function: 0 for x < 0, 1 for x > 0, `values` at 0; NaN stays NaN.",
    .in = {"input: real", "values: real"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad = [](Adjoint& a) { a.dx(1) += where(equal(a.x(0), 0.0), a.dy(), 0.0); },
    .scalar = binary([](auto x, auto v) {
      auto zero = constant(x, int64_t{0});
      return select(x < zero, zero,
                    select(x > zero, constant(x, int64_t{1}), select(x == zero, v, x)));
    }),
    .cases = "at (-2, 5) -> 0; at (0, 5) -> 5; at (2, 5) -> 1",
    .primitive = "Heaviside",
    .method = "heaviside",
});

constexpr OpDef kLerp = check({
    .name = "lerp",
    .doc = "start + weight * (end - start), exact at weight 1 too.",
    .in = {"input: float", "end: float", "weight: float"},
    .promote = Promote::kCommon,
    .type = three,
    .shard = "..., ..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          Value w = a.x(2);
          a.dx(0) += a.dy() * (1.0 - w);
          a.dx(1) += a.dy() * w;
          if (a.wants(2)) a.dx(2) += a.dy() * (a.x(1) - a.x(0));
        },
    .scalar = ternary([](auto s, auto e, auto w) {
      auto one = constant(w, 1.0);
      return select(w < constant(w, 0.5), s + w * (e - s), e - (e - s) * (one - w));
    }),
    .cases = "at (2, 4, 0.25) -> 2.5; at (1e20, 1, 1) -> 1",
    .onnx = "= Add(input, Mul(weight, Sub(end, input)))",
    .primitive = "Lerp",
    .method = "lerp",
});

constexpr OpDef kAddcmul = check({
    .name = "addcmul",
    .doc = "input + value * tensor1 * tensor2.",
    .in = {"input: number", "tensor1: number", "tensor2: number", "value: number"},
    .promote = Promote::kCommon,
    .type = scaled_type,
    .shard = "..., ..., ..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          Value scaled = a.dy() * conj_of(a.x(3));
          if (a.wants(1)) a.dx(1) += scaled * conj_of(a.x(2));
          if (a.wants(2)) a.dx(2) += scaled * conj_of(a.x(1));
          if (a.wants(3)) a.dx(3) += a.dy() * conj_of(a.x(1) * a.x(2));
        },
    .scalar =
        formula(4, 1, [](auto in, auto&, auto out) { out[0] = in[0] + in[3] * in[1] * in[2]; }),
    .cases = "at (1, 2, 3, 0.5) -> 4",
    .onnx = "= Add(input, Mul(value, Mul(tensor1, tensor2)))",
    .primitive = "Addcmul",
    .method = "addcmul",
});

constexpr OpDef kAddcdiv = check({
    .name = "addcdiv",
    .doc = "input + value * tensor1 / tensor2.",
    .in = {"input: number", "tensor1: number", "tensor2: number", "value: number"},
    .promote = Promote::kFloat,
    .type = scaled_type,
    .shard = "..., ..., ..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          Value ratio = a.dy() / conj_of(a.x(2));
          if (a.wants(1)) a.dx(1) += ratio * conj_of(a.x(3));
          if (a.wants(2)) a.dx(2) -= ratio * conj_of(a.x(3) * a.x(1) / a.x(2));
          if (a.wants(3)) a.dx(3) += ratio * conj_of(a.x(1));
        },
    .scalar =
        formula(4, 1, [](auto in, auto&, auto out) { out[0] = in[0] + in[3] * in[1] / in[2]; }),
    .cases = "tensor2 in (0.5, 2); at (1, 3, 2, 0.5) -> 1.75",
    .onnx = "= Add(input, Mul(value, Div(tensor1, tensor2)))",
    .primitive = "Addcdiv",
    .method = "addcdiv",
});

constexpr OpDef kSubtract = check({
    .name = "subtract",
    .doc = "input - alpha * other.",
    .in = {"input: number", "other: number"},
    .attr = {"alpha: float = 1"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .expand =
        [](Expansion& e) {
          double alpha = e.attrs.real("alpha");
          Value other = alpha == 1 ? e.x(1) : e.x(1) * alpha;
          e.result(e.x(0) - other);
        },
    .cases = "alpha = 1 2; at (5, 3) -> 2",
    .method = "subtract",
});

constexpr OpDef kAddn = check({
    .name = "addn",
    .doc = "Sum of any number of tensors of one shape and dtype.",
    .in = {"*x: number"},
    .promote = Promote::kCommon,
    .type =
        [](TypeRuleCtx& c) {
          if (c.inputs() == 0) c.fail("at least one tensor is needed");
          for (int i = 1; i < c.inputs(); ++i) {
            Shape both;
            if (c.shape(i).rank() != c.shape(0).rank() ||
                !mycel::broadcast(c.shape(0), c.shape(i), &both) ||
                (c.shape(0).known() && c.shape(i).known() && !(c.shape(0) == c.shape(i)))) {
              c.fail("all tensors must have one shape");
            }
          }
          types::broadcast(c);
        },
    .shard = "*... -> ...",
    .expand =
        [](Expansion& e) {
          // Pairwise, so that rounding grows with the logarithm of the number of tensors.
          std::vector<Value> sum;
          for (int i = 0; i < e.inputs(); ++i) sum.push_back(e.x(i));
          while (sum.size() > 1) {
            std::vector<Value> next;
            for (size_t i = 0; i + 1 < sum.size(); i += 2) next.push_back(sum[i] + sum[i + 1]);
            if (sum.size() % 2) next.push_back(sum.back());
            sum = std::move(next);
          }
          e.result(sum[0]);
        },
    .cases = "x[2, 3]; x count 1 2 5",
    .onnx = "Sum",
    .primitive = "AddN; AccumulateNV2",
    .alias = "accumulate_n",
});

void register_blend() {
  register_ops(
      {&kClip, &kFmax, &kFmin, &kHeaviside, &kLerp, &kAddcmul, &kAddcdiv, &kSubtract, &kAddn});
}

}  // namespace mycel::ops
