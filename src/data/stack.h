// Rows of a batch put together, and values made larger to fit.
#pragma once

#include <string>
#include <vector>

#include "data/value.h"

namespace mycel::data {

// Values of equal type and shape along a new first dim. ValueError naming `column` and the row that
// differs.
Value stack(const std::vector<Value>& rows, const std::string& column);
// The value in the corner of one of `shape`, the rest filled with `number` (of strings: `text`).
// ValueError naming `what`: another rank, or larger than `shape`.
Value padded(const Value& v, const std::vector<int64_t>& shape, double number,
             const std::string& text, const std::string& what);

}  // namespace mycel::data
