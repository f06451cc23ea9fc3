// Val: a typed scalar expression inside a Nest. A scalar formula is an ordinary C++ lambda over
// Vals
// (`[](auto x) { return log1p(x); }`); loop nests compute their indices with the same type. The
// expression is later interpreted (the reference), compiled through LLVM, or printed as C99.
//
// Operands of one operator have one dtype; plain C++ numbers adapt to the Val beside them. float16
// and bfloat16 exist only in memory: a load gives float32 and a store rounds. A complex Val is a
// pair of real ones (`n`, `im`), split here so that no emitter ever sees complex numbers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"

namespace mycel::loops {

class Nest;
struct Expr;  // loops/expr.h: the node, owned by its Nest

struct Val {
  Expr* n = nullptr;
  Expr* im = nullptr;  // imaginary part, complex only

  DType dtype() const;  // kComplex64/128 when im is set
  Nest& nest() const;
};

// A constant of `like`'s dtype in `like`'s nest.
Val constant(const Val& like, double value);
Val constant(const Val& like, int64_t value);
Val constant(Nest& nest, DType dtype, double value);
Val constant(Nest& nest, DType dtype, int64_t value);

// -- operators
// -------------------------------------------------------------------------------------
Val operator+(Val a, Val b);
Val operator-(Val a, Val b);
Val operator*(Val a, Val b);
Val operator/(Val a, Val b);  // floats: IEEE; integers: C truncation, x/0 = 0 (never traps)
Val operator%(Val a, Val b);  // as C's fmod / %, x%0 = 0 for integers
Val operator-(Val a);
Val operator&(Val a, Val b);  // integers and bool
Val operator|(Val a, Val b);
Val operator^(Val a, Val b);
Val operator~(Val a);          // bool: logical not
Val operator<<(Val a, Val b);  // shifts beyond the width give 0 (or the sign)
Val operator>>(Val a, Val b);
Val operator<(Val a, Val b);  // comparisons give bool
Val operator<=(Val a, Val b);
Val operator>(Val a, Val b);
Val operator>=(Val a, Val b);
Val operator==(Val a, Val b);
Val operator!=(Val a, Val b);
Val operator!(Val a);
Val operator&&(Val a, Val b);  // both sides are evaluated
Val operator||(Val a, Val b);

#define MYCEL_VAL_NUMBER(op)         \
  template <typename T>              \
    requires std::is_arithmetic_v<T> \
  Val operator op(Val a, T b);       \
  template <typename T>              \
    requires std::is_arithmetic_v<T> \
  Val operator op(T a, Val b);
MYCEL_VAL_NUMBER(+)
MYCEL_VAL_NUMBER(-)
MYCEL_VAL_NUMBER(*)
MYCEL_VAL_NUMBER(/)
MYCEL_VAL_NUMBER(%)
MYCEL_VAL_NUMBER(&)
MYCEL_VAL_NUMBER(|)
MYCEL_VAL_NUMBER(^)
MYCEL_VAL_NUMBER(<<)
MYCEL_VAL_NUMBER(>>)
MYCEL_VAL_NUMBER(<)
MYCEL_VAL_NUMBER(<=)
MYCEL_VAL_NUMBER(>)
MYCEL_VAL_NUMBER(>=)
MYCEL_VAL_NUMBER(==)
MYCEL_VAL_NUMBER(!=)
#undef MYCEL_VAL_NUMBER

// -- functions
// ------------------------------------------------------------------------------------- Float (some
// also complex, where the comment says so); each accurate to a few ulp in float32 and float64.
Val exp(Val x);  // also complex
Val exp2(Val x);
Val expm1(Val x);
Val log(Val x);  // also complex
Val log2(Val x);
Val log10(Val x);
Val log1p(Val x);
Val sqrt(Val x);  // also complex
Val rsqrt(Val x);
Val sin(Val x);
Val cos(Val x);
Val tan(Val x);
Val asin(Val x);
Val acos(Val x);
Val atan(Val x);
Val atan2(Val y, Val x);
Val sinh(Val x);
Val cosh(Val x);
Val tanh(Val x);
Val asinh(Val x);
Val acosh(Val x);
Val atanh(Val x);
Val erf(Val x);
Val erfc(Val x);
Val lgamma(Val x);
Val pow(Val x,
        Val y);  // floats; integers by squaring, negative exponent of an integer gives 0 (or ±1)
Val fma(Val a, Val b, Val c);
Val floor(Val x);
Val ceil(Val x);
Val trunc(Val x);
Val rint(Val x);        // to nearest even
Val abs(Val x);         // numbers; of a complex: its modulus
Val sign(Val x);        // -1, 0, 1; NaN stays NaN
Val min(Val a, Val b);  // NaN wins, as NumPy's minimum
Val max(Val a, Val b);
Val isnan(Val x);
Val isinf(Val x);
Val isfinite(Val x);
Val select(Val condition, Val a, Val b);
Val cast(
    Val x,
    DType to);  // C conversion; float to integer truncates, NaN to 0, saturating; to bool: x != 0
Val bitcast(Val x, DType to);  // same size
// Complex.
Val real(Val x);
Val imag(Val x);
Val conj(Val x);
Val make_complex(Val re, Val im);
// The high 32 bits of a product of two uint32 (counter-based random numbers).
Val mul_hi(Val a, Val b);

// select/min/max with a plain number on either side.
template <typename T>
  requires std::is_arithmetic_v<T>
Val select(Val c, Val a, T b);
template <typename T>
  requires std::is_arithmetic_v<T>
Val select(Val c, T a, Val b);
template <typename T>
  requires std::is_arithmetic_v<T>
Val min(Val a, T b);
template <typename T>
  requires std::is_arithmetic_v<T>
Val max(Val a, T b);

// -- definitions of the templates
// ------------------------------------------------------------------
template <typename T>
Val number_like(const Val& like, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return constant(like, static_cast<double>(value));
  } else {
    return constant(like, static_cast<int64_t>(value));
  }
}
#define MYCEL_VAL_NUMBER(op)         \
  template <typename T>              \
    requires std::is_arithmetic_v<T> \
  Val operator op(Val a, T b) {      \
    return a op number_like(a, b);   \
  }                                  \
  template <typename T>              \
    requires std::is_arithmetic_v<T> \
  Val operator op(T a, Val b) {      \
    return number_like(b, a) op b;   \
  }
MYCEL_VAL_NUMBER(+)
MYCEL_VAL_NUMBER(-)
MYCEL_VAL_NUMBER(*)
MYCEL_VAL_NUMBER(/)
MYCEL_VAL_NUMBER(%)
MYCEL_VAL_NUMBER(&)
MYCEL_VAL_NUMBER(|)
MYCEL_VAL_NUMBER(^)
MYCEL_VAL_NUMBER(<<)
MYCEL_VAL_NUMBER(>>)
MYCEL_VAL_NUMBER(<)
MYCEL_VAL_NUMBER(<=)
MYCEL_VAL_NUMBER(>)
MYCEL_VAL_NUMBER(>=)
MYCEL_VAL_NUMBER(==)
MYCEL_VAL_NUMBER(!=)
#undef MYCEL_VAL_NUMBER
template <typename T>
  requires std::is_arithmetic_v<T>
Val select(Val c, Val a, T b) {
  return select(c, a, number_like(a, b));
}
template <typename T>
  requires std::is_arithmetic_v<T>
Val select(Val c, T a, Val b) {
  return select(c, number_like(b, a), b);
}
template <typename T>
  requires std::is_arithmetic_v<T>
Val min(Val a, T b) {
  return min(a, number_like(a, b));
}
template <typename T>
  requires std::is_arithmetic_v<T>
Val max(Val a, T b) {
  return max(a, number_like(a, b));
}

}  // namespace mycel::loops
