// Equality of graphs up to names and source locations: what makes a recorded tape or a compiled
// plan reusable.
#pragma once

#include "ir/graph.h"

namespace mycel::ir {

size_t structure_hash(const Graph& g);
bool structurally_equal(const Graph& a, const Graph& b);

}  // namespace mycel::ir
