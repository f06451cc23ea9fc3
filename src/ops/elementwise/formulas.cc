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
  return select(y == zero, plain, whole);
}

Val sigmoid(Val x) {
  Val one = constant(x, int64_t{1});
  if (x.im) return one / (one + exp(-x));
  Val e = exp(-abs(x));
  return select(x < 0, e, one) / (one + e);
}

Val softplus(Val x) { return max(x, 0) + log1p(exp(-abs(x))); }

}  // namespace mycel::ops::formulas
