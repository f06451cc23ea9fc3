#include "loops/complex.h"

#include <cmath>

#include "base/error.h"
#include "loops/expr.h"

namespace mycel::loops::complex {
namespace {

void check(const Val& a, const Val& b) {
  MYCEL_CHECK(a.n && b.n && a.dtype() == b.dtype(),
              "complex arithmetic of two dtypes; cast one of them");
}
bool plain(const Val& v) { return v.im->is_literal() && v.im->real() == 0; }
bool narrow(const Val& re) { return re.dtype() == DType::kFloat32; }
Val wide(Val x) { return cast(x, DType::kFloat64); }

}  // namespace

Val add(Val a, Val b) {
  check(a, b);
  if (plain(b)) return make_complex(real(a) + real(b), imag(a));
  if (plain(a)) return make_complex(real(a) + real(b), imag(b));
  return make_complex(real(a) + real(b), imag(a) + imag(b));
}

Val sub(Val a, Val b) {
  check(a, b);
  if (plain(b)) return make_complex(real(a) - real(b), imag(a));
  return make_complex(real(a) - real(b), imag(a) - imag(b));
}

Val mul(Val a, Val b) {
  check(a, b);
  const Val ar = real(a), ai = imag(a), br = real(b), bi = imag(b);
  if (plain(b)) return make_complex(ar * br, ai * br);
  if (plain(a)) return make_complex(ar * br, ar * bi);
  return make_complex(ar * br - ai * bi, ar * bi + ai * br);
}

Val div(Val a, Val b) {
  check(a, b);
  const Val ar = real(a), ai = imag(a), br = real(b), bi = imag(b);
  if (plain(b)) return make_complex(ar / br, ai / br);
  if (narrow(ar)) {
    // In double precision: quotients of huge or tiny parts come out right.
    const Val wide_result = div(make_complex(wide(ar), wide(ai)), make_complex(wide(br), wide(bi)));
    return cast(wide_result, DType::kComplex64);
  }
  // Smith's method: divide by the larger part first.
  const Val swap = loops::abs(br) < loops::abs(bi);
  const Val big = select(swap, bi, br), small = select(swap, br, bi);
  const Val ratio = select(small == 0, small, small / big);  // keeps x / 0 = inf, not nan
  const Val norm = big + small * ratio;
  const Val p = select(swap, ai, ar), q = select(swap, ar, ai);
  const Val im = (q - p * ratio) / norm;
  return make_complex((p + q * ratio) / norm, select(swap, -im, im));
}

Val abs(Val x) {
  const Val re = real(x), im = imag(x);
  const Val infinite = isinf(re) | isinf(im);
  if (narrow(re)) {
    const Val r = wide(re), i = wide(im);
    return select(infinite, HUGE_VAL, cast(loops::sqrt(r * r + i * i), DType::kFloat32));
  }
  const Val a = loops::abs(re), b = loops::abs(im);
  const Val big = max(a, b), small = min(a, b);
  const Val ratio = select(big == 0, big, small / big);
  return select(infinite, HUGE_VAL, big * loops::sqrt(ratio * ratio + 1));
}

Val exp(Val x) {
  const Val re = real(x), im = imag(x), e = loops::exp(re);
  // A zero angle stays zero, even where e is infinite; e = 0 wins over an angle that is infinite
  // or NaN, and so does an infinite e in the real part.
  const Val lost = !isfinite(im);
  const Val dead = lost & (re == -HUGE_VAL);
  const Val zero = number_like(re, 0);
  const Val known = (im == 0) | (lost & (re == HUGE_VAL));
  return make_complex(select(dead, zero, select(known, e, e * cos(im))),
                      select(dead, zero, select(im == 0, im, e * sin(im))));
}

Val log(Val x) {
  const Val re = real(x), im = imag(x);
  const Val size = loops::abs(x);
  const Val a = loops::abs(re), b = loops::abs(im);
  const Val big = max(a, b), small = min(a, b);
  // Near |x| = 1 the rounding of |x| would dominate.
  const Val near = (size > 0.5) & (size < 2.0);
  const Val close = log1p((big - 1) * (big + 1) + small * small) * 0.5;
  return make_complex(select(near, close, loops::log(size)), atan2(im, re));
}

Val sqrt(Val x) {
  const Val re = real(x), im = imag(x);
  const Val zero = number_like(re, 0);
  // Scaled by a power of four, so that neither |x| + |re| overflows nor tiny parts vanish.
  const Val largest = max(loops::abs(re), loops::abs(im));
  const Val huge = largest > (narrow(re) ? 0x1p124 : 0x1p1020);
  const Val tiny = largest < (narrow(re) ? 0x1p-100 : 0x1p-900);
  const Val scale = select(huge, number_like(re, 0x1p-4),
                           select(tiny, number_like(re, 0x1p60), number_like(re, 1.0)));
  const Val back = select(huge, number_like(re, 4.0),
                          select(tiny, number_like(re, 0x1p-30), number_like(re, 1.0)));
  const Val r = re * scale, i = im * scale;
  const Val t = loops::sqrt((loops::abs(r) + loops::abs(make_complex(r, i))) * 0.5);
  const Val u = select(t == 0, zero, loops::abs(i) / (t * 2));
  const Val left = re < 0;
  const Val signed_im = bitcast(im, narrow(re) ? DType::kInt32 : DType::kInt64) < 0;
  const Val outer_re = select(left, u, t) * back, outer_im = select(left, t, u) * back;
  const Val infinite = isinf(im);
  return make_complex(select(infinite, loops::abs(im), outer_re),
                      select(infinite, im, select(signed_im, -outer_im, outer_im)));
}

Val pow(Val x, Val y) {
  check(x, y);
  const Val re = real(x), zero = number_like(re, 0), one = number_like(re, 1);
  if (plain(y) && y.n->is_literal()) {
    if (y.n->real() == 1) return x;
    if (y.n->real() == 2) return mul(x, x);
  }
  const Val result = loops::exp(mul(y, loops::log(x)));
  const Val base_zero = (re == 0) & (imag(x) == 0);
  const Val power_zero = (real(y) == 0) & (imag(y) == 0);
  const Val at_zero =
      select(real(y) > 0, make_complex(zero, zero), make_complex(number_like(re, HUGE_VAL), zero));
  return select(power_zero, make_complex(one, zero), select(base_zero, at_zero, result));
}

}  // namespace mycel::loops::complex
