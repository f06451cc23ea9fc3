#include "ops/elementwise/formulas.h"

#include <cmath>

namespace mycel::ops::formulas {

Val floor_mod(Val x, Val y) {
  Val r = x % y;
  if (is_unsigned_int(x.dtype())) return r;
  Val zero = constant(x, int64_t{0});
  Val adjust = (r != zero) & ((r < zero) != (y < zero));
  r = select(adjust, r + y, r);
  if (!is_float(x.dtype())) return r;
  // A zero remainder takes the sign of the divisor.
  return select(r == zero, select(y < zero, constant(x, -0.0), zero), r);
}

Val floor_div(Val x, Val y) {
  if (is_unsigned_int(x.dtype())) return x / y;
  Val zero = constant(x, int64_t{0}), one = constant(x, int64_t{1});
  if (!is_float(x.dtype())) {
    Val q = x / y, r = x % y;
    return select((r != zero) & ((r < zero) != (y < zero)), q - one, q);
  }
  // As NumPy: from the exact remainder, so that 1 // 0.1 is 9 although 1 / 0.1 rounds to 10.
  Val r = x % y;
  Val q = (x - r) / y;
  q = select((r != zero) & ((r < zero) != (y < zero)), q - one, q);
  Val whole = floor(q);
  whole = select(q - whole > constant(x, 0.5), whole + one, whole);
  Val plain = x / y;
  // Zero keeps the sign of the quotient.
  whole = select(q == zero, plain * zero, whole);
  // An infinity has no remainder: inf // 2 is inf and 1 // -inf is -0, as their plain quotients.
  return select((y == zero) | isinf(x) | isinf(y), plain, whole);
}

Val sign_bit(Val x) {
  if (!is_float(x.dtype())) return x < 0;
  return bitcast(x, x.dtype() == DType::kFloat64 ? DType::kInt64 : DType::kInt32) < 0;
}

Val with_sign_of(Val size, Val sign) {
  size = abs(size);
  return select(sign_bit(sign), -size, size);
}

Val sigmoid(Val x) {
  Val one = constant(x, int64_t{1});
  if (x.im) return one / (one + exp(-x));
  Val e = exp(-abs(x));
  return select(x < 0, e, one) / (one + e);
}

Val softplus(Val x) { return max(x, 0) + log1p(exp(-abs(x))); }

}  // namespace mycel::ops::formulas
