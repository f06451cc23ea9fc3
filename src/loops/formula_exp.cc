// exp and its kin: reduction by multiples of ln 2 to |r| <= 0.347, a polynomial there, and a
// scaling in two steps, so that denormal results and overflow come out by themselves.
#include <cmath>

#include "loops/formula_parts.h"

namespace mycel::loops::formula {
namespace {

// (exp(r) - 1 - r) / r^2
constexpr double kExp64[] = {0x1.0000000000000p-1,  0x1.555555555555cp-3,  0x1.555555555555ep-5,
                             0x1.111111110eb6ep-7,  0x1.6c16c16c13573p-10, 0x1.a01a01b3d6552p-13,
                             0x1.a01a01b45ce7fp-16, 0x1.71ddef4ec12b2p-19, 0x1.27e4bf201b93bp-22,
                             0x1.af6d46f4384a8p-26, 0x1.1f9e09c7b117ap-29};
constexpr double kExp32[] = {0.5000000096, 0.166665183, 0.04166620244, 0.00836895388,
                             0.001395070173};
// (sinh(x) - x) / x^3 in x^2, |x| <= 1
constexpr double kSinh64[] = {0x1.5555555555556p-3,  0x1.11111111110a1p-7,  0x1.a01a01a0291fdp-13,
                              0x1.71de3a45f70b4p-19, 0x1.ae6467669e987p-26, 0x1.611a3a182f531p-33,
                              0x1.b4cf7b2c1247ep-41};
constexpr double kSinh32[] = {0x1.555556p-3, 0x1.111110p-7, 0x1.a01a0ap-13, 0x1.71de3ap-19};

constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLn2High64 = 0x1.62e42fee00000p-1, kLn2Low64 = 0x1.a39ef35793c76p-33;
constexpr double kLn2High32 = 0x1.63p-1, kLn2Low32 = -0x1.bd0106p-13;

// exp(r) - 1 for a reduced r.
Val tail(const Real& real, Val r) { return mad(r * r, polynomial(real, r, kExp64, kExp32), r); }

struct Reduced {
  Val tail;   // exp(r) - 1
  Val power;  // n, as a word; x = n ln 2 + r
};
Reduced reduce(const Real& real, Val x) {
  const Nearest n = nearest_of_product(x, kLog2E);
  Val r = mad(n.real, -real.pick(kLn2High64, kLn2High32), x);
  r = mad(n.real, -real.pick(kLn2Low64, kLn2Low32), r);
  return {tail(real, r), n.word};
}

Val limited(const Real& real, Val x) {
  return real.wide ? limit(x, -746, 711) : limit(x, -105, 90);
}

}  // namespace

// What underflows to 0 is left out beforehand: processors take a hundred times as long for products
// that denormal numbers come from, and masked softmaxes are full of them.
Val exp(Val x) {
  const Real real(x);
  const Val vanishes = x < real.pick(-745.2, -104);
  const Reduced e = reduce(real, limited(real, select(vanishes, 0, x)));
  return select(vanishes, 0, scale(real, e.tail + 1, e.power));
}

Val exp_half(Val x) {
  const Real real(x);
  const Reduced e = reduce(real, limited(real, x));
  return scale(real, e.tail + 1, e.power - 1);
}

Val exp2(Val x) {
  const Real real(x);
  const Val inside = real.wide ? limit(x, -1080, 1030) : limit(x, -160, 130);
  const Nearest n = nearest(inside);
  const Val e = tail(real, (inside - n.real) * std::log(2.0));
  return scale(real, e + 1, n.word);
}

// 2^n (exp(r) - 1) + (2^n - 1), halved throughout so that 2^n itself need not be representable.
Val expm1(Val x) {
  const Real real(x);
  const Reduced e = reduce(real, real.wide ? limit(x, -40, 710) : limit(x, -20, 89));
  const Val half = power_of_two(real, e.power - 1);
  const Val result = (e.tail * half + (half - 0.5)) * 2;
  return select(x == 0, x, result);
}

Val sinh(Val x) {
  const Real real(x);
  const Val a = abs(x), square = x * x;
  const Val small = mad(x * square, polynomial(real, square, kSinh64, kSinh32), x);
  const Val half = formula::exp_half(a);
  return select(a < 1, small, copy_sign(half - number_like(x, 0.25) / half, x));
}

Val cosh(Val x) {
  const Val half = formula::exp_half(abs(x));
  return half + number_like(x, 0.25) / half;
}

Val tanh(Val x) {
  const Real real(x);
  const Val twice = limit(abs(x) * 2, 0, real.pick(44, 20));
  const Val e = formula::expm1(twice);
  return copy_sign(e / (e + 2), x);
}

// Through float64, where log and exp have bits to spare.
Val pow32(Val x, Val y) {
  const Val wide_x = cast(x, DType::kFloat64), wide_y = cast(y, DType::kFloat64);
  const Val size = abs(wide_x);
  const Val magnitude = cast(formula::exp(wide_y * formula::log(size)), DType::kFloat32);
  const Val half = y * 0.5;
  const Val whole = rint(y) == y, odd = whole & (rint(half) != half);
  const Val one = number_like(x, 1);
  Val result = select(odd, copy_sign(magnitude, x), magnitude);
  const Val negative = (x < 0) & (x != -HUGE_VAL);
  result = select(negative & !whole, NAN, result);
  // 1^y and x^0 are 1 even for NaN; (-1)^(+-inf) is 1.
  const Val unit = (x == one) | (y == 0) | ((abs(x) == one) & (abs(y) == HUGE_VAL));
  return select(unit, one, result);
}

}  // namespace mycel::loops::formula
