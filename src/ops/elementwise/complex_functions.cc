#include "ops/elementwise/complex_functions.h"

#include <cmath>

namespace mycel::ops::formulas {
namespace {

using namespace loops;  // NOLINT: the vocabulary of formulas

Val times_i(Val x) { return make_complex(-imag(x), real(x)); }
Val times_minus_i(Val x) { return make_complex(imag(x), -real(x)); }
Val scaled(Val x, double factor) { return make_complex(real(x) * factor, imag(x) * factor); }

// Roots of 1 - x and 1 + x, of which the inverse functions are made: no square overflows.
struct Roots {
  explicit Roots(Val x)
      : minus(sqrt(make_complex(1.0 - real(x), -imag(x)))),
        plus(sqrt(make_complex(real(x) + 1.0, imag(x)))) {}
  Val minus, plus;
};

Val complex_arc_sine(Val x) {
  Roots r(x);
  return make_complex(atan2(real(x), real(r.minus) * real(r.plus) - imag(r.minus) * imag(r.plus)),
                      asinh(real(r.minus) * imag(r.plus) - imag(r.minus) * real(r.plus)));
}

Val complex_area_tangent(Val x) {
  Val a = real(x), b = imag(x), size = abs(a), away = 1.0 - size;
  // Of a number to the right: to the left the logarithm would lose digits near -1.
  Val re = log1p(4.0 * size / (away * away + b * b)) * 0.25;
  return make_complex(select(a < 0, -re, re), atan2(2.0 * b, away * (size + 1.0) - b * b) * 0.5);
}

}  // namespace

// sin(2a) + i sinh(2b) over cos(2a) + cosh(2b); where cosh would overflow, i times the sign of b.
Val tangent(Val x) {
  if (!x.im) return tan(x);
  Val a = real(x), b = imag(x), large = abs(b) > 20.0;
  Val safe = select(large, b * 0.0, b), t = tan(a), s = sinh(safe), c = cosh(safe);
  Val norm = 1.0 + (t * t + 1.0) * s * s;
  Val far = 4.0 * sin(a) * cos(a) * exp(-2.0 * abs(b));
  return make_complex(select(large, far, t / norm),
                      select(large, sign(b), (t * t + 1.0) * s * c / norm));
}

Val arc_sine(Val x) { return x.im ? complex_arc_sine(x) : asin(x); }

Val arc_cosine(Val x) {
  if (!x.im) return acos(x);
  Roots r(x);
  return make_complex(atan2(real(r.minus), real(r.plus)) * 2.0,
                      asinh(real(r.plus) * imag(r.minus) - imag(r.plus) * real(r.minus)));
}

Val arc_tangent(Val x) { return x.im ? times_minus_i(complex_area_tangent(times_i(x))) : atan(x); }

Val area_sine(Val x) { return x.im ? times_minus_i(complex_arc_sine(times_i(x))) : asinh(x); }

Val area_cosine(Val x) {
  if (!x.im) return acosh(x);
  Val minus = sqrt(make_complex(real(x) - 1.0, imag(x))),
      plus = sqrt(make_complex(real(x) + 1.0, imag(x)));
  return make_complex(asinh(real(minus) * real(plus) + imag(minus) * imag(plus)),
                      atan2(imag(minus), real(plus)) * 2.0);
}

Val area_tangent(Val x) { return x.im ? complex_area_tangent(x) : atanh(x); }

// e^a cos(b) - 1 as expm1(a) cos(b) - 2 sin(b / 2)^2: exact near 0.
Val exponential_minus_one(Val x) {
  if (!x.im) return expm1(x);
  Val a = real(x), b = imag(x), half = sin(b * 0.5), e = exp(a);
  Val re = select(b == 0, expm1(a), expm1(a) * cos(b) - 2.0 * half * half);
  return make_complex(select(a == -HUGE_VAL, a * 0.0 - 1.0, re), imag(exp(x)) + e * 0.0);
}

Val logarithm_of_one_plus(Val x) {
  if (!x.im) return log1p(x);
  Val a = real(x), b = imag(x), sum = make_complex(a + 1.0, b);
  Val near = abs(a) < 0.5 && abs(b) < 0.5;
  Val close = log1p(select(near, a * (a + 2.0) + b * b, a * 0.0)) * 0.5;
  return make_complex(select(near, close, real(log(sum))), atan2(b, a + 1.0));
}

Val binary_logarithm(Val x) { return x.im ? scaled(log(x), 1 / std::log(2.0)) : log2(x); }
Val decimal_logarithm(Val x) { return x.im ? scaled(log(x), 1 / std::log(10.0)) : log10(x); }

Val round_to_even(Val x) { return x.im ? make_complex(rint(real(x)), rint(imag(x))) : rint(x); }

}  // namespace mycel::ops::formulas
