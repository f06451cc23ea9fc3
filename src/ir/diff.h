// What differs between two graphs, for people: nodes removed, added and changed, regions and called
// functions included. Nodes are matched by what they compute, then by their op, attributes and
// types in order, so that a change is reported where it is made and not at everything behind it.
// Names of graphs, source locations and the order of independent nodes do not count.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace mycel::ir {

struct DiffLine {
  char mark = ' ';   // '-' only in the first, '+' only in the second, '~' changed, ' ' where it is
  std::string text;  // indented by region
};

// No lines: the graphs are the same.
std::vector<DiffLine> diff(const Graph& a, const Graph& b);

}  // namespace mycel::ir
