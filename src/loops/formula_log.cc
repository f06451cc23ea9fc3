// log and its kin: x = 2^k m with m in [sqrt(1/2), sqrt(2)), a polynomial for log(m). Results near
// x = 1 keep full relative accuracy because k is 0 there.
#include <cmath>

#include "loops/formula_parts.h"

namespace mycel::loops::formula {
namespace {

// (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2
constexpr double kLog64[] = {0x1.5555555555593p-1, 0x1.999999997fb35p-2, 0x1.24924942177b2p-2,
                             0x1.c71c51e80c67ep-3, 0x1.7466462a115aap-3, 0x1.39a0f517122bdp-3,
                             0x1.2f0d8f548906fp-3};
// (log(1 + f) - f + f^2 / 2) / f^3
constexpr double kLog32[] = {0.3333331672, -0.2500081031, 0.2000228657, -0.1662455613,
                             0.1418118757, -0.1312873883, 0.1288166973, -0.07859664946};
constexpr double kLn2High64 = 0x1.62e42fee00000p-1, kLn2Low64 = 0x1.a39ef35793c76p-33;
constexpr double kLn2High32 = 0x1.63p-1, kLn2Low32 = -0x1.bd0106p-13;

struct Split {
  Val k;    // power of two, as a float
  Val f;    // m - 1, exact
  Val low;  // log(1 + f) = f + low
};

Split split(const Real& real, Val x) {
  const double tiny = real.pick(0x1p-1022, 0x1p-126), lift = real.pick(0x1p54, 0x1p25);
  const Val denormal = x < tiny;
  const Val bits = bitcast(select(denormal, x * lift, x), real.signed_word());
  const Val root_half =
      constant(bits, real.wide ? int64_t{0x3fe6a09e667f3bcd} : int64_t{0x3f3504f3});
  const Val power = (bits - root_half) >> real.mantissa();
  const Val m = bitcast(bits - (power << real.mantissa()), real.type());
  Val k = cast(cast(power, DType::kInt32), real.type());
  k = select(denormal, k - real.pick(54, 25), k);
  const Val f = m - 1;
  if (!real.wide) return {k, f, mad(f * f * f, polynomial(f, kLog32), f * f * -0.5)};
  const Val s = f / (f + 2), z = s * s, half = f * f * 0.5;
  return {k, f, mad(s, mad(z, polynomial(z, kLog64), half), -half)};
}

// log outside the positive finite numbers.
Val special(Val x, Val result) {
  const Val infinity = number_like(x, HUGE_VAL);
  result = select(x == infinity, x, result);
  result = select(x == 0, -infinity, result);
  return select((x < 0) | isnan(x), NAN, result);
}

Val finite_log(const Real& real, Val x) {
  const Split p = split(real, x);
  const Val low = mad(p.k, real.pick(kLn2Low64, kLn2Low32), p.low);
  return mad(p.k, real.pick(kLn2High64, kLn2High32), low + p.f);
}

// log in base b: k * log_b(2) + log_b(e) * (f + low), with log_b(e) in two parts.
Val based(Val x, double two_high, double two_low, double e_high, double e_low) {
  const Real real(x);
  const Split p = split(real, x);
  const Val low = mad(p.f, e_low, mad(p.low, e_high, p.k * two_low));
  return special(x, mad(p.k, two_high, mad(p.f, e_high, low)));
}

}  // namespace

Val log(Val x) { return special(x, finite_log(Real(x), x)); }

Val log2(Val x) {
  if (Real(x).wide) return based(x, 1, 0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
  return based(x, 1, 0, 0x1.715476p+0, 0x1.4ae0cp-26);
}

Val log10(Val x) {
  if (Real(x).wide) {
    return based(x, 0x1.34413508p-2, 0x1.f79fef311f12bp-34, 0x1.bcb7b1526e50ep-2,
                 0x1.95355baaafad3p-57);
  }
  return based(x, 0x1.344p-2, 0x1.3509f8p-18, 0x1.bcb7b2p-2, -0x1.5b235ep-27);
}

// log(1 + x) = log(u) + (x - (u - 1)) / u with u = 1 + x rounded.
Val log1p(Val x) {
  const Real real(x);
  const Val u = x + 1;
  const Val lost = select(u == HUGE_VAL, number_like(x, 0), (x - (u - 1)) / u);
  const Val result = special(u, finite_log(real, u) + lost);
  return select(x == 0, x, result);
}

Val asinh(Val x) {
  const Real real(x);
  const Val a = abs(x);
  const double large = real.pick(0x1p28, 0x1p13);
  const Val inside = select(a > large, number_like(x, 1), a), square = inside * inside;
  const Val small = inside + square / (sqrt(square + 1) + 1);
  // One logarithm serves both: log(2 a) for a large a, log1p otherwise.
  const Val far = formula::log(a) + std::log(2.0);
  return copy_sign(select(a > large, far, formula::log1p(small)), x);
}

Val acosh(Val x) {
  const Real real(x);
  const double large = real.pick(0x1p28, 0x1p13);
  const Val t = x - 1;
  const Val near = formula::log1p(t + sqrt(t * 2 + t * t));
  return select(x < 1, NAN, select(x > large, formula::log(x) + std::log(2.0), near));
}

Val atanh(Val x) {
  const Val a = abs(x);
  return copy_sign(formula::log1p(a * 2 / (number_like(x, 1) - a)) * 0.5, x);
}

}  // namespace mycel::loops::formula
