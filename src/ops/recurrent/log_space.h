// Sums of probabilities given by their logarithms, in loop nests.
#pragma once

#include "loops/nest.h"

namespace mycel::ops {

inline loops::Val minus_infinity(loops::Nest& nest, DType d) {
  return nest.literal(d, -__builtin_inf());
}

// log(e^a + e^b), -inf for two of them.
inline loops::Val log_add(loops::Val a, loops::Val b) {
  loops::Val top = max(a, b);
  loops::Val base = select(top == -__builtin_inf(), 0.0, top);
  return log(exp(a - base) + exp(b - base)) + base;
}

inline loops::Val log_add(loops::Val a, loops::Val b, loops::Val c) {
  loops::Val top = max(max(a, b), c);
  loops::Val base = select(top == -__builtin_inf(), 0.0, top);
  return log(exp(a - base) + exp(b - base) + exp(c - base)) + base;
}

}  // namespace mycel::ops
