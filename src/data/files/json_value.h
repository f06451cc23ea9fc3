// A JSON value as a value of a row: bool, int64, float64, string, or an array of one of these.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "data/value.h"

namespace mycel::data {

// Objects, null and lists that are no arrays of one kind become strings of their JSON text. An
// array that mixes ints and floats is float64. OsError naming file and column for a ragged array.
Value json_value(const nlohmann::json& j, const std::string& file, const std::string& column);

}  // namespace mycel::data
