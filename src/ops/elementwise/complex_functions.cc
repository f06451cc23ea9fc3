#include "ops/elementwise/complex_functions.h"

#include <cmath>

#include "ops/elementwise/formulas.h"

namespace mycel::ops::formulas {
namespace {

using namespace loops;  // NOLINT: the vocabulary of formulas

constexpr double kHalfPi = 1.57079632679489661923;

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

// Of the parts of a number: the infinities, of which only angles are left, and a NaN beside 0.
struct Edges {
  explicit Edges(Val x) : a(real(x)), b(imag(x)), infinite(isinf(a) | isinf(b)) {}
  Val a, b, infinite;
};

Val complex_arc_sine_inside(Val x) {
  Roots r(x);
  return make_complex(atan2(real(x), real(r.minus) * real(r.plus) - imag(r.minus) * imag(r.plus)),
                      asinh(real(r.minus) * imag(r.plus) - imag(r.minus) * real(r.plus)));
}

Val complex_area_sine(Val x) {
  Edges e(x);
  Val y = times_minus_i(complex_arc_sine_inside(times_i(x)));
  Val angle = with_sign_of(atan2(abs(e.b), abs(e.a)), e.b);
  return make_complex(select(e.infinite, with_sign_of(constant(e.a, HUGE_VAL), e.a), real(y)),
                      select(e.infinite, angle, select(e.b == 0, e.b, imag(y))));
}

Val complex_area_tangent(Val x) {
  Edges e(x);
  Val size = abs(e.a), away = 1.0 - size, zero = constant(e.a, 0.0);
  // Of a number to the right: to the left the logarithm would lose digits near -1.
  Val re = with_sign_of(log1p(4.0 * size / (away * away + e.b * e.b)) * 0.25, e.a);
  Val im = atan2(2.0 * e.b, away * (size + 1.0) - e.b * e.b) * 0.5;
  Val quarter = select(isnan(e.b), e.b, with_sign_of(constant(e.a, kHalfPi), e.b));
  return make_complex(select(e.infinite, with_sign_of(zero, e.a), select(e.a == 0, e.a, re)),
                      select(e.infinite, quarter, im));
}

Val complex_sinh(Val x) {
  Val a = real(x), b = imag(x);
  // Where the angle is infinite or NaN, a zero or infinite a stays.
  Val alone = !isfinite(b) & ((a == 0) | isinf(a));
  return make_complex(select(alone, a, sinh(a) * cos(b)), select(b == 0, b, cosh(a) * sin(b)));
}

Val complex_cosh(Val x) {
  Val a = real(x), b = imag(x);
  Val re = select(!isfinite(b) & isinf(a), abs(a), cosh(a) * cos(b));
  Val im = sinh(a) * sin(b);
  // A zero part makes the imaginary part zero, also beside an infinity or NaN.
  Val zero = select(b == 0, select(a < 0, -b, b), a);
  return make_complex(re, select(((a == 0) | (b == 0)) & isnan(im), zero, im));
}

// sinh(2a) + i sin(2b) over cosh(2a) + cos(2b); where cosh would overflow, the sign of a.
Val complex_tanh(Val x) {
  Val a = real(x), b = imag(x), large = abs(a) > 20.0;
  Val safe = select(large, constant(a, 0.0), a), t = tan(b), s = sinh(safe), c = cosh(safe);
  Val norm = 1.0 + (t * t + 1.0) * s * s;
  Val far = 4.0 * sin(b) * cos(b) * exp(-2.0 * abs(a));
  // b - b: NaN where the angle is not finite, unless a is 0 or infinite.
  Val known = (a == 0) | isinf(a);
  Val re = select(large, sign(a), (t * t + 1.0) * s * c / norm);
  re = select(known, select(a == 0, a, sign(a)), re + (b - b));
  Val im = select(isinf(a), with_sign_of(constant(a, 0.0), b), select(large, far, t / norm));
  return make_complex(re, select(b == 0, b, im));
}

}  // namespace

Val sine(Val x) { return x.im ? times_minus_i(complex_sinh(times_i(x))) : sin(x); }
Val cosine(Val x) { return x.im ? complex_cosh(times_i(x)) : cos(x); }
Val tangent(Val x) { return x.im ? times_minus_i(complex_tanh(times_i(x))) : tan(x); }
Val hyperbolic_sine(Val x) { return x.im ? complex_sinh(x) : sinh(x); }
Val hyperbolic_cosine(Val x) { return x.im ? complex_cosh(x) : cosh(x); }
Val hyperbolic_tangent(Val x) { return x.im ? complex_tanh(x) : tanh(x); }

Val arc_sine(Val x) { return x.im ? times_minus_i(complex_area_sine(times_i(x))) : asin(x); }
Val arc_tangent(Val x) { return x.im ? times_minus_i(complex_area_tangent(times_i(x))) : atan(x); }
Val area_sine(Val x) { return x.im ? complex_area_sine(x) : asinh(x); }
Val area_tangent(Val x) { return x.im ? complex_area_tangent(x) : atanh(x); }

Val arc_cosine(Val x) {
  if (!x.im) return acos(x);
  Edges e(x);
  Roots r(x);
  Val re = atan2(real(r.minus), real(r.plus)) * 2.0;
  Val im = asinh(real(r.plus) * imag(r.minus) - imag(r.plus) * real(r.minus));
  Val upright = (e.a == 0) & isnan(e.b);
  return make_complex(
      select(e.infinite, atan2(abs(e.b), e.a), select(upright, constant(e.a, kHalfPi), re)),
      select(e.infinite, -with_sign_of(constant(e.a, HUGE_VAL), e.b), im));
}

Val area_cosine(Val x) {
  if (!x.im) return acosh(x);
  Edges e(x);
  Val minus = sqrt(make_complex(e.a - 1.0, e.b)), plus = sqrt(make_complex(e.a + 1.0, e.b));
  Val re = asinh(real(minus) * real(plus) + imag(minus) * imag(plus));
  Val im = atan2(imag(minus), real(plus)) * 2.0;
  Val upright = (e.a == 0) & isnan(e.b);
  return make_complex(
      select(e.infinite, constant(e.a, HUGE_VAL), re),
      select(e.infinite, atan2(e.b, e.a), select(upright, constant(e.a, kHalfPi), im)));
}

// e^a cos(b) - 1 as expm1(a) cos(b) - 2 sin(b / 2)^2: exact near 0.
Val exponential_minus_one(Val x) {
  if (!x.im) return expm1(x);
  Val a = real(x), b = imag(x), half = sin(b * 0.5), power = exp(x);
  Val re = select(b == 0, expm1(a), expm1(a) * cos(b) - 2.0 * half * half);
  Val edge = isinf(a) & !isfinite(b);
  return make_complex(select(edge, real(power) - 1.0, select(re == 0, constant(a, 0.0), re)),
                      imag(power));
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
