// Complex arithmetic as formulas over pairs of real Vals, built when the formula is written, so
// that no emitter sees a complex number. complex64 products of possibly huge parts go through
// float64, where they cannot overflow; complex128 scales instead. An operand whose imaginary part
// is the literal 0 (a plain number beside a complex one) is treated as real, so that no inf * 0
// arises.
#pragma once

#include "loops/val.h"

namespace mycel::loops::complex {

Val add(Val a, Val b);
Val sub(Val a, Val b);
Val mul(Val a, Val b);
Val div(Val a, Val b);
Val abs(Val x);  // real
Val exp(Val x);
Val log(Val x);   // imaginary part in (-pi, pi]
Val sqrt(Val x);  // right half plane
Val pow(Val x, Val y);

}  // namespace mycel::loops::complex
