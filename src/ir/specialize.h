// A graph with unknown dims, made for inputs whose shapes are known: every type is inferred again,
// inside regions too, so that a plan can choose kernels and place buffers.
#pragma once

#include <memory>
#include <span>

#include "ir/graph.h"

namespace mycel::ir {

// `shapes`: of the first parameters; the others keep theirs. UserError from a type rule that cannot
// take them.
std::shared_ptr<Graph> specialize(const Graph& g, std::span<const Shape> shapes);

}  // namespace mycel::ir
