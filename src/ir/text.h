// The readable form of a graph, and its parser: parse(g.str()) is structurally equal to g.
//
//   graph main(%0: float32[2, 3] "x", %1: float32[3]) {
//     %2 = add(%0, %1) : float32[2, 3] @"net.py:41 in construct"
//     %3, %4 = split(%2) {axis=0, parts=2} : float32[1, 3], float32[1, 3]
//     return %3
//   }
//
// Attributes equal to their default are left out. A region stands where its attribute's value
// would; "_" is an absent optional operand. A function that is called is written @name; its types
// and body follow the graph:
//
//   @power(float32[], int32[]) -> float32[] = graph power(%0: float32[], %1: int32[]) { … }
#pragma once

#include <memory>
#include <string>

#include "ir/graph.h"

namespace mycel::ir {

std::string text_of(const Graph& g);

// UserError(kValue) with line and column for a text that is not a graph; type rules are applied, so
// a graph that parses is well typed.
std::shared_ptr<Graph> parse(const std::string& text);

}  // namespace mycel::ir
