// An op of loops and the elementwise ops that its results go through as one nest: where the op's
// loops store an element, the others are computed in registers and what they give is stored. No
// memory lies between them.
#pragma once

#include <memory>
#include <vector>

#include "ir/graph.h"
#include "loops/nest.h"

namespace mycel::lite {

// Every op of loops with the elementwise node that alone reads its result becomes one `joined`
// node, where that can be built.
std::shared_ptr<ir::Graph> join_loops(const ir::Graph& g);

struct JoinedNest {
  loops::Nest nest;
  // Of each buffer of the nest but scratch: an operand of the node, kResult, or kNone (not read).
  static constexpr int kResult = -1, kNone = -2;
  std::vector<int> buffers;
};
// `node`: a joined one.
JoinedNest joined_nest(const ir::Node& node);

}  // namespace mycel::lite
