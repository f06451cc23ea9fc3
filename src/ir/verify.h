// Checks that a graph is what every transform may assume: values defined before they are used and
// only inside their own graph, operands and attributes as the op's record says, result types equal
// to what the type rule infers, regions closed and sound themselves. Run on everything that comes
// from outside, and between passes when MYCEL_DEBUG=1 or in debug builds.
#pragma once

#include <string>

#include "ir/graph.h"

namespace mycel::ir {

// The first thing wrong, as "graph 'g', node 3 (add): …", or "".
std::string problem_of(const Graph& g);
// InternalError with the problem; `after` says which step made the graph. Nothing unless
// verifying() is on.
void verify_after(const char* after, const Graph& g);
// MYCEL_DEBUG=1, or a build with assertions.
bool verifying();

}  // namespace mycel::ir
