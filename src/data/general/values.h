// Values that a program writes as arguments.
#pragma once

#include "data/option.h"
#include "data/value.h"

namespace mycel::data {

// A number (int64 or float64), a bool, a string, a tensor, or a list of numbers or of strings.
// TypeError naming owner and argument otherwise.
Value value_of(const Options& o, std::string_view name);

}  // namespace mycel::data
