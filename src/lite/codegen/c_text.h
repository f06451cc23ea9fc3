// Pieces of C text: names and arrays of constants.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace mycel::lite {

// `text` as a C identifier: what is no letter, digit or underscore becomes an underscore.
std::string c_identifier(const std::string& text);
// "static const float NAME[3] = {…};", exact. 16-bit floats are their bits, bools 0 and 1.
std::string c_array(const std::string& name, const Tensor& t);
// The type of an element in memory.
const char* c_element(DType t);
// Elements of an array for a tensor of this type, at least 1; of complex numbers both parts.
int64_t c_count(DType t, const Shape& shape);

}  // namespace mycel::lite
