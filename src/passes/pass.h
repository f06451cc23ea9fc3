// Passes: graph in, graph out. Each is a pure function and idempotent; pipeline.cc is the contents
// page.
#pragma once

#include <memory>

#include "ir/graph.h"

namespace mycel::passes {

using GraphOut = std::shared_ptr<ir::Graph>;

// Replaces composite ops by what they are made of, until none is left.
GraphOut expand_composites(const ir::Graph& g);
// Drops nodes whose results nobody uses (side effects stay); parameters stay.
GraphOut eliminate_dead_code(const ir::Graph& g);
// Merges nodes of the same op, operands and attributes; random ops and side effects are left alone.
GraphOut merge_duplicates(const ir::Graph& g);
// Joins neighbouring elementwise ops of one shape into `fused` ops: one kernel, no memory between
// them.
GraphOut fuse_elementwise(const ir::Graph& g);

// What compiling a graph does to it, in order. MYCEL_DUMP=dir writes the graph after every pass.
GraphOut optimize(const ir::Graph& g);

}  // namespace mycel::passes
