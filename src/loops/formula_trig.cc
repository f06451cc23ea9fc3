// sin, cos, tan in float32 for every argument, by exact products with windows of 2/pi; inverse
// functions in both types.
#include <cmath>

#include "loops/formula_parts.h"

namespace mycel::loops::formula {
namespace {

constexpr double kSin32[] = {-0.1666665494, 0.008332177683,
                             -0.0001951723433};  // (sin x - x) / x^3 in x^2
constexpr double kCos32[] = {0.04166664686, -0.001388736701,
                             2.443838957e-5};  // (cos x - 1 + x^2/2) / x^4
constexpr double kAtan64[] = {-0x1.5555555555555p-2, 0x1.9999999999970p-3,  -0x1.2492492490a6cp-3,
                              0x1.c71c71c61003ap-4,  -0x1.745d1712f3a81p-4, 0x1.3b13ab06059aap-4,
                              -0x1.11108dab00e34p-4, 0x1.e1d2b6d2132f8p-5,  -0x1.ae89b3ae89284p-5,
                              0x1.817e6782179b7p-5,  -0x1.4c3aecd1e8d54p-5, 0x1.e54bb652eaf60p-6,
                              -0x1.a993afb3b2a75p-7};
constexpr double kAtan32[] = {-0.3333331549, 0.1999848836, -0.1424382723, 0.105958327,
                              -0.0608300116};
constexpr double kAsin64[] = {0x1.5555555555578p-3, 0x1.333333332df80p-4, 0x1.6db6db722602cp-5,
                              0x1.f1c71a8dc559ep-6, 0x1.6e8bdfa64b849p-6, 0x1.1c49e2bcd11abp-6,
                              0x1.ca20cdfd8d3e9p-7, 0x1.757b7a5d51c54p-7, 0x1.6173f25398f57p-7,
                              0x1.e2bea79a9d69cp-9, 0x1.6492a42f7a9a8p-6, -0x1.59546dea6bfb7p-6,
                              0x1.0bb05ae4fa31ep-5};
constexpr double kAsin32[] = {0.1666675393, 0.07495242001, 0.04547706257, 0.0241477906,
                              0.04221824892};

constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow64 = 0x1.1a62633145c07p-54;
constexpr double kHalfPi32 = 0x1.921fb6p+0, kHalfPiLow32 = -0x1.777a5cp-25;

// The bits of 2/pi that matter for |x| below a bound: those whose product with x is a multiple of 4
// are left out, the next 27 + 27 + 53 kept, so that the first two products with a float32 are exact
// in float64.
struct Window {
  double below, high, middle, low;
};
constexpr Window kTwoOverPi[] = {
    {0x1p28, 0x1.45f306cp-1, 0x1.c9c8828p-29, 0x1.29fc2757d1f52p-56},
    {0x1p54, 0x1.7cc1b6p-7, 0x1.27220a8p-31, 0x1.4fe13abe8fa9ap-59},
    {0x1p80, 0x1.9391054p-30, 0x1.4fe13ap-59, 0x1.7d1f534ddc0dbp-84},
    {0x1p106, 0x1.29fc274p-56, 0x1.7d1f53p-84, 0x1.377036d8a5664p-110},
    {HUGE_VAL, 0x1.5f47d4cp-82, 0x1.3770368p-110, 0x1.6295993c43904p-136},
};

struct Quadrant {
  Val r;     // float32 in [-pi/4, pi/4]
  Val turn;  // x = turn * pi/2 + r (mod 2 pi); the low two bits count
};

Quadrant reduce(Val x) {
  const Val d = cast(x, DType::kFloat64), size = abs(d);
  const Window& last = kTwoOverPi[4];
  Val high = number_like(d, last.high), middle = number_like(d, last.middle),
      low = number_like(d, last.low);
  for (int w = 3; w >= 0; --w) {
    const Val here = size < kTwoOverPi[w].below;
    high = select(here, kTwoOverPi[w].high, high);
    middle = select(here, kTwoOverPi[w].middle, middle);
    low = select(here, kTwoOverPi[w].low, low);
  }
  const Val first = d * high, second = d * middle;
  const Nearest n1 = nearest(first), n2 = nearest(second);
  const Val sum = (first - n1.real) + (second - n2.real);
  const Val third = d * low;  // up to 1/16 of a turn near the end of a window
  const Nearest n3 = nearest(sum + third);
  const Val turns = (sum - n3.real) + third;
  return {cast(turns * kHalfPi, DType::kFloat32), cast(n1.word + n2.word + n3.word, DType::kInt32)};
}

Val sin_near(Val r) {
  const Val z = r * r;
  return mad(r * z, polynomial(z, kSin32), r);
}
Val cos_near(Val r) {
  const Val z = r * r;
  return mad(z * z, polynomial(z, kCos32), mad(z, -0.5, number_like(z, 1)));
}
Val bit(Val word, int64_t mask) { return (word & mask) != 0; }

Val wave(Val x, int shift) {
  const Quadrant q = reduce(x);
  const Val turn = q.turn + shift;
  const Val value = select(bit(turn, 1), cos_near(q.r), sin_near(q.r));
  return select(bit(turn, 2), -value, value);
}

Val half_pi_minus(const Real& real, Val x) {
  return number_like(x, real.pick(kHalfPi, kHalfPi32)) -
         (x - number_like(x, real.pick(kHalfPiLow64, kHalfPiLow32)));
}

// atan for x >= 0: three intervals folded onto [-tan(pi/8), tan(pi/8)].
Val atan_positive(Val x) {
  const Real real(x);
  const Val one = number_like(x, 1), zero = number_like(x, 0);
  const Val big = x > 0x1.3504f333f9de6p+1,
            middle = x > 0x1.a827999fcef32p-2;  // 1 + sqrt 2, sqrt 2 - 1
  const Val t =
      select(big, -one, select(middle, x - 1, x)) / select(big, x, select(middle, x + 1, one));
  const Val z = t * t;
  const Val near = t * z * polynomial(real, z, kAtan64, kAtan32);
  const Val pi = number_like(x, real.pick(kHalfPi, kHalfPi32));
  const Val pi_low = number_like(x, real.pick(kHalfPiLow64, kHalfPiLow32));
  const Val base = select(big, pi, select(middle, pi * 0.5, zero));
  const Val base_low = select(big, pi_low, select(middle, pi_low * 0.5, zero));
  return base + (t + (near + base_low));
}

// asin(x) - x for |x| <= 1/2, z = x^2
Val asin_rest(const Real& real, Val x, Val z) {
  return x * z * polynomial(real, z, kAsin64, kAsin32);
}

}  // namespace

Val sin32(Val x) { return select(x == 0, x, wave(x, 0)); }  // keeps -0
Val cos32(Val x) { return wave(x, 1); }
Val tan32(Val x) {
  const Quadrant q = reduce(x);
  const Val s = sin_near(q.r), c = cos_near(q.r);
  const Val odd = bit(q.turn, 1);
  return select(x == 0, x, select(odd, -c, s) / select(odd, s, c));
}

Val atan(Val x) { return copy_sign(atan_positive(abs(x)), x); }

Val atan2(Val y, Val x) {
  const Real real(x);
  const Val a = abs(x), b = abs(y);
  const Val big = max(a, b), small = min(a, b), zero = number_like(x, 0), one = number_like(x, 1);
  const Val both_infinite = small == HUGE_VAL;
  const Val ratio = select(big == 0, zero, select(both_infinite, one, small / big));
  const Val angle = atan_positive(ratio);
  const Val upright = select(b > a, half_pi_minus(real, angle), angle);
  const Val pi = number_like(x, real.pick(kHalfPi, kHalfPi32) * 2);
  const Val pi_low = number_like(x, real.pick(kHalfPiLow64, kHalfPiLow32) * 2);
  const Val turned = select(sign_bit(x), pi - (upright - pi_low), upright);
  return select(isnan(x) | isnan(y), x + y, copy_sign(turned, y));
}

Val asin(Val x) {
  const Real real(x);
  const Val a = abs(x);
  const Val outer = a > 0.5;
  const Val z = select(outer, (number_like(x, 1) - a) * 0.5, a * a);
  const Val root = select(outer, sqrt(z), a);
  const Val rest = asin_rest(real, root, z);
  const Val far = half_pi_minus(real, (root + rest) * 2);
  return copy_sign(select(outer, far, root + rest), x);
}

Val acos(Val x) {
  const Real real(x);
  const Val a = abs(x);
  const Val outer = a > 0.5;
  const Val z = select(outer, (number_like(x, 1) - a) * 0.5, a * a);
  const Val root = select(outer, sqrt(z), x);
  const Val angle = root + asin_rest(real, root, z);
  const Val twice = angle * 2;
  const Val pi = number_like(x, real.pick(kHalfPi, kHalfPi32) * 2);
  const Val pi_low = number_like(x, real.pick(kHalfPiLow64, kHalfPiLow32) * 2);
  const Val far = select(x < 0, pi - (twice - pi_low), twice);
  return select(outer, far, half_pi_minus(real, angle));
}

}  // namespace mycel::loops::formula
