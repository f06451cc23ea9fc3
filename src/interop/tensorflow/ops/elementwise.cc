// Elementwise ops: most are one op of Mycel's under two more names.
#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {
namespace {

template <Tensor (*F)(const Tensor&)>
Tensors unary(Call& c) {
  return {F(c.x(0))};
}
template <Tensor (*F)(const Tensor&, const Tensor&)>
Tensors binary(Call& c) {
  return {F(c.x(0), c.x(1))};
}
// With the activation that TFLite may join.
template <Tensor (*F)(const Tensor&, const Tensor&)>
Tensors joined(Call& c) {
  return {activated(c, F(c.x(0), c.x(1)))};
}

Tensor quotient(const Tensor& a, const Tensor& b) {
  return is_int(a.dtype()) ? ops::truncate_div(a, b) : ops::div(a, b);
}
Tensor floor_quotient(const Tensor& a, const Tensor& b) {
  return is_int(a.dtype()) ? ops::floor_div(a, b) : ops::floor(ops::div(a, b));
}
Tensor square(const Tensor& x) { return ops::mul(x, x); }
Tensor squared_difference(const Tensor& a, const Tensor& b) { return square(ops::sub(a, b)); }
Tensor no_nan(const Tensor& a, const Tensor& b, const Tensor& y) {
  (void)a;
  return ops::select(ops::equal(b, number_like(0, b)), number_like(0, y), y);
}
Tensor div_no_nan(const Tensor& a, const Tensor& b) { return no_nan(a, b, ops::div(a, b)); }
Tensor mul_no_nan(const Tensor& a, const Tensor& b) { return no_nan(a, b, ops::mul(a, b)); }
Tensor xdivy(const Tensor& a, const Tensor& b) { return no_nan(b, a, ops::div(a, b)); }
Tensor xlogy(const Tensor& a, const Tensor& b) { return no_nan(b, a, ops::mul(a, ops::log(b))); }

Tensors sum_of(Call& c) {
  Tensor y = c.x(0);
  for (int i = 1; i < c.inputs(); ++i) y = ops::add(y, c.x(i));
  return {y};
}

// GraphDefs add a bias to the channels, which may stand first.
Tensors bias_add(Call& c) {
  Tensor x = c.x(0), b = c.x(1);
  if (b.rank() != 1) c.fail("a bias {}", b.describe());
  if (channels_first(c)) {
    Ints shape(static_cast<size_t>(x.rank()), 1);
    shape.at(1) = -1;
    b = ops::reshape(b, shape);
  }
  return {ops::add(x, b)};
}

Tensors cast(Call& c) {
  DType to = c.lite() ? c.out_slot(0).dtype : c.dtype("DstT", DType::kFloat32);
  return {as(c.x(0), to)};
}
Tensors bitcast(Call& c) {
  DType to = c.lite() ? c.out_slot(0).dtype : c.dtype("type", DType::kFloat32);
  Tensor x = c.known(0);
  if (size_of(to) != size_of(x.dtype()))
    c.unsupported("{} to {}: elements of different size", x.describe(), name_of(to));
  return {x.bitcast(to)};
}

Tensors identity(Call& c) { return {c.x(0)}; }
Tensors identities(Call& c) { return c.all(); }

Tensors select(Call& c) {
  Tensor cond = c.x(0), a = c.x(1), b = c.x(2);
  // The older form: one condition for each row.
  if (cond.rank() == 1 && a.rank() > 1 && c.node.op != "SELECT_V2" && c.node.op != "SelectV2") {
    Ints shape(static_cast<size_t>(a.rank()), 1);
    shape[0] = -1;
    cond = ops::reshape(cond, shape);
  }
  return {ops::select(as(cond, DType::kBool), a, b)};
}

Tensors zeros_like(Call& c) {
  Tensor x = c.x(0);
  return {ops::mul(x, number_like(0, x))};
}
Tensors ones_like(Call& c) {
  Tensor x = c.x(0);
  return {ops::add(ops::mul(x, number_like(0, x)), number_like(1, x))};
}

Tensors clip(Call& c) { return {ops::minimum(ops::maximum(c.x(0), c.x(1)), c.x(2))}; }

Tensors right_shift(Call& c) { return {ops::bitwise_right_shift(c.x(0), c.x(1))}; }
Tensors left_shift(Call& c) { return {ops::bitwise_left_shift(c.x(0), c.x(1))}; }

constexpr Record kRecords[] = {
    {0, "ADD", "AddV2", joined<ops::add>, quantized_add},
    {-1, "", "Add", joined<ops::add>},
    {41, "SUB", "Sub", joined<ops::sub>, quantized_sub},
    {18, "MUL", "Mul", joined<ops::mul>, quantized_mul},
    {42, "DIV", "RealDiv", joined<quotient>},
    {-1, "", "Div", joined<quotient>},
    {-1, "", "TruncateDiv", joined<quotient>},
    {-1, "", "DivNoNan", binary<div_no_nan>},
    {-1, "", "MulNoNan", binary<mul_no_nan>},
    {-1, "", "Xdivy", binary<xdivy>},
    {-1, "", "Xlogy", binary<xlogy>},
    {90, "FLOOR_DIV", "FloorDiv", binary<floor_quotient>},
    {95, "FLOOR_MOD", "FloorMod", binary<ops::floor_mod>},
    {-1, "", "Mod", binary<ops::truncate_mod>},
    {-1, "", "TruncateMod", binary<ops::truncate_mod>},
    {78, "POW", "Pow", binary<ops::pow>},
    {55, "MAXIMUM", "Maximum", binary<ops::maximum>, quantized_maximum},
    {57, "MINIMUM", "Minimum", binary<ops::minimum>, quantized_minimum},
    {99, "SQUARED_DIFFERENCE", "SquaredDifference", binary<squared_difference>,
     quantized_squared_difference},
    {156, "ATAN2", "Atan2", binary<ops::atan2>},
    {106, "ADD_N", "AddN", sum_of},
    {-1, "", "BiasAdd", bias_add},
    {101, "ABS", "Abs", unary<ops::abs>, quantized_unary},
    {59, "NEG", "Neg", unary<ops::neg>, quantized_unary},
    {158, "SIGN", "Sign", unary<ops::sign>},
    {104, "CEIL", "Ceil", unary<ops::ceil>},
    {8, "FLOOR", "Floor", unary<ops::floor>},
    {116, "ROUND", "Round", unary<ops::round>},
    {-1, "", "Rint", unary<ops::round>},
    {47, "EXP", "Exp", unary<ops::exp>, quantized_unary},
    {-1, "", "Expm1", unary<ops::expm1>},
    {73, "LOG", "Log", unary<ops::log>, quantized_unary},
    {-1, "", "Log1p", unary<ops::log1p>},
    {75, "SQRT", "Sqrt", unary<ops::sqrt>},
    {76, "RSQRT", "Rsqrt", unary<ops::rsqrt>, quantized_unary},
    {92, "SQUARE", "Square", unary<square>},
    {-1, "", "Reciprocal", unary<ops::reciprocal>},
    {-1, "", "Inv", unary<ops::reciprocal>},
    {66, "SIN", "Sin", unary<ops::sin>},
    {108, "COS", "Cos", unary<ops::cos>},
    {-1, "", "Tan", unary<ops::tan>},
    {-1, "", "Asin", unary<ops::asin>},
    {-1, "", "Acos", unary<ops::acos>},
    {-1, "", "Atan", unary<ops::atan>},
    {-1, "", "Sinh", unary<ops::sinh>},
    {-1, "", "Cosh", unary<ops::cosh>},
    {-1, "", "Asinh", unary<ops::asinh>},
    {-1, "", "Acosh", unary<ops::acosh>},
    {-1, "", "Atanh", unary<ops::atanh>},
    {-1, "", "Erf", unary<ops::erf>},
    {-1, "", "IsNan", unary<ops::isnan>},
    {-1, "", "IsInf", unary<ops::isinf>},
    {-1, "", "IsFinite", unary<ops::isfinite>},
    {71, "EQUAL", "Equal", binary<ops::equal>, quantized_compare},
    {72, "NOT_EQUAL", "NotEqual", binary<ops::not_equal>, quantized_compare},
    {58, "LESS", "Less", binary<ops::less>, quantized_compare},
    {63, "LESS_EQUAL", "LessEqual", binary<ops::less_equal>, quantized_compare},
    {61, "GREATER", "Greater", binary<ops::greater>, quantized_compare},
    {62, "GREATER_EQUAL", "GreaterEqual", binary<ops::greater_equal>, quantized_compare},
    {86, "LOGICAL_AND", "LogicalAnd", binary<ops::logical_and>},
    {84, "LOGICAL_OR", "LogicalOr", binary<ops::logical_or>},
    {87, "LOGICAL_NOT", "LogicalNot", unary<ops::logical_not>},
    {160, "BITWISE_XOR", "BitwiseXor", binary<ops::bitwise_xor>},
    {-1, "", "BitwiseAnd", binary<ops::bitwise_and>},
    {-1, "", "BitwiseOr", binary<ops::bitwise_or>},
    {161, "RIGHT_SHIFT", "RightShift", right_shift},
    {-1, "", "LeftShift", left_shift},
    {64, "SELECT", "Select", select, moves},
    {123, "SELECT_V2", "SelectV2", select, moves},
    {53, "CAST", "Cast", cast},
    {159, "BITCAST", "Bitcast", bitcast},
    {93, "ZEROS_LIKE", "ZerosLike", zeros_like},
    {-1, "", "OnesLike", ones_like},
    {-1, "", "ClipByValue", clip},
    {-1, "", "Identity", identity},
    {-1, "", "StopGradient", identity},
    {-1, "", "PreventGradient", identity},
    {-1, "", "Snapshot", identity},
    {-1, "", "EnsureShape", identity},
    {-1, "", "PlaceholderWithDefault", identity},
    {-1, "", "IdentityN", identities},
};

}  // namespace

Records elementwise_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
