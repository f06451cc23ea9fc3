// Scopes of nodes: the path of the cell that a node was recorded in, kept with its Loc. Programs
// have them only while somebody debugs (runtime/tap.h); elsewhere every scope is "".
#pragma once

#include <string>

#include "ir/graph.h"

namespace mycel::ir {

inline const std::string kGradientScope = "Gradients/";

// The same line of the user's program in a scope such as "Net/fc1".
Loc scoped_loc(Loc loc, const std::string& scope);
const std::string& loc_scope(Loc loc);
// For what a node's gradient rule adds: "Gradients/Net/fc1"; without a scope the loc itself.
Loc gradient_loc(Loc loc);

}  // namespace mycel::ir
