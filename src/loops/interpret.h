// The reference: runs a nest slowly, statement by statement, on one thread. float64 arithmetic is
// C's; float32 results are computed in float64 by the C library and rounded to float32 after every
// operation (exact rounding for + - * / sqrt and fma, within half an ulp and a hair for functions).
// Integers are computed in 64 bits and wrapped to their type. Loops run in order whatever their
// kind.
#pragma once

#include "loops/nest.h"

namespace mycel::loops {

// `buffers`: inputs, then outputs; scratch is allocated here.
void interpret(const Nest& nest, void* const* buffers);

}  // namespace mycel::loops
