// The elementwise room: records of ops whose result elements depend on one element of each operand,
// all given by scalar formulas. Declared here: what the gradient rules and expansions of other
// rooms use.
#pragma once

#include "ir/graph.h"
#include "ir/op_def.h"
#include "ops/value.h"

namespace mycel::ops {

using ir::OpDef;
using ir::Value;

// Conversion.
extern const OpDef kCast;  // attr dtype

// Arithmetic (NumPy broadcasting and promotion). kDiv is true division: integers give float32.
extern const OpDef kAdd, kSub, kMul, kDiv, kNeg;
extern const OpDef kFloorDiv, kFloorMod, kTruncateDiv, kTruncateMod;
extern const OpDef kPow, kMaximum, kMinimum, kSquare, kSqrt, kRsqrt, kReciprocal, kAbs, kSign, kSgn;
extern const OpDef kMulNoNan, kSquaredDifference;

// Exponentials, logarithms, trigonometry, special functions.
extern const OpDef kExp, kExpm1, kExp2, kLog, kLog1p, kLog2, kLog10, kLogaddexp;
extern const OpDef kSin, kCos, kTan, kAsin, kAcos, kAtan, kAtan2, kSinh, kCosh, kAsinh, kAcosh,
    kAtanh;
extern const OpDef kErf, kErfc, kErfinv, kLgamma, kDigamma, kXlogy, kXdivy, kDivNoNan, kHypot;

// Rounding.
extern const OpDef kFloor, kCeil, kRound, kTrunc;

// Comparison and logic: results are bool.
extern const OpDef kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual;
extern const OpDef kLogicalAnd, kLogicalOr, kLogicalXor, kLogicalNot;
extern const OpDef kIsnan, kIsinf, kIsfinite;
extern const OpDef kBitwiseAnd, kBitwiseOr, kBitwiseXor, kInvert, kLeftShift, kRightShift;

// select(cond, x, y): x where cond, else y.
extern const OpDef kSelect;

// Complex numbers.
extern const OpDef kComplex, kReal, kImag, kConj, kAngle;

// Activations.
extern const OpDef kRelu, kSigmoid, kTanh, kLogsigmoid, kSoftplus, kSilu, kGelu;

// -- short forms for rules
// ------------------------------------------------------------------------- conj of a complex
// value; a real one as it is. Gradients follow the convention that dx is the direction of steepest
// ascent of the real part, so a derivative factor enters conjugated.
Value conj_of(Value v);
Value cast_to(Value v, DType dtype);
Value where(Value condition, Value a, Value b);
Value where(Value condition, Value a, double b);
Value where(Value condition, double a, Value b);
// Ones of the type of a float v, through which no gradient flows.
Value ones_of(Value v);
// A constant of v's dtype.
Value number(Value like, double v);
Value greater(Value a, double b);
Value less(Value a, double b);
Value equal(Value a, double b);
Value not_equal(Value a, double b);

}  // namespace mycel::ops
