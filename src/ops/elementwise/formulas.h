// Scalar formulas that more than one record of the room uses.
#pragma once

#include "loops/val.h"

namespace mycel::ops::formulas {

using loops::Val;

// Remainder with the sign of the divisor (Python's %): x - y * floor(x / y).
Val floor_mod(Val x, Val y);
// Quotient rounded down (Python's //), consistent with floor_mod; a division by zero gives 0 for
// integers and the plain quotient for floats.
Val floor_div(Val x, Val y);
Val sign_bit(Val x);  // of -0.0 and of NaN too
Val with_sign_of(Val size, Val sign);
// 1 / (1 + exp(-x)), without overflow for large |x|.
Val sigmoid(Val x);
// log(1 + exp(x)), without overflow and with full relative accuracy for very negative x.
Val softplus(Val x);

}  // namespace mycel::ops::formulas
