// Numbers: what holds for every value, NaN, infinities and both zeros included. Float patterns that
// would change a bit are left out, but for pow by 2, which becomes the more exact product.
#include <cmath>
#include <limits>

#include "passes/simplify.h"

namespace mycel::passes {
namespace {

using ir::Value;

bool is_minus_zero(const Value& v) {
  auto n = uniform(v);
  return n && *n == 0 && std::signbit(*n);
}

bool is_plus_zero(const Value& v) {
  auto n = uniform(v);
  return n && *n == 0 && !std::signbit(*n);
}

Value constant_right(const Site& s) {
  if (!s.op.def.commutative || s.in.size() != 2) return {};
  if (!is_constant(s.x(0)) || is_constant(s.x(1))) return {};
  return s.emit(s.op.name.c_str(), {s.x(1), s.x(0)}, s.attrs);
}

// -0.0 is the neutral element of float addition: -0.0 + 0.0 is 0.0.
Value add_zero(const Site& s) {
  for (int i : {0, 1}) {
    const Value& zero = s.x(1 - i);
    bool neutral = s.integral() ? is_number(zero, 0) : is_minus_zero(zero);
    if (neutral && !is_bool(s.type.dtype)) return s.same_type(i);
  }
  return {};
}

Value sub_zero(const Site& s) {
  bool neutral = s.integral() ? is_number(s.x(1), 0) : is_plus_zero(s.x(1));
  return neutral ? s.same_type(0) : Value();
}

Value sub_itself(const Site& s) {
  return s.integral() && s.type.shape.known() && s.x(0).same(s.x(1)) ? s.filled(0, s.type)
                                                                     : Value();
}

Value mul_one(const Site& s) {
  for (int i : {0, 1}) {
    if (is_number(s.x(1 - i), 1)) return s.same_type(i);
  }
  return {};
}

Value mul_zero(const Site& s) {
  if (!s.integral() || !s.type.shape.known()) return {};
  return is_number(s.x(0), 0) || is_number(s.x(1), 0) ? s.filled(0, s.type) : Value();
}

bool plain_number(DType d) { return is_float(d) || is_signed_int(d); }

Value mul_minus_one(const Site& s) {
  return plain_number(s.type.dtype) && is_number(s.x(1), -1) && s.x(0).type() == s.type
             ? s.emit("neg", {s.x(0)})
             : Value();
}

bool true_division(const Site& s) {
  return s.view()["rounding_mode"].none() && is_float(s.type.dtype) &&
         s.x(0).dtype() == s.type.dtype && s.x(1).dtype() == s.type.dtype;
}

Value div_one(const Site& s) {
  return true_division(s) && is_number(s.x(1), 1) ? s.same_type(0) : Value();
}

// Both round the same real number: 1/c is exact.
Value div_power_of_two(const Site& s) {
  auto c = uniform(s.x(1));
  int exponent = 0;
  if (!c || !true_division(s) || std::fabs(std::frexp(*c, &exponent)) != 0.5) return {};
  if (std::abs(exponent) > 12) return {};  // normal in every float dtype
  return s.emit("mul", {s.x(0), s.filled(1 / *c, s.x(1).type())});
}

// (x op c1) op c2 = x op (c1 op c2) for integers, which wrap around.
Value integer_chain(const Site& s) {
  if (!s.integral() || !made_by(s.x(0), s.op.name.c_str())) return {};
  const ir::Node& inner = *s.x(0).node;
  auto c1 = uniform(inner.inputs[1]), c2 = uniform(s.x(1));
  if (!c1 || !c2 || !(inner.inputs[0].type() == s.type)) return {};
  double c = s.op.name == "add" ? *c1 + *c2 : *c1 * *c2;
  // Where the number itself does not wrap and a double holds it.
  double limit =
      std::ldexp(1.0, std::min<int>(static_cast<int>(8 * size_of(s.type.dtype)) - 1, 53));
  if (std::fabs(c) >= limit || (is_unsigned_int(s.type.dtype) && c < 0)) return {};
  return s.emit(s.op.name.c_str(), {inner.inputs[0], s.filled(c, {s.type.dtype, Shape()})});
}

Value undo(const Site& s) {  // neg(neg x), invert(invert x)
  return made_by(s.x(0), s.op.name.c_str()) && s.x(0).node->inputs[0].type() == s.type
             ? s.x(0).node->inputs[0]
             : Value();
}

// The gradient of a table that is used in other ways too: rows are added to the other part, without
// a table of zeros between.
Value add_scattered(const Site& s) {
  for (int i : {0, 1}) {
    const Value &sum = s.x(i), &other = s.x(1 - i);
    if (!made_by(sum, "axis_scatter_add") || !(sum.type() == s.type) || !(other.type() == s.type))
      continue;
    const ir::Node& n = *sum.node;
    if (!is_number(n.inputs[0], 0) || made_by(other, "axis_scatter_add")) continue;
    return s.emit("axis_scatter_add", {other, n.inputs[1], n.inputs[2]}, n.attrs);
  }
  return {};
}

Value add_neg(const Site& s) {
  if (is_bool(s.type.dtype)) return {};
  if (made_by(s.x(1), "neg")) return s.emit("sub", {s.x(0), s.x(1).node->inputs[0]});
  if (made_by(s.x(0), "neg")) return s.emit("sub", {s.x(1), s.x(0).node->inputs[0]});
  return {};
}

Value sub_neg(const Site& s) {
  return made_by(s.x(1), "neg") ? s.emit("add", {s.x(0), s.x(1).node->inputs[0]}) : Value();
}

Value both_neg(const Site& s) {
  return made_by(s.x(0), "neg") && made_by(s.x(1), "neg")
             ? s.emit(s.op.name.c_str(), {s.x(0).node->inputs[0], s.x(1).node->inputs[0]}, s.attrs)
             : Value();
}

Value even_of_neg(const Site& s) {  // abs and square do not see a sign
  bool sign = made_by(s.x(0), "neg") || made_by(s.x(0), "abs");
  if (is_unsigned_int(s.x(0).dtype())) return {};  // whose -x is 2^n - x
  return sign && s.x(0).node->inputs[0].type() == s.x(0).type()
             ? s.emit(s.op.name.c_str(), {s.x(0).node->inputs[0]})
             : Value();
}

Value pow_by_number(const Site& s) {
  if (!(s.x(0).type() == s.type)) return {};
  if (is_number(s.x(1), 1)) return s.x(0);
  if (is_number(s.x(1), 2)) return s.emit("mul", {s.x(0), s.x(0)});
  // sqrt gives -0.0 for -0.0 and NaN for -inf where pow gives 0.0 and inf.
  bool positive = made_by(s.x(0), "abs") || made_by(s.x(0), "square") || made_by(s.x(0), "exp");
  if (positive && is_float(s.type.dtype) && is_number(s.x(1), 0.5)) return s.emit("sqrt", {s.x(0)});
  return {};
}

Value of_itself(const Site& s) { return s.x(0).same(s.x(1)) ? s.same_type(0) : Value(); }

Value select_alike(const Site& s) { return s.x(1).same(s.x(2)) ? s.same_type(1) : Value(); }

Value select_known(const Site& s) {
  auto c = uniform(s.x(0));
  return c ? s.same_type(*c != 0 ? 1 : 2) : Value();
}

Value logic_with_constant(const Site& s) {
  bool absorbs = s.op.name == "logical_or";
  for (int i : {0, 1}) {
    auto c = uniform(s.x(1 - i));
    if (!c || !is_bool(s.x(i).dtype()) || !is_bool(s.x(1 - i).dtype())) continue;
    if ((*c != 0) != absorbs) return s.same_type(i);
    if (s.type.shape.known()) return s.filled(absorbs ? 1 : 0, s.type);
  }
  return {};
}

Value not_of_comparison(const Site& s) {  // also right for NaN, unlike not less
  if (made_by(s.x(0), "equal")) {
    return s.emit("not_equal", {s.x(0).node->inputs[0], s.x(0).node->inputs[1]});
  }
  if (made_by(s.x(0), "not_equal")) {
    return s.emit("equal", {s.x(0).node->inputs[0], s.x(0).node->inputs[1]});
  }
  return {};
}

Value compare_itself(const Site& s) {
  if (!s.x(0).same(s.x(1)) || !s.type.shape.known()) return {};
  if (!is_int(s.x(0).dtype()) && !is_bool(s.x(0).dtype())) return {};  // NaN differs from itself
  bool result = s.op.name == "equal" || s.op.name == "less_equal" || s.op.name == "greater_equal";
  return s.filled(result ? 1 : 0, s.type);
}

constexpr Pattern kPatterns[] = {
    {"", "constants stand right", constant_right},
    {"add", "x + 0 = x", add_zero},
    {"add", "x + (-y) = x - y", add_neg},
    {"add", "x + rows added to zeros = rows added to x", add_scattered},
    {"add", "(x + c) + d = x + (c + d) for ints", integer_chain},
    {"sub", "x - 0 = x", sub_zero},
    {"sub", "x - x = 0 for ints", sub_itself},
    {"sub", "x - (-y) = x + y", sub_neg},
    {"mul", "x * 1 = x", mul_one},
    {"mul", "x * 0 = 0 for ints", mul_zero},
    {"mul", "x * -1 = -x", mul_minus_one},
    {"mul", "(-x) * (-y) = x * y", both_neg},
    {"mul", "(x * c) * d = x * (c * d) for ints", integer_chain},
    {"div", "x / 1 = x", div_one},
    {"div", "(-x) / (-y) = x / y", both_neg},
    {"div", "x / 2^n = x * 2^-n", div_power_of_two},
    {"pow", "x^1, x^2, |x|^0.5", pow_by_number},
    {"neg", "-(-x) = x", undo},
    {"invert", "~~x = x", undo},
    {"logical_not", "not not x = x", undo},
    {"logical_not", "not (x == y) = x != y", not_of_comparison},
    {"abs", "|-x| = ||x|| = |x|", even_of_neg},
    {"square", "(-x)^2 = |x|^2 = x^2", even_of_neg},
    {"minimum", "min(x, x) = x", of_itself},
    {"maximum", "max(x, x) = x", of_itself},
    {"bitwise_and", "x & x = x", of_itself},
    {"bitwise_or", "x | x = x", of_itself},
    {"logical_and", "x and x = x", of_itself},
    {"logical_or", "x or x = x", of_itself},
    {"logical_and", "x and True = x, x and False = False", logic_with_constant},
    {"logical_or", "x or False = x, x or True = True", logic_with_constant},
    {"select", "c ? x : x = x", select_alike},
    {"select", "True ? x : y = x", select_known},
    {"equal", "x == x for ints", compare_itself},
    {"not_equal", "x != x for ints", compare_itself},
    {"less", "x < x for ints", compare_itself},
    {"less_equal", "x <= x for ints", compare_itself},
    {"greater", "x > x for ints", compare_itself},
    {"greater_equal", "x >= x for ints", compare_itself},
    {"identity", "identity(x) = x", [](const Site& s) { return s.same_type(0); }},
    {"stop_gradient", "x: gradients come before", [](const Site& s) { return s.same_type(0); }},
};

}  // namespace

std::span<const Pattern> arithmetic_patterns() { return kPatterns; }

}  // namespace mycel::passes
