// Functions that take real and complex numbers, the latter by formulas over their parts. Branch
// cuts and principal values are those of W. Kahan, "Branch cuts for complex elementary functions"
// (1987); values at infinities, NaN and signed zeros those of C's Annex G and, where it leaves the
// choice, of the Python array API standard.
#pragma once

#include "loops/val.h"

namespace mycel::ops::formulas {

using loops::Val;

Val sine(Val x);
Val cosine(Val x);
Val tangent(Val x);
Val hyperbolic_sine(Val x);
Val hyperbolic_cosine(Val x);
Val hyperbolic_tangent(Val x);
Val arc_sine(Val x);
Val arc_cosine(Val x);
Val arc_tangent(Val x);
Val area_sine(Val x);
Val area_cosine(Val x);
Val area_tangent(Val x);
Val exponential_minus_one(Val x);
Val logarithm_of_one_plus(Val x);
Val binary_logarithm(Val x);
Val decimal_logarithm(Val x);
Val round_to_even(Val x);

}  // namespace mycel::ops::formulas
