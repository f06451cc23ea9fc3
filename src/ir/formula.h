// The formula of a graph of elementwise ops, as of one: the body of a fused op, and what is joined
// to another op.
#pragma once

#include <span>

#include "ir/graph.h"
#include "loops/val.h"

namespace mycel::ir {

// The formulas of the nodes, composed: `out`, one for each result, over `in`, one for each
// parameter. What was stored between two ops stays in a register: a result is brought to its dtype,
// but a 16-bit float keeps the float32 it was computed in, which only differs by the rounding that
// storing it would have added.
void compose(const Graph& body, std::span<const loops::Val> in, std::span<loops::Val> out);

}  // namespace mycel::ir
