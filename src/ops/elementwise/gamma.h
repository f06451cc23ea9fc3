// Scalar formulas around the gamma function. All compute in float64 whatever the operand's dtype;
// several iterate until they stand still, so they are loops inside the loop.
#pragma once

#include "loops/val.h"

namespace mycel::ops::gamma {

using loops::Val;

// psi(x): derivative of log gamma. NaN at negative whole numbers, -inf at 0.
Val digamma(Val x);
// Hurwitz zeta: sum over k >= 0 of (q + k)^-s. NaN for s < 1, inf for s = 1.
Val zeta(Val s, Val q);
// Derivative number n >= 0 of digamma.
Val polygamma(Val n, Val x);
// Regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P; dP/da.
Val lower(Val a, Val x);
Val upper(Val a, Val x);
Val lower_slope(Val a, Val x);
// Regularised incomplete beta function I_x(a, b).
Val beta(Val a, Val b, Val x);
// The inverse of erf on [-1, 1].
Val erfinv(Val x);

}  // namespace mycel::ops::gamma
