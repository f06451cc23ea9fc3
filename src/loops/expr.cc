#include "loops/expr.h"

namespace mycel::loops {

const char* name_of(Op op) {
  static constexpr const char* kNames[kOpCount] = {
      "literal", "number", "index", "var",  "load",    "argument", "add",   "sub",    "mul",
      "div",     "rem",    "and",   "or",   "xor",     "shl",      "shr",   "lt",     "le",
      "eq",      "ne",     "min",   "max",  "mul_hi",  "atan2",    "pow",   "select", "fma",
      "muladd",  "neg",    "not",   "cast", "bitcast", "abs",      "floor", "ceil",   "trunc",
      "rint",    "sqrt",   "exp",   "exp2", "expm1",   "log",      "log2",  "log10",  "log1p",
      "sin",     "cos",    "tan",   "asin", "acos",    "atan",     "sinh",  "cosh",   "tanh",
      "asinh",   "acosh",  "atanh", "erf",  "erfc",    "lgamma"};
  return kNames[static_cast<int>(op)];
}

}  // namespace mycel::loops
