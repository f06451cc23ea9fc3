// Operators and functions of Val: type checks, the little folding that keeps index arithmetic
// small, and the split of complex numbers is in complex.cc.
#include "loops/val.h"

#include <cmath>

#include "base/error.h"
#include "loops/complex.h"
#include "loops/expr.h"

namespace mycel::loops {
namespace {

Val wrap(Expr* e) { return Val{e, nullptr}; }
Nest::Impl& home(const Val& v) {
  MYCEL_CHECK(v.n, "an empty Val was used in a formula");
  return *v.n->home;
}

bool is_int_literal(const Expr* e, int64_t value) {
  return e->is_literal() && !is_float(e->dtype) && e->bits == value;
}
bool is_real_literal(const Expr* e, double value) {
  return e->is_literal() && is_float(e->dtype) && e->real() == value;
}
bool is_one(const Expr* e) { return is_int_literal(e, 1) || is_real_literal(e, 1.0); }

// The other operand when one is neutral, a literal when the answer is known, else null.
Expr* fold(Op op, Expr* a, Expr* b) {
  const bool both = a->is_literal() && b->is_literal() && a->dtype == DType::kInt64;
  switch (op) {
    case Op::kAdd:
      if (is_int_literal(a, 0)) return b;
      if (is_int_literal(b, 0)) return a;
      if (both)
        return a->home->literal(a->dtype,
                                static_cast<int64_t>(uint64_t(a->bits) + uint64_t(b->bits)));
      return nullptr;
    case Op::kSub:
      if (is_int_literal(b, 0)) return a;
      if (both)
        return a->home->literal(a->dtype,
                                static_cast<int64_t>(uint64_t(a->bits) - uint64_t(b->bits)));
      return nullptr;
    case Op::kMul:
      if (is_one(a)) return b;
      if (is_one(b)) return a;
      if (is_int_literal(a, 0)) return a;
      if (is_int_literal(b, 0)) return b;
      if (both)
        return a->home->literal(a->dtype,
                                static_cast<int64_t>(uint64_t(a->bits) * uint64_t(b->bits)));
      return nullptr;
    case Op::kDiv:
      return is_one(b) ? a : nullptr;
    case Op::kRem:
      return is_int_literal(b, 1) ? a->home->literal(a->dtype, 0) : nullptr;
    default:
      return nullptr;
  }
}

void same(const char* what, const Val& a, const Val& b) {
  MYCEL_CHECK(a.n && b.n, "{} of an empty Val", what);
  MYCEL_CHECK(a.n->home == b.n->home, "{} of values of two different nests", what);
  MYCEL_CHECK(a.dtype() == b.dtype(), "{} of {} and {}; cast one of them", what, name_of(a.dtype()),
              name_of(b.dtype()));
}
void real_only(const char* what, const Val& a) {
  MYCEL_CHECK(a.n, "{} of an empty Val", what);
  MYCEL_CHECK(!a.im, "{} is not defined for complex numbers", what);
}
void float_only(const char* what, const Val& a) {
  real_only(what, a);
  MYCEL_CHECK(is_float(a.dtype()), "{} of {}; it needs a float", what, name_of(a.dtype()));
}
void bits_only(const char* what, const Val& a) {
  real_only(what, a);
  MYCEL_CHECK(!is_float(a.dtype()), "{} of {}; it needs an integer or bool", what,
              name_of(a.dtype()));
}

Val arithmetic(Op op, const Val& a, const Val& b) {
  same(name_of(op), a, b);
  MYCEL_CHECK(!is_bool(a.dtype()), "{} of bool; cast to a number first", name_of(op));
  if (Expr* known = fold(op, a.n, b.n)) return wrap(known);
  return wrap(home(a).add(op, a.n->dtype, {a.n, b.n}));
}
Val bitwise(Op op, const Val& a, const Val& b) {
  same(name_of(op), a, b);
  bits_only(name_of(op), a);
  return wrap(home(a).add(op, a.n->dtype, {a.n, b.n}));
}
Val compare(Op op, const Val& a, const Val& b) {
  same(name_of(op), a, b);
  real_only(name_of(op), a);
  return wrap(home(a).add(op, DType::kBool, {a.n, b.n}));
}
Val function(Op op, const Val& x) {
  float_only(name_of(op), x);
  return wrap(home(x).add(op, x.n->dtype, {x.n}));
}
// Rounding of an integer is itself.
Val rounding(Op op, const Val& x) {
  real_only(name_of(op), x);
  return is_float(x.dtype()) ? function(op, x) : x;
}

}  // namespace

DType Val::dtype() const {
  MYCEL_CHECK(n, "the dtype of an empty Val was asked for");
  if (!im) return n->dtype;
  return n->dtype == DType::kFloat32 ? DType::kComplex64 : DType::kComplex128;
}
Nest& Val::nest() const { return *home(*this).self; }

Val constant(Nest& nest, DType dtype, double value) {
  if (is_complex(dtype)) {
    return {constant(nest, real_part_of(dtype), value).n,
            constant(nest, real_part_of(dtype), 0.0).n};
  }
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) dtype = DType::kFloat32;
  if (is_float(dtype)) {
    if (dtype == DType::kFloat32) value = static_cast<double>(static_cast<float>(value));
    return wrap(nest.impl().literal(dtype, std::bit_cast<int64_t>(value)));
  }
  MYCEL_CHECK(is_bool(dtype) || value == std::trunc(value), "the number {} stands beside an {}",
              value, name_of(dtype));
  if (dtype == DType::kUInt64 && value >= 0x1p63) {
    return wrap(nest.impl().literal(dtype, static_cast<int64_t>(static_cast<uint64_t>(value))));
  }
  return constant(nest, dtype, static_cast<int64_t>(value));
}
Val constant(Nest& nest, DType dtype, int64_t value) {
  if (is_float(dtype) || is_complex(dtype))
    return constant(nest, dtype, static_cast<double>(value));
  switch (dtype) {
    case DType::kBool:
      value = value != 0;
      break;
    case DType::kInt8:
      value = static_cast<int8_t>(value);
      break;
    case DType::kInt16:
      value = static_cast<int16_t>(value);
      break;
    case DType::kInt32:
      value = static_cast<int32_t>(value);
      break;
    case DType::kUInt8:
      value = static_cast<uint8_t>(value);
      break;
    case DType::kUInt16:
      value = static_cast<uint16_t>(value);
      break;
    case DType::kUInt32:
      value = static_cast<uint32_t>(value);
      break;
    default:
      break;
  }
  return wrap(nest.impl().literal(dtype, value));
}
Val constant(const Val& like, double value) { return constant(like.nest(), like.dtype(), value); }
Val constant(const Val& like, int64_t value) { return constant(like.nest(), like.dtype(), value); }

Val operator+(Val a, Val b) {
  return a.im || b.im ? complex::add(a, b) : arithmetic(Op::kAdd, a, b);
}
Val operator-(Val a, Val b) {
  return a.im || b.im ? complex::sub(a, b) : arithmetic(Op::kSub, a, b);
}
Val operator*(Val a, Val b) {
  return a.im || b.im ? complex::mul(a, b) : arithmetic(Op::kMul, a, b);
}
Val operator/(Val a, Val b) {
  return a.im || b.im ? complex::div(a, b) : arithmetic(Op::kDiv, a, b);
}
Val operator%(Val a, Val b) {
  real_only("rem", a);
  return arithmetic(Op::kRem, a, b);
}
Val operator-(Val a) {
  if (a.im) return {(-real(a)).n, (-imag(a)).n};
  real_only("neg", a);
  MYCEL_CHECK(!is_bool(a.dtype()), "neg of bool; use !");
  if (a.n->is_literal()) {
    return is_float(a.dtype()) ? constant(a, -a.n->real())
                               : constant(a, int64_t(0 - uint64_t(a.n->bits)));
  }
  return wrap(home(a).add(Op::kNeg, a.n->dtype, {a.n}));
}
Val operator&(Val a, Val b) { return bitwise(Op::kAnd, a, b); }
Val operator|(Val a, Val b) { return bitwise(Op::kOr, a, b); }
Val operator^(Val a, Val b) { return bitwise(Op::kXor, a, b); }
Val operator~(Val a) {
  bits_only("not", a);
  return wrap(home(a).add(Op::kNot, a.n->dtype, {a.n}));
}
Val operator<<(Val a, Val b) {
  MYCEL_CHECK(!is_bool(a.dtype()), "shift of bool");
  return bitwise(Op::kShl, a, b);
}
Val operator>>(Val a, Val b) {
  MYCEL_CHECK(!is_bool(a.dtype()), "shift of bool");
  return bitwise(Op::kShr, a, b);
}
Val operator<(Val a, Val b) { return compare(Op::kLt, a, b); }
Val operator<=(Val a, Val b) { return compare(Op::kLe, a, b); }
Val operator>(Val a, Val b) { return compare(Op::kLt, b, a); }
Val operator>=(Val a, Val b) { return compare(Op::kLe, b, a); }
Val operator==(Val a, Val b) {
  if (a.im || b.im) {
    same("eq", a, b);
    return (real(a) == real(b)) & (imag(a) == imag(b));
  }
  return compare(Op::kEq, a, b);
}
Val operator!=(Val a, Val b) {
  if (a.im || b.im) {
    same("ne", a, b);
    return (real(a) != real(b)) | (imag(a) != imag(b));
  }
  return compare(Op::kNe, a, b);
}
Val operator!(Val a) { return ~cast(a, DType::kBool); }
Val operator&&(Val a, Val b) { return cast(a, DType::kBool) & cast(b, DType::kBool); }
Val operator||(Val a, Val b) { return cast(a, DType::kBool) | cast(b, DType::kBool); }

Val exp(Val x) { return x.im ? complex::exp(x) : function(Op::kExp, x); }
Val log(Val x) { return x.im ? complex::log(x) : function(Op::kLog, x); }
Val sqrt(Val x) { return x.im ? complex::sqrt(x) : function(Op::kSqrt, x); }
Val rsqrt(Val x) { return number_like(x, 1) / sqrt(x); }
#define MYCEL_FUNCTION(name, op) \
  Val name(Val x) { return function(Op::op, x); }
MYCEL_FUNCTION(exp2, kExp2)
MYCEL_FUNCTION(expm1, kExpm1)
MYCEL_FUNCTION(log2, kLog2)
MYCEL_FUNCTION(log10, kLog10)
MYCEL_FUNCTION(log1p, kLog1p)
MYCEL_FUNCTION(sin, kSin)
MYCEL_FUNCTION(cos, kCos)
MYCEL_FUNCTION(tan, kTan)
MYCEL_FUNCTION(asin, kAsin)
MYCEL_FUNCTION(acos, kAcos)
MYCEL_FUNCTION(atan, kAtan)
MYCEL_FUNCTION(sinh, kSinh)
MYCEL_FUNCTION(cosh, kCosh)
MYCEL_FUNCTION(tanh, kTanh)
MYCEL_FUNCTION(asinh, kAsinh)
MYCEL_FUNCTION(acosh, kAcosh)
MYCEL_FUNCTION(atanh, kAtanh)
MYCEL_FUNCTION(erf, kErf)
MYCEL_FUNCTION(erfc, kErfc)
MYCEL_FUNCTION(lgamma, kLgamma)
#undef MYCEL_FUNCTION
Val floor(Val x) { return rounding(Op::kFloor, x); }
Val ceil(Val x) { return rounding(Op::kCeil, x); }
Val trunc(Val x) { return rounding(Op::kTrunc, x); }
Val rint(Val x) { return rounding(Op::kRint, x); }

Val atan2(Val y, Val x) {
  same("atan2", y, x);
  float_only("atan2", y);
  return wrap(home(y).add(Op::kAtan2, y.n->dtype, {y.n, x.n}));
}

namespace {

// x^n for a known n >= 0.
Val power(Val x, int64_t n) {
  Val result, square = x;
  for (; n; n >>= 1) {
    if (n & 1) result = result.n ? result * square : square;
    if (n > 1) square = square * square;
  }
  return result.n ? result : number_like(x, 1);
}

Val integer_power(Val x, Val y) {
  const Val zero = number_like(x, 0), one = number_like(x, 1);
  if (y.n->is_literal() && y.n->bits >= 0) return power(x, y.n->bits);
  Nest& nest = x.nest();
  Var result = nest.var(one), square = nest.var(x), rest = nest.var(y);
  nest.loop_while([&] { return rest > zero; },
                  [&] {
                    result.set(select((rest & one) == one, result * square, result.get()));
                    square.set(square * square);
                    rest.set(rest.get() >> one);
                  });
  if (is_unsigned_int(x.dtype())) return result;
  const Val minus = constant(x, int64_t{-1});
  Val inverse =
      select(x == one, one, select(x == minus, select((y & one) == one, minus, one), zero));
  return select(y < zero, inverse, result.get());
}

}  // namespace

Val pow(Val x, Val y) {
  same("pow", x, y);
  if (x.im) return complex::pow(x, y);
  MYCEL_CHECK(!is_bool(x.dtype()), "pow of bool; cast to a number first");
  if (is_int(x.dtype())) return integer_power(x, y);
  if (is_real_literal(y.n, 2.0)) return x * x;
  if (is_real_literal(y.n, 1.0)) return x;
  return wrap(home(x).add(Op::kPow, x.n->dtype, {x.n, y.n}));
}

Val fma(Val a, Val b, Val c) {
  same("fma", a, b);
  same("fma", b, c);
  float_only("fma", a);
  return wrap(home(a).add(Op::kFma, a.n->dtype, {a.n, b.n, c.n}));
}

Val abs(Val x) {
  if (x.im) return complex::abs(x);
  if (is_unsigned_int(x.dtype()) || is_bool(x.dtype())) return x;
  return wrap(home(x).add(Op::kAbs, x.n->dtype, {x.n}));
}

Val sign(Val x) {
  real_only("sign", x);
  if (is_bool(x.dtype())) return x;
  const Val zero = number_like(x, 0), one = number_like(x, 1);
  if (is_unsigned_int(x.dtype())) return select(x == zero, zero, one);
  if (!is_float(x.dtype())) return select(x > zero, one, select(x < zero, -one, zero));
  // The sign of -0 is 0; that of NaN is x itself.
  return select(x > zero, one, select(x < zero, -one, select(x == zero, zero, x)));
}

Val min(Val a, Val b) {
  real_only("min", a);
  same("min", a, b);
  return wrap(home(a).add(Op::kMin, a.n->dtype, {a.n, b.n}));
}
Val max(Val a, Val b) {
  real_only("max", a);
  same("max", a, b);
  return wrap(home(a).add(Op::kMax, a.n->dtype, {a.n, b.n}));
}

Val isnan(Val x) {
  if (x.im) return isnan(real(x)) | isnan(imag(x));
  if (!is_float(x.dtype())) return constant(x.nest(), DType::kBool, int64_t{0});
  return x != x;
}
Val isinf(Val x) {
  if (x.im) return isinf(real(x)) | isinf(imag(x));
  if (!is_float(x.dtype())) return constant(x.nest(), DType::kBool, int64_t{0});
  return abs(x) == constant(x, HUGE_VAL);
}
Val isfinite(Val x) {
  if (x.im) return isfinite(real(x)) & isfinite(imag(x));
  if (!is_float(x.dtype())) return constant(x.nest(), DType::kBool, int64_t{1});
  return abs(x) < constant(x, HUGE_VAL);
}

Val select(Val condition, Val a, Val b) {
  MYCEL_CHECK(condition.n && condition.dtype() == DType::kBool, "select needs a bool condition");
  same("select", a, b);
  if (a.im) {
    return {select(condition, real(a), real(b)).n, select(condition, imag(a), imag(b)).n};
  }
  if (condition.n->is_literal()) return condition.n->bits ? a : b;
  if (a.n == b.n) return a;
  return wrap(home(a).add(Op::kSelect, a.n->dtype, {condition.n, a.n, b.n}));
}

Val cast(Val x, DType to) {
  if (to == DType::kFloat16 || to == DType::kBFloat16) to = DType::kFloat32;
  if (x.dtype() == to) return x;
  if (is_complex(to)) {
    const DType part = real_part_of(to);
    return {cast(real(x), part).n, x.im ? cast(imag(x), part).n : constant(x.nest(), part, 0.0).n};
  }
  if (x.im && is_bool(to)) return (real(x) != 0) | (imag(x) != 0);
  if (x.im) return cast(real(x), to);
  if (is_bool(to)) return x != number_like(x, 0);
  if (x.n->is_literal()) {
    if (!is_float(x.dtype()) && x.dtype() != DType::kUInt64)
      return constant(x.nest(), to, x.n->bits);
    if (is_float(x.dtype()) && is_float(to)) return constant(x.nest(), to, x.n->real());
  }
  return wrap(home(x).add(Op::kCast, to, {x.n}));
}

Val bitcast(Val x, DType to) {
  real_only("bitcast", x);
  MYCEL_CHECK(!is_complex(to) && to != DType::kFloat16 && to != DType::kBFloat16 && !is_bool(to) &&
                  !is_bool(x.dtype()) && size_of(to) == size_of(x.dtype()),
              "bitcast from {} to {}", name_of(x.dtype()), name_of(to));
  if (x.dtype() == to) return x;
  if (x.n->is_literal() && is_float(x.dtype()) && is_int(to)) {
    const int64_t bits = x.dtype() == DType::kFloat64
                             ? x.n->bits
                             : std::bit_cast<int32_t>(static_cast<float>(x.n->real()));
    return constant(x.nest(), to, bits);
  }
  return wrap(home(x).add(Op::kBitcast, to, {x.n}));
}

Val real(Val x) { return wrap(x.n); }
Val imag(Val x) { return x.im ? wrap(x.im) : number_like(x, 0); }
Val conj(Val x) { return x.im ? Val{x.n, (-imag(x)).n} : x; }
Val make_complex(Val re, Val im) {
  same("make_complex", re, im);
  float_only("make_complex", re);
  return {re.n, im.n};
}

Val mul_hi(Val a, Val b) {
  same("mul_hi", a, b);
  MYCEL_CHECK(a.dtype() == DType::kUInt32, "mul_hi of {}; it needs uint32", name_of(a.dtype()));
  return wrap(home(a).add(Op::kMulHi, DType::kUInt32, {a.n, b.n}));
}

}  // namespace mycel::loops
