// Mathematical functions as formulas over Val: straight-line code without branches or calls, so
// that LLVM vectorises it and C99 and PTX print it. A formula is built once per (function, dtype)
// and expanded by an emitter wherever the function is used; the interpreter uses the C library
// instead.
//
// Rounding: multiply-adds inside formulas (kMulAdd) are fused where the machine has FMA and two
// roundings where not; nothing else is ever contracted. So one machine type gives one set of bits,
// vector or scalar.
#pragma once

#include <memory>

#include "loops/expr.h"

namespace mycel::loops {

struct Formula {
  Nest nest{"formula"};  // its preamble is the code
  Expr* result = nullptr;
};

// Null when the C library's function is to be called instead (named as name_of(op), for float64).
const Formula* formula_for(Op op, DType dtype);

}  // namespace mycel::loops
