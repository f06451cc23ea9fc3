#include "ir/type.h"

namespace mycel::ir {

size_t Type::hash() const {
  return shape.hash() * 31 + static_cast<size_t>(dtype) * 4 + static_cast<size_t>(kind);
}

std::string Type::str() const {
  std::string s(name_of(dtype));
  s += '[';
  for (int d = 0; d < shape.rank(); ++d) {
    if (d) s += ", ";
    s += shape[d] == kUnknownDim ? "?" : std::to_string(shape[d]);
  }
  s += ']';
  return kind == Kind::kStack ? "stack<" + s + ">" : s;
}

}  // namespace mycel::ir
