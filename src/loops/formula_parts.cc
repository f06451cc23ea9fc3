#include "loops/formula_parts.h"

namespace mycel::loops::formula {

Val mad(Val a, Val b, Val c) {
  Nest::Impl& impl = *a.n->home;
  return Val{impl.add(Op::kMulAdd, a.n->dtype, {a.n, b.n, c.n})};
}
Val mad(Val a, Val b, double c) { return mad(a, b, number_like(a, c)); }
Val mad(Val a, double b, Val c) { return mad(a, number_like(a, b), c); }

Val polynomial(Val x, std::span<const double> c) {
  Val sum = number_like(x, c.back());
  for (size_t k = c.size() - 1; k-- > 0;) sum = mad(sum, x, c[k]);
  return sum;
}

// Adding 1.5 * 2^mantissa leaves the integer in the low bits: no conversion instruction is needed.
Nearest nearest_of_product(Val x, double factor) {
  const Real real(x);
  const Val magic = number_like(x, real.pick(0x1.8p52, 0x1.8p23));
  const Val shifted = factor == 1 ? x + magic : mad(x, number_like(x, factor), magic);
  return {shifted - magic, bitcast(shifted, real.word()) - bitcast(magic, real.word())};
}
Nearest nearest(Val x) { return nearest_of_product(x, 1); }

Val power_of_two(const Real& real, Val i) {
  return bitcast((i + real.bias()) << real.mantissa(), real.type());
}

// In two steps, the second of which rounds: right for results that are denormal or overflow.
Val scale(const Real& real, Val x, Val i) {
  constexpr int kOffset = 8192;  // keeps the halved word positive, so that a logical shift will do
  const Val half = ((i + kOffset) >> 1) - kOffset / 2;
  return x * power_of_two(real, half) * power_of_two(real, i - half);
}

Val copy_sign(Val magnitude, Val sign) {
  const Real real(magnitude);
  const Val top = constant(sign.nest(), real.word(), int64_t{1} << (real.wide ? 63 : 31));
  return bitcast((bitcast(magnitude, real.word()) & ~top) | (bitcast(sign, real.word()) & top),
                 real.type());
}
Val sign_bit(Val x) { return bitcast(x, Real(x).signed_word()) < 0; }

Val limit(Val x, double low, double high) {
  const Val top = number_like(x, high), bottom = number_like(x, low);
  const Val below = select(x > top, top, x);
  return select(below < bottom, bottom, below);
}

}  // namespace mycel::loops::formula
