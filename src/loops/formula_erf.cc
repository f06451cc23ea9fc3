// erf and erfc. float64: a polynomial below 1, else erfc(t) = exp(-t^2) P(q) / (1 + 2 t) with q =
// (t - 4) / (t + 4), in the manner of Shepherd and Laframboise (Math. Comp. 36, 1981). float32 erf:
// a polynomial below 1, else 1 - exp(-t P(t)).
#include "loops/formula_parts.h"

namespace mycel::loops::formula {
namespace {

// erf(x) / x in x^2, |x| <= 1; the leading 1 of the first coefficient is added last.
constexpr double kErf64[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b34p-4,
                             -0x1.b82ce31284f38p-6,  0x1.565bcd0dbd920p-8,   -0x1.c02db3db49905p-11,
                             0x1.f9a321e4be396p-14,  -0x1.f4d1e4355e24fp-17, 0x1.b9df3066e20fep-20,
                             -0x1.5f1f41608c1ffp-23, 0x1.f7b9a24bdfaf0p-27,  -0x1.38ac32d8ed106p-30,
                             0x1.0627890b92f43p-34};
constexpr double kErf32[] = {0.128379166,    -0.3761262714,    0.1128360017, -0.02685444424,
                             0.005189534593, -0.0008020834299, 7.88909551e-5};
// -log(erfc(t)) / t, 0.9 <= t <= 4
constexpr double kLogErfc32[] = {1.128640963,    0.6351814993,     0.1061876128,  -0.02372019253,
                                 0.003622924941, -0.0003180621977, 1.076354734e-5};
constexpr double kErfcx64[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28ep-3,  0x1.f7f5df66fd706p-7,   0x1.16ecefcfa52b0p-4,
    -0x1.9ddb23c3e8a71p-4,  0x1.7fee004e14c8ap-4,   -0x1.0fb06dfe54733p-4,  0x1.3079edf61ec35p-5,
    -0x1.0962388296600p-6,  0x1.49c672a9a2acap-8,   -0x1.8d4a9c7603384p-11, -0x1.a1df444cfe53bp-13,
    0x1.3be0713c4c8fbp-13,  -0x1.9954f1574d4d1p-16, -0x1.788f28fd8d2f5p-17, 0x1.7ef5d7ef826e1p-18,
    0x1.3c41261392331p-22,  -0x1.b8066192d0725p-21, 0x1.3c0a077a60a56p-24,  0x1.bbe4201c4702fp-24,
    -0x1.254d5d5590b59p-26, -0x1.4ce95c80073bbp-27, 0x1.aa0de4305685cp-30};

Val erf_small(const Real& real, Val x) {
  return mad(x, polynomial(real, x * x, kErf64, kErf32), x);
}

// erfc of t in [0.45, 28], float64. The rounding error of t^2 is carried along (hence a true fma).
Val erfc_large(Val t) {
  const Val q = (t - 4) / (t + 4);
  const Val scaled = polynomial(q, kErfcx64) / (t * 2 + 1);
  const Val square = t * t, error = fma(t, t, -square);
  return formula::exp(-square) * (scaled - scaled * error);
}

}  // namespace

Val erf(Val x) {
  const Real real(x);
  const Val a = abs(x);
  const Val inside = real.wide ? limit(a, 0, 28) : limit(a, 0, 4);
  const Val one = number_like(x, 1);
  const Val large = real.wide ? one - erfc_large(limit(inside, 0.45, 28))
                              : one - formula::exp(-(inside * polynomial(inside, kLogErfc32)));
  return select(a < 1, erf_small(real, x), copy_sign(large, x));
}

Val erfc(Val x) {
  const Real real(x);
  if (!real.wide) return cast(formula::erfc(cast(x, DType::kFloat64)), DType::kFloat32);
  const Val a = abs(x), one = number_like(x, 1), two = number_like(x, 2);
  const Val large = erfc_large(limit(a, 0.45, 28));
  const Val outer = select(x < 0, two - large, large);
  return select(a < 0.5, one - erf_small(real, x), outer);
}

}  // namespace mycel::loops::formula
