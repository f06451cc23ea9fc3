// Random typed programs, the same for the same seed: elementwise ops, reductions, shape work,
// products, constants, any op of the records on operands of its cases (random_ops.h), and cond and
// while_loop with regions made in the same way.
#pragma once

#include <memory>

#include "ir/graph.h"

namespace mycel::graph_checks {

// About `nodes` nodes outside regions. 16-bit floats: their results depend on what is fused
// (passes/pass.h), so that a comparison in the program may go either way.
std::shared_ptr<ir::Graph> random_graph(uint64_t seed, int nodes, bool with_16_bit = false);

}  // namespace mycel::graph_checks
