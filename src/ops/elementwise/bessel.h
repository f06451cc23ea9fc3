// Scalar formulas of the Bessel functions, from Chebyshev series (bessel_tables.h). All compute in
// float64 whatever the operand's dtype; where series meet, both sides are evaluated and one is
// chosen, so that the loops stay vectorisable.

#include "ir/op_def.h"
#include "loops/val.h"

namespace mycel::ops {
extern const ir::OpDef kBesselI0;
}  // namespace mycel::ops

namespace mycel::ops::bessel {

using loops::Val;

Val j0(Val x);
Val j1(Val x);
Val y0(Val x);  // NaN below 0, -inf at 0; the same for y1
Val y1(Val x);
Val i0e(Val x);  // e^-|x| I0(x); the scaled forms do not overflow
Val i1e(Val x);
Val i0(Val x);
Val i1(Val x);
Val k0(Val x);  // NaN below 0, inf at 0; the same for k1
Val k1(Val x);
Val k0e(Val x);  // e^x K0(x)
Val k1e(Val x);

}  // namespace mycel::ops::bessel
