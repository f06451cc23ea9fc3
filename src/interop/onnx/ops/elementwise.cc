// Elementwise ops whose operands, defaults or dtypes differ from the op of Mycel that they are.
#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

Tensor folded(Call& c, Tensor (*f)(const Tensor&, const Tensor&)) {
  Tensor y = c.x(0);
  for (int i = 1; i < c.inputs(); ++i) y = f(y, c.x(i));
  return y;
}
Values maximum(Call& c) { return one(folded(c, ops::maximum)); }
Values minimum(Call& c) { return one(folded(c, ops::minimum)); }
Values sum(Call& c) { return one(folded(c, ops::add)); }
Values mean(Call& c) {
  Tensor y = folded(c, ops::add);
  return one(ops::mul(y, number_like(1.0 / c.inputs(), y)));
}

Values div(Call& c) {
  Tensor a = c.x(0), b = c.x(1);
  return one(is_int(a.dtype()) ? ops::truncate_div(a, b) : ops::div(a, b));
}

Values mod(Call& c) {
  bool truncate = c.flag("fmod", false);
  return one(truncate ? ops::truncate_mod(c.x(0), c.x(1)) : ops::floor_mod(c.x(0), c.x(1)));
}

// The result has the dtype of the base.
Values pow(Call& c) {
  Tensor x = c.x(0), e = c.x(1);
  if (x.dtype() == e.dtype()) return one(ops::pow(x, e));
  if (is_int(x.dtype()) && !is_int(e.dtype()))
    return one(as(ops::pow(as(x, DType::kFloat64), as(e, DType::kFloat64)), x.dtype()));
  return one(as(ops::pow(x, as(e, x.dtype())), x.dtype()));
}

Values prelu(Call& c) {
  Tensor x = c.x(0), slope = c.x(1);
  Shape ignored;
  if (slope.rank() == 1 && x.rank() > 2 && !broadcast(x.shape(), slope.shape(), &ignored)) {
    // Before opset 7, one number a channel.
    Ints by_channel(static_cast<size_t>(x.rank() - 1), 1);
    by_channel[0] = -1;
    slope = ops::reshape(slope, by_channel);
  }
  Tensor zero = number_like(0, x);
  return one(ops::select(ops::less(x, zero), ops::mul(x, slope), x));
}

Values hard_sigmoid(Call& c) {
  Tensor x = c.x(0);
  Tensor line = ops::add(ops::mul(x, number_like(c.real("alpha", 0.2), x)),
                         number_like(c.real("beta", 0.5), x));
  return one(ops::minimum(ops::maximum(line, number_like(0, x)), number_like(1, x)));
}

Values selu(Call& c) {
  Tensor x = c.x(0);
  double alpha = c.real("alpha", 1.67326319217681884765625);
  double gamma = c.real("gamma", 1.05070102214813232421875);
  Tensor low = ops::mul(ops::expm1(x), number_like(alpha * gamma, x));
  return one(
      ops::select(ops::greater(x, number_like(0, x)), ops::mul(x, number_like(gamma, x)), low));
}

Values thresholded_relu(Call& c) {
  Tensor x = c.x(0);
  return one(
      ops::select(ops::greater(x, number_like(c.real("alpha", 1), x)), x, number_like(0, x)));
}

Values shrink(Call& c) {
  Tensor x = c.x(0);
  double bias = c.real("bias", 0), lambda = c.real("lambd", 0.5);
  Tensor zero = number_like(0, x);
  Tensor low = ops::less(x, number_like(-lambda, x)),
         high = ops::greater(x, number_like(lambda, x));
  return one(ops::select(low, ops::add(x, number_like(bias, x)),
                         ops::select(high, ops::sub(x, number_like(bias, x)), zero)));
}

Values clip(Call& c) {
  Tensor x = c.x(0), low, high;
  if (c.opset < 11) {
    if (c.has_attr("min")) low = number_like(c.real("min", 0), x);
    if (c.has_attr("max")) high = number_like(c.real("max", 0), x);
  } else {
    low = c.x_or(1);
    high = c.x_or(2);
  }
  if (low) x = ops::maximum(x, low);
  if (high) x = ops::minimum(x, high);
  return one(x);
}

Values bit_shift(Call& c) {
  bool left = c.text("direction", "") == "LEFT";
  return one(left ? ops::bitwise_left_shift(c.x(0), c.x(1))
                  : ops::bitwise_right_shift(c.x(0), c.x(1)));
}

Values cast(Call& c) { return one(as(c.x(0), dtype_of_code(c.integer("to"), c.title()))); }
Values cast_like(Call& c) { return one(as(c.x(0), c.x(1).dtype())); }

Values bit_cast(Call& c) {
  Tensor x = c.x(0);
  DType to = dtype_of_code(c.integer("to"), c.title());
  if (size_of(to) != size_of(x.dtype()))
    c.fail("{} has {} bytes, {} has {}", name_of(x.dtype()), size_of(x.dtype()), name_of(to),
           size_of(to));
  return one(c.known(x, "input 0").bitcast(to));
}

Values is_inf(Call& c) {
  Tensor x = c.x(0);
  bool negative = c.flag("detect_negative", true), positive = c.flag("detect_positive", true);
  if (negative && positive) return one(ops::isinf(x));
  if (negative) return one(ops::isneginf(x));
  if (positive) return one(ops::isposinf(x));
  return one(ops::logical_and(ops::isinf(x), number(0, DType::kBool)));
}

Tensor swished(const Tensor& x, double alpha) {
  return ops::mul(x, ops::sigmoid(alpha == 1 ? x : ops::mul(x, number_like(alpha, x))));
}
Values swish(Call& c) { return one(swished(c.x(0), c.real("alpha", 1))); }
Values swiglu(Call& c) { return one(ops::mul(swished(c.x(0), c.real("alpha", 1)), c.x(1))); }

Values identity(Call& c) { return {c.value(0)}; }

Values gelu(Call& c) { return one(ops::gelu(c.x(0), c.text("approximate", "none"))); }

Values softplus(Call& c) {
  Tensor x = c.x(0);
  return one(as(ops::softplus(x), x.dtype()));
}

// Before opset 13 the dims from `axis` on are one.
Values softmax_with(Call& c, Tensor (*f)(const Tensor&, int64_t)) {
  Tensor x = c.x(0);
  if (c.opset >= 13) return one(f(x, c.integer("axis", -1)));
  int axis = axis_of(c, c.integer("axis", 1), x.rank());
  Dims dims = c.dims(x);
  int64_t rest = x.shape().size(axis, x.rank());
  Tensor flat = ops::reshape(x, {x.shape().size(0, axis), rest});
  return one(ops::reshape(f(flat, 1), dims));
}
Values softmax(Call& c) {
  return softmax_with(c, [](const Tensor& x, int64_t a) { return ops::softmax(x, a); });
}
Values log_softmax(Call& c) {
  return softmax_with(c, [](const Tensor& x, int64_t a) { return ops::log_softmax(x, a); });
}
Values hardmax(Call& c) {
  return softmax_with(c, [](const Tensor& x, int64_t a) {
    int64_t n = x.shape()[static_cast<int>(a)];
    return ops::one_hot(ops::argmax(x, ir::Attr(a)), number_like(1, x), number_like(0, x), n, a);
  });
}

constexpr Record kRecords[] = {
    {"Max", maximum},
    {"Min", minimum},
    {"Sum", sum},
    {"Mean", mean},
    {"Div", div},
    {"Mod", mod},
    {"Pow", pow},
    {"PRelu", prelu},
    {"HardSigmoid", hard_sigmoid},
    {"Selu", selu},
    {"ThresholdedRelu", thresholded_relu},
    {"Shrink", shrink},
    {"Clip", clip},
    {"BitShift", bit_shift},
    {"Cast", cast},
    {"CastLike", cast_like},
    {"BitCast", bit_cast},
    {"IsInf", is_inf},
    {"Swish", swish},
    {"SwiGLU", swiglu},
    {"Identity", identity},
    {"Gelu", gelu},
    {"Softplus", softplus},
    {"Softmax", softmax},
    {"LogSoftmax", log_softmax},
    {"Hardmax", hardmax},
};

}  // namespace

Records elementwise_records() { return kRecords; }

}  // namespace mycel::interop::onnx
