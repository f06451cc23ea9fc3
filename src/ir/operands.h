// What a record says of its operands, checked without expanding a composite: tracing needs it,
// since it records composites as what they are made of.
#pragma once

#include "ir/graph.h"

namespace mycel::ir {

// Number and classes of the operands, and the type rule where the record has one, whose results are
// given; otherwise none. Absent operands are null. UserError names the op.
Types check_operands(const Op& op, std::span<const Type* const> inputs, const Attrs& attrs);

}  // namespace mycel::ir
