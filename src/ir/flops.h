// How many floating-point operations a node is, read from its record: a formula is one per element
// of the result, a contraction (a summed dim in the sharding line) two per product, a reduction one
// per element that it reads, a pool one per element of its windows. What only moves data is 0, and
// so are records that say nothing of their arithmetic (sorts, decompositions, transforms).
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace mycel::ir {

// Of one run of the node; -1 when its record does not tell. A loop counts its regions once, a
// branch both of them. MYCEL_CHECK: the sizes are known.
int64_t flops(const Node& n);

}  // namespace mycel::ir
