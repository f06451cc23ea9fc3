// Forward-mode differentiation, source to source. The tangent of a node is found by transposing its
// own gradient rule: the rule is linear in what arrives, so its gradient is the way forward, and
// what belonged to the arriving values alone is dead. Loops and branches carry tangents beside
// their values: memory does not grow with iterations. The result is an ordinary graph.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace mycel::autodiff {

struct Tangents {
  // Parameters: the residuals, then one tangent per entry of `wrt`. Results: one tangent per
  // differentiable result of the forward graph, zeros where nothing flows.
  std::shared_ptr<ir::Graph> graph;
  std::vector<ir::Value> residuals;  // values of the forward graph that the tangents read
};

// For a graph that has run already. `wrt`: differentiable values of g. UserError when a path from
// one of them to a result goes through an op without a gradient.
Tangents tangents(const ir::Graph& g, std::span<const ir::Value> wrt);

// g(params) -> results and tangents in one graph. Parameters: those of g, then one tangent per
// entry of `wrt` (positions of parameters). Results: those of g, then one tangent per
// differentiable result.
std::shared_ptr<ir::Graph> jvp_graph(const ir::Graph& g, std::span<const int> wrt);

}  // namespace mycel::autodiff
