#include "ops/elementwise/bessel.h"

#include <cmath>
#include <span>

#include "ops/elementwise/bessel_tables.h"

namespace mycel::ops::bessel {
namespace {

constexpr double kPi = 3.14159265358979323846;

Val num(Val like, double v) { return constant(like, v); }
Val wide(Val x) { return cast(x, DType::kFloat64); }

// Sum of c[k] T_k(t), t = 2 (z - low) / (high - low) - 1, by Clenshaw's recurrence.
Val series(std::span<const double> c, Val z, double low, double high) {
  Val t = (z - low) * (2 / (high - low)) - 1;
  Val twice = t + t;
  Val b1 = num(z, 0), b2 = num(z, 0);
  for (size_t k = c.size() - 1; k > 0; --k) {
    Val b0 = twice * b1 - b2 + num(z, c[k]);
    b2 = b1;
    b1 = b0;
  }
  return t * b1 - b2 + num(z, c[0]);
}

// A divisor that is harmless where the quotient is not used.
Val guarded(Val condition, Val x, double instead) { return select(condition, x, num(x, instead)); }

struct Oscillation {
  Val p, q, scale, shift;  // sqrt(2 / (pi x)) (p cos(shift) -+ q sin(shift))
};
Oscillation oscillation(Val x, std::span<const double> p, std::span<const double> q, int order) {
  Val u = 8 / x;
  Val z = u * u;
  return {series(p, z, 0, 1), u * series(q, z, 0, 1), sqrt(num(x, 2 / kPi) / x),
          x - (2 * order + 1) * kPi / 4};
}
Val as_cosine(const Oscillation& o) { return o.scale * (o.p * cos(o.shift) - o.q * sin(o.shift)); }
Val as_sine(const Oscillation& o) { return o.scale * (o.p * sin(o.shift) + o.q * cos(o.shift)); }

// What lies outside of the domain of the second kinds: `at_zero` at 0, NaN below.
Val second_kind(Val x, Val value, double at_zero) {
  return select(x > 0, value, select(x == 0, num(x, at_zero), num(x, NAN)));
}

Val small_j(Val x, std::span<const double> c) { return series(c, min(x * x, 64), 0, 64); }

}  // namespace

Val j0(Val operand) {
  Val x = abs(wide(operand));
  Val far = x > 8;
  Val at = select(far, x, num(x, 8));
  Val value = select(far, as_cosine(oscillation(at, kP0, kQ0, 0)), small_j(x, kJ0Small));
  return select(isinf(x), num(x, 0), select(isnan(x), x, value));
}

Val j1(Val operand) {
  Val signed_x = wide(operand), x = abs(signed_x);
  Val far = x > 8;
  Val at = select(far, x, num(x, 8));
  Val value = select(far, as_cosine(oscillation(at, kP1, kQ1, 1)), x * small_j(x, kJ1Small));
  value = select(isinf(x), num(x, 0), select(isnan(x), x, value));
  return select(signed_x < 0, -value, value);
}

Val y0(Val operand) {
  Val x = wide(operand);
  Val far = x > 8;
  Val at = select(far, x, num(x, 8)), near = guarded((x > 0) & !far, x, 1);
  Val small = small_j(near, kY0Small) + num(x, 2 / kPi) * log(near) * small_j(near, kJ0Small);
  Val value = select(far, as_sine(oscillation(at, kP0, kQ0, 0)), small);
  return second_kind(x, select(isinf(x), num(x, 0), value), -HUGE_VAL);
}

Val y1(Val operand) {
  Val x = wide(operand);
  Val far = x > 8;
  Val at = select(far, x, num(x, 8)), near = guarded((x > 0) & !far, x, 1);
  Val small = near * small_j(near, kY1Small) +
              num(x, 2 / kPi) * (log(near) * near * small_j(near, kJ1Small) - 1 / near);
  Val value = select(far, as_sine(oscillation(at, kP1, kQ1, 1)), small);
  return second_kind(x, select(isinf(x), num(x, 0), value), -HUGE_VAL);
}

Val i0e(Val operand) {
  Val x = abs(wide(operand));
  Val far = x > 8;
  Val at = guarded(far, x, 8);
  Val large = series(kI0eLarge, 8 / at, 0, 1) / sqrt(at);
  return select(isnan(x), x, select(far, large, series(kI0eSmall, min(x, 8), 0, 8)));
}

Val i1e(Val operand) {
  Val signed_x = wide(operand), x = abs(signed_x);
  Val far = x > 8;
  Val at = guarded(far, x, 8);
  Val large = series(kI1eLarge, 8 / at, 0, 1) / sqrt(at);
  Val value = select(isnan(x), x, select(far, large, x * series(kI1eSmall, min(x, 8), 0, 8)));
  return select(signed_x < 0, -value, value);
}

Val i0(Val x) { return select(isinf(wide(x)), num(wide(x), HUGE_VAL), exp(abs(wide(x))) * i0e(x)); }
Val i1(Val x) { return select(isinf(wide(x)), wide(x), exp(abs(wide(x))) * i1e(x)); }

namespace {

// e^x K(x); near 0 from `small`, a value of K itself.
Val scaled_k(Val x, Val far, Val small, std::span<const double> large) {
  Val at = guarded(far, x, 2);
  Val value = select(far, series(large, 2 / at, 0, 1) / sqrt(at), exp(min(x, 2)) * small);
  return select(isinf(x), num(x, 0), value);
}
// K(x), from either piece.
Val plain_k(Val x, Val far, Val small, std::span<const double> large) {
  Val at = guarded(far, x, 2);
  Val value = select(far, exp(-at) * series(large, 2 / at, 0, 1) / sqrt(at), small);
  return select(isinf(x), num(x, 0), value);
}

Val small_k0(Val near) {
  return series(kK0Small, near * near, 0, 4) - log(near * 0.5) * (exp(near) * i0e(near));
}
Val small_k1(Val near) {
  return series(kK1Small, near * near, 0, 4) / near + log(near * 0.5) * (exp(near) * i1e(near));
}
Val near_part(Val x) { return guarded((x > 0) & (x <= 2), x, 1); }

}  // namespace

Val k0(Val operand) {
  Val x = wide(operand);
  return second_kind(x, plain_k(x, x > 2, small_k0(near_part(x)), kK0Large), HUGE_VAL);
}
Val k1(Val operand) {
  Val x = wide(operand);
  return second_kind(x, plain_k(x, x > 2, small_k1(near_part(x)), kK1Large), HUGE_VAL);
}
Val k0e(Val operand) {
  Val x = wide(operand);
  return second_kind(x, scaled_k(x, x > 2, small_k0(near_part(x)), kK0Large), HUGE_VAL);
}
Val k1e(Val operand) {
  Val x = wide(operand);
  return second_kind(x, scaled_k(x, x > 2, small_k1(near_part(x)), kK1Large), HUGE_VAL);
}

}  // namespace mycel::ops::bessel
