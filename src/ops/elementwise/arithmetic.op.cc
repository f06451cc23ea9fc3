// The four operations, negation and conversion of dtype: what every other rule is written with.
#include "ir/adjoint.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/formulas.h"
#include "ops/elementwise/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

constexpr OpDef kCast = check({
    .name = "cast",
    .doc = "Converts to another dtype as C does: a float to an integer truncates and saturates, "
           "NaN gives "
           "0, anything to bool asks whether it is not zero, a complex to a real drops the "
           "imaginary part.",
    .in = {"input: any"},
    .attr = {"dtype: dtype"},
    .type = [](TypeRuleCtx& c) { c.result(c.attrs.dtype("dtype"), c.shape(0)); },
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          if (is_float(a.y_type().dtype) || is_complex(a.y_type().dtype)) a.dx(0) += a.dy();
        },
    .scalar = formula(
        1, 1, [](auto in, auto& attrs, auto out) { out[0] = cast(in[0], attrs[0].dtype()); }),
    .cases = "dtype = float32 float64 float16 bfloat16 int32 int64 int8 uint8 bool complex64; "
             "input in (-3, 3); tol 1e-2; skip grad: rounding steps hide the difference quotient; "
             "skip grad2: as for grad",
    .onnx = "Cast",
    .primitive = "Cast",
    .method = "astype to",
});

constexpr OpDef kAdd = check({
    .name = "add",
    .doc = "Sum x + y; of two bools their logical or.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          a.dx(1) += a.dy();
        },
    .scalar = binary([](auto x, auto y) { return is_bool(x.dtype()) ? x | y : x + y; }),
    .cases = "at (1.5, 2.25) -> 3.75; bad input[2] other[3]",
    .onnx = "Add",
    .primitive = "Add; TensorAdd",
    .method = "add __add__ __radd__ __iadd__",
    .alias = "tensor_add",
    .commutative = true,
});

constexpr OpDef kSub = check({
    .name = "sub",
    .doc = "Difference x - y.",
    .in = {"input: number", "other: number"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += a.dy();
          a.dx(1) -= a.dy();
        },
    .scalar = binary([](auto x, auto y) { return x - y; }),
    .cases = "at (1.5, 2.25) -> -0.75; bad input[2] other[3]",
    .onnx = "Sub",
    .primitive = "Sub",
    .method = "sub __sub__ __rsub__ __isub__",
    .alias = "tensor_sub",
});

constexpr OpDef kMul = check({
    .name = "mul",
    .doc = "Product x * y; of two bools their logical and.",
    .in = {"input: any", "other: any"},
    .promote = Promote::kCommon,
    .type = types::broadcast,
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          if (a.wants(0)) a.dx(0) += a.dy() * conj_of(a.x(1));
          if (a.wants(1)) a.dx(1) += a.dy() * conj_of(a.x(0));
        },
    .scalar = binary([](auto x, auto y) { return is_bool(x.dtype()) ? x & y : x * y; }),
    .cases = "at (1.5, -2.25) -> -3.375; bad input[2] other[3]",
    .onnx = "Mul",
    .primitive = "Mul",
    .method = "mul multiply __mul__ __rmul__ __imul__",
    .alias = "multiply tensor_mul",
    .commutative = true,
});

constexpr OpDef kDiv = check({
    .name = "div",
    .doc = "Quotient x / y; integers are divided as float32. rounding_mode 'floor' rounds the "
           "quotient down "
           "(as floor_div), 'trunc' towards zero.",
    .in = {"input: any", "other: any"},
    .attr = {"rounding_mode: str(floor|trunc)? = None"},
    .promote = Promote::kFloat,
    .type =
        [](TypeRuleCtx& c) {
          if (!c.attrs["rounding_mode"].none() && is_complex(c.dtype(0))) {
            c.fail_type("complex quotients cannot be rounded; rounding_mode must be None");
          }
          types::broadcast(c);
        },
    .shard = "..., ... -> ...",
    .grad =
        [](Adjoint& a) {
          if (!a.attrs()["rounding_mode"].none())
            return;  // a step function: zero almost everywhere
          Value y = conj_of(a.x(1));
          Value quotient = a.dy() / y;
          a.dx(0) += quotient;
          if (a.wants(1)) a.dx(1) -= quotient * conj_of(a.x(0)) / y;
        },
    .scalar = formula(2, 1,
                      [](auto in, auto& attrs, auto out) {
                        if (attrs[0].none()) {
                          out[0] = in[0] / in[1];
                        } else {
                          out[0] = attrs[0].string() == "floor" ? formulas::floor_div(in[0], in[1])
                                                                : trunc(in[0] / in[1]);
                        }
                      }),
    .cases = "other in (0.5, 2); at (1, -8) -> -0.125; bad input[2] other[3] | rounding_mode = "
             "floor trunc; "
             "dtypes float32 float64 int32; at (-7, 2) -> -4",
    .onnx = "Div",
    .primitive = "Div; RealDiv",
    .method = "div divide true_divide __truediv__ __rtruediv__",
    .alias = "divide true_divide tensor_div",
});

constexpr OpDef kNeg = check({
    .name = "neg",
    .doc = "Negative -x; unsigned integers wrap around.",
    .in = {"input: number"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) -= a.dy(); },
    .scalar = unary([](auto x) { return -x; }),
    .cases = "at (1.5) -> -1.5",
    .onnx = "Neg",
    .primitive = "Neg",
    .method = "neg negative __neg__",
    .alias = "negative neg_tensor",
});

constexpr OpDef kSquare = check({
    .name = "square",
    .doc = "Square x * x.",
    .in = {"input: number"},
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * conj_of(a.x(0)) * 2.0; },
    .scalar = unary([](auto x) { return x * x; }),
    .cases = "at (-1.5) -> 2.25",
    .onnx = "= Mul(input, input)",
    .primitive = "Square",
    .method = "square",
});

constexpr OpDef kReciprocal = check({
    .name = "reciprocal",
    .doc = "Reciprocal 1 / x; integers give float32.",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = conj_of(a.y());
          a.dx(0) -= a.dy() * y * y;
        },
    .scalar = unary([](auto x) { return 1 / x; }),
    .cases = "input in (0.5, 3); at (-8) -> -0.125",
    .onnx = "Reciprocal",
    .primitive = "Reciprocal; Inv",
    .method = "reciprocal inv",
    .alias = "inv",
});

constexpr OpDef kSqrt = check({
    .name = "sqrt",
    .doc = "Square root; negative numbers give NaN, complex ones the principal root.",
    .in = {"x: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad = [](Adjoint& a) { a.dx(0) += a.dy() * 0.5 / conj_of(a.y()); },
    .scalar = unary([](auto x) { return sqrt(x); }),
    .cases = "x in (0.3, 4); at (2) -> 1.4142135623730951; at (0) -> 0; at (-1) -> nan",
    .onnx = "Sqrt",
    .primitive = "Sqrt",
    .method = "sqrt",
});

constexpr OpDef kRsqrt = check({
    .name = "rsqrt",
    .doc = "Reciprocal square root 1 / sqrt(x).",
    .in = {"input: number"},
    .promote = Promote::kFloat,
    .type = types::same_as_first,
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          Value y = conj_of(a.y());
          a.dx(0) += a.dy() * -0.5 * y * y * y;
        },
    .scalar = unary([](auto x) { return rsqrt(x); }),
    .cases = "input in (0.3, 4); at (4) -> 0.5; at (0) -> inf",
    .onnx = "= Reciprocal(Sqrt(input))",
    .primitive = "Rsqrt",
    .method = "rsqrt",
});

void register_arithmetic() {
  register_ops(
      {&kCast, &kAdd, &kSub, &kMul, &kDiv, &kNeg, &kSquare, &kReciprocal, &kSqrt, &kRsqrt});
}

}  // namespace mycel::ops
