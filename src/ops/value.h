// Arithmetic on graph values, so that gradient rules and expansions read as on paper. Numbers
// become constants of the other side's dtype. Defined by the elementwise room.
#pragma once

#include "ir/graph.h"

namespace mycel::ir {

Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);
Value operator-(Value a);
Value operator+(Value a, double b);
Value operator-(Value a, double b);
Value operator*(Value a, double b);
Value operator/(Value a, double b);
Value operator+(double a, Value b);
Value operator-(double a, Value b);
Value operator*(double a, Value b);
Value operator/(double a, Value b);

}  // namespace mycel::ir
