// How passes know control flow: a cond takes (predicate, operands…) with regions then and otherwise
// on the operands; a while_loop carries its operands through regions condition and body.
#pragma once

#include "ir/graph.h"

namespace mycel::passes {

inline bool is_cond(const ir::Node& n) { return n.op && n.op->name == "cond"; }
inline bool is_while(const ir::Node& n) { return n.op && n.op->name == "while_loop"; }
inline const ir::Graph& region(const ir::Node& n, size_t i) { return *n.attrs[i].graph(); }

}  // namespace mycel::passes
