// ops/value.h and the short forms of elementwise.h.
#include "ops/value.h"

#include "ops/elementwise/elementwise.h"

namespace mycel::ir {

using ops::kAdd;
using ops::kDiv;
using ops::kMul;
using ops::kNeg;
using ops::kSub;
using ops::number;

Value operator+(Value a, Value b) { return kAdd({a, b}); }
Value operator-(Value a, Value b) { return kSub({a, b}); }
Value operator*(Value a, Value b) { return kMul({a, b}); }
Value operator/(Value a, Value b) { return kDiv({a, b}); }
Value operator-(Value a) { return kNeg({a}); }
Value operator+(Value a, double b) { return kAdd({a, number(a, b)}); }
Value operator-(Value a, double b) { return kSub({a, number(a, b)}); }
Value operator*(Value a, double b) { return kMul({a, number(a, b)}); }
Value operator/(Value a, double b) { return kDiv({a, number(a, b)}); }
Value operator+(double a, Value b) { return kAdd({number(b, a), b}); }
Value operator-(double a, Value b) { return kSub({number(b, a), b}); }
Value operator*(double a, Value b) { return kMul({number(b, a), b}); }
Value operator/(double a, Value b) { return kDiv({number(b, a), b}); }

}  // namespace mycel::ir

namespace mycel::ops {

Value ones_of(Value v) {
  Value nan = kIsnan({v});  // true or false, and equal to itself
  return cast_to(kEqual({nan, nan}), v.dtype());
}

Value number(Value like, double v) { return like.graph().scalar(like.dtype(), v); }
Value conj_of(Value v) { return is_complex(v.dtype()) ? kConj({v}) : v; }
Value cast_to(Value v, DType dtype) { return v.dtype() == dtype ? v : kCast({v}, {dtype}); }
Value where(Value condition, Value a, Value b) { return kSelect({condition, a, b}); }
Value where(Value condition, Value a, double b) { return kSelect({condition, a, number(a, b)}); }
Value where(Value condition, double a, Value b) { return kSelect({condition, number(b, a), b}); }
Value greater(Value a, double b) { return kGreater({a, number(a, b)}); }
Value less(Value a, double b) { return kLess({a, number(a, b)}); }
Value equal(Value a, double b) { return kEqual({a, number(a, b)}); }
Value not_equal(Value a, double b) { return kNotEqual({a, number(a, b)}); }

}  // namespace mycel::ops
