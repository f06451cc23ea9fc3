#include "ops/elementwise/gamma.h"

#include <cmath>
#include <functional>

#include "loops/nest.h"

namespace mycel::ops::gamma {

using loops::Nest;
using loops::Var;

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kEpsilon = 1e-16;
constexpr double kTiny = 1e-300;
constexpr int64_t kMaxSteps = 100000;  // enough for arguments up to about 1e7

Val num(Val like, double v) { return constant(like, v); }
Val wide(Val x) { return cast(x, DType::kFloat64); }

// Runs step() while `active` holds and the step says that it has not converged.
void iterate(Nest& nest, Val active, const std::function<Val(Val n)>& step) {
  Var going = nest.var(active);
  Var n = nest.var(nest.literal(DType::kInt64, int64_t{1}));
  nest.loop_while([&] { return going.get() & (n.get() < kMaxSteps); },
                  [&] {
                    going.set(step(cast(n.get(), DType::kFloat64)));
                    n.set(n.get() + 1);
                  });
}

Val nonzero(Val v) { return select(abs(v) < kTiny, num(v, kTiny), v); }

// log(x^a e^-x / gamma(a)).
Val log_front(Val a, Val x) { return a * log(x) - x - lgamma(a); }

// Sum of x^n / (a (a+1) … (a+n)) and its derivative by a, where `active`.
struct WithSlope {
  Val value, slope;
};
WithSlope gamma_series(Val a, Val x, Val active) {
  Nest& nest = a.nest();
  Val first = 1 / a;
  Var term = nest.var(first), dterm = nest.var(-(first * first));
  Var sum = nest.var(first), dsum = nest.var(-(first * first));
  iterate(nest, active, [&](Val n) {
    Val ratio = x / (a + n);
    Val dnext = (dterm.get() - term.get() / (a + n)) * ratio;
    term.set(term.get() * ratio);
    dterm.set(dnext);
    sum.set(sum.get() + term.get());
    dsum.set(dsum.get() + dterm.get());
    return (abs(term.get()) > abs(sum.get()) * kEpsilon) |
           (abs(dterm.get()) > abs(dsum.get()) * kEpsilon);
  });
  return {sum.get(), dsum.get()};
}

// The continued fraction of Q (Lentz's method), with its derivative by a, where `active`.
WithSlope gamma_fraction(Val a, Val x, Val active) {
  Nest& nest = a.nest();
  Val b0 = x + 1 - a;
  Val start = 1 / nonzero(b0);
  Var b = nest.var(b0), c = nest.var(num(a, 1 / kTiny)), d = nest.var(start), h = nest.var(start);
  Var dc = nest.var(num(a, 0)), dd = nest.var(start * start), dh = nest.var(start * start);
  iterate(nest, active, [&](Val n) {
    Val an = n * (a - n);  // its derivative by a is n, that of b is -1
    b.set(b.get() + 2);
    Val below = nonzero(an * d.get() + b.get());
    Val dbelow = n * d.get() + an * dd.get() - 1;
    Val cnew = nonzero(b.get() + an / c.get());
    Val dcnew = (n - an / c.get() * dc.get()) / c.get() - 1;
    Val dnew = 1 / below;
    Val ddnew = -(dbelow * dnew * dnew);
    Val factor = cnew * dnew, dfactor = dcnew * dnew + cnew * ddnew;
    dh.set(dh.get() * factor + h.get() * dfactor);
    h.set(h.get() * factor);
    c.set(cnew);
    dc.set(dcnew);
    d.set(dnew);
    dd.set(ddnew);
    return (abs(factor - 1) > kEpsilon * 2) |
           (abs(h.get() * dfactor) > abs(dh.get()) * (kEpsilon * 4));
  });
  return {h.get(), dh.get()};
}

enum class Part { kLower, kUpper, kSlope };

// One of P, Q, dP/da: by the series left of x = a + 1, by the fraction right of it.
Val incomplete(Val a_operand, Val x_operand, Part part) {
  Val a = wide(a_operand), x = wide(x_operand);
  Val inner = (a > 0) & (x > 0) & !isinf(x) & !isinf(a);
  Val sa = select(inner, a, num(a, 1)), sx = select(inner, x, num(x, 1));
  Val left = sx < sa + 1;
  Val front = exp(log_front(sa, sx));
  WithSlope series = gamma_series(sa, sx, inner & left),
            fraction = gamma_fraction(sa, sx, inner & !left);
  Val p = front * series.value, q = front * fraction.value;
  Val value;
  if (part == Part::kSlope) {
    Val dlog = log(sx) - digamma(sa);
    value = select(left, p * dlog + front * series.slope, -(q * dlog + front * fraction.slope));
  } else {
    Val lower = select(left, p, 1 - q), upper = select(left, 1 - p, q);
    value = part == Part::kLower ? lower : upper;
  }
  // The borders: x = 0 gives P = 0, x = inf or a = 0 give P = 1; anything else is not defined.
  double at_zero = part == Part::kUpper ? 1 : 0, at_end = part == Part::kLower ? 1 : 0;
  Val border = select(
      (x == 0) & (a > 0), num(x, at_zero),
      select((isinf(x) & (x > 0) & (a >= 0)) | ((a == 0) & (x > 0)), num(x, at_end), num(x, NAN)));
  return select(inner, value, border);
}

}  // namespace

Val digamma(Val operand) {
  Val x = wide(operand);
  Val negative = x <= 0;
  Val y = select(negative, 1 - x, x);
  Val shift = num(x, 0);
  for (int k = 0; k < 10; ++k) {
    Val low = y < 10;
    shift = select(low, shift - 1 / y, shift);
    y = select(low, y + 1, y);
  }
  Val r = 1 / (y * y);
  // B(2n) / (2n) of the asymptotic series.
  constexpr double kTerms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                               1.0 / 132, -691.0 / 32760, 1.0 / 12};
  Val tail = num(x, 0);
  for (int k = 6; k >= 0; --k) tail = (tail + num(x, kTerms[k])) * r;
  Val value = log(y) - 0.5 / y - tail + shift;
  // Reflection: psi(x) = psi(1 - x) - pi / tan(pi x), the tangent of the distance to a whole
  // number.
  Val from_whole = x - rint(x);
  Val reflected =
      value - num(x, kPi) / tan(num(x, kPi) * select(from_whole == 0, num(x, 0.25), from_whole));
  reflected = select(from_whole == 0, num(x, NAN), reflected);
  return select(x == 0, num(x, -HUGE_VAL), select(negative, reflected, value));
}

Val zeta(Val s_operand, Val q_operand) {
  Val s = wide(s_operand), q = wide(q_operand);
  Nest& nest = s.nest();
  // Terms up to q + k >= 10, then Euler and Maclaurin's formula for the rest.
  Var at = nest.var(q), sum = nest.var(num(s, 0));
  Val usable = (s > 1) & isfinite(q) & !((q <= 0) & (q == floor(q))) & !((q < 0) & (s != floor(s)));
  iterate(nest, usable & (q < 10), [&](Val) {
    sum.set(sum.get() + pow(at.get(), -s));
    at.set(at.get() + 1);
    return at.get() < 10;
  });
  Val w = select(usable, at.get(), num(s, 10));
  // B(2j) / (2j)!
  constexpr double kTerms[] = {1.0 / 12,           -1.0 / 720,
                               1.0 / 30240,        -1.0 / 1209600,
                               1.0 / 47900160,     -691.0 / 1307674368000,
                               1.0 / 74724249600., -3617.0 / 10670622842880000.};
  Val power = pow(w, -s);
  Val rest = w * power / (s - 1) + 0.5 * power;
  Val factor = s * power / w;
  for (int j = 0; j < 8; ++j) {
    rest = rest + num(s, kTerms[j]) * factor;
    factor = factor * (s + (2 * j + 1)) * (s + (2 * j + 2)) / (w * w);
  }
  Val pole = (q <= 0) & (q == floor(q));
  Val other =
      select(s == 1, num(s, HUGE_VAL), select((s > 1) & pole, num(s, HUGE_VAL), num(s, NAN)));
  other = select((s > 1) & (q == num(q, HUGE_VAL)), num(s, 0), other);
  return select(usable, sum.get() + rest, other);
}

Val polygamma(Val n_operand, Val x) {
  Val n = wide(n_operand);
  // (-1)^(n+1) n! zeta(n + 1, x)
  Val order = select(n > 0, n, num(n, 1));
  Val size = exp(lgamma(order + 1)) * zeta(order + 1, x);
  Val odd = (cast(order, DType::kInt64) & int64_t{1}) == 1;
  Val value = select(odd, size, -size);
  Val valid = (n >= 0) & (n == floor(n));
  return select(n == 0, digamma(x), select(valid, value, num(n, NAN)));
}

Val lower(Val a, Val x) { return incomplete(a, x, Part::kLower); }
Val upper(Val a, Val x) { return incomplete(a, x, Part::kUpper); }
Val lower_slope(Val a, Val x) { return incomplete(a, x, Part::kSlope); }

Val beta(Val a_operand, Val b_operand, Val x_operand) {
  Val a = wide(a_operand), b = wide(b_operand), x = wide(x_operand);
  Nest& nest = a.nest();
  Val inner = (a > 0) & (b > 0) & (x > 0) & (x < 1);
  Val one = num(a, 1), half = num(a, 0.5);
  Val sa = select(inner, a, one), sb = select(inner, b, one), sx = select(inner, x, half);
  // The fraction converges quickly left of the mean; right of it the other tail is computed.
  Val mirrored = sx > (sa + 1) / (sa + sb + 2);
  Val p = select(mirrored, sb, sa), q = select(mirrored, sa, sb), z = select(mirrored, 1 - sx, sx);
  Val front = exp(lgamma(p + q) - lgamma(p) - lgamma(q) + p * log(z) + q * log1p(-z)) / p;
  Val start = 1 / nonzero(1 - (p + q) * z / (p + 1));
  Var c = nest.var(one), d = nest.var(start), h = nest.var(start);
  auto fold = [&](Val term) {
    d.set(1 / nonzero(1 + term * d.get()));
    c.set(nonzero(1 + term / c.get()));
    Val factor = d.get() * c.get();
    h.set(h.get() * factor);
    return abs(factor - 1) > kEpsilon * 2;
  };
  iterate(nest, inner, [&](Val m) {
    Val even = p + 2 * m;
    fold(m * (q - m) * z / ((even - 1) * even));
    return fold(-((p + m) * (p + q + m) * z) / (even * (even + 1)));
  });
  Val part = front * h.get();
  Val value = select(mirrored, 1 - part, part);
  Val valid = (a > 0) & (b > 0);
  Val border = select(valid & (x == 0), num(x, 0), select(valid & (x == 1), one, num(x, NAN)));
  return select(inner, value, border);
}

Val erfinv(Val operand) {
  Val x = wide(operand), size = abs(x);
  Val inner = size < 1;
  Val t = select(inner, size, num(x, 0.5));
  // Winitzki's approximation (relative error 2e-3), then Halley steps on erfc, which keeps the tail
  // exact.
  constexpr double kShape = 0.147;
  Val l = log1p(-(t * t));
  Val m = l * 0.5 + 2 / (kPi * kShape);
  Val y = sqrt(select(t == 0, num(x, 0), sqrt(m * m - l * (1 / kShape)) - m));
  for (int k = 0; k < 3; ++k) {
    Val slope = num(x, 2 / std::sqrt(kPi)) * exp(-(y * y));
    // erf(y) - t, small t directly, large t through the tails.
    Val gap = select(t < 0.5, erf(y) - t, (1 - t) - erfc(y));
    Val newton = gap / slope;
    y = y - newton / (1 + y * newton);
  }
  Val end = select(size == 1, num(x, HUGE_VAL), num(x, NAN));
  Val value = select(inner, y, end);
  return select(x < 0, -value, value);
}

}  // namespace mycel::ops::gamma
