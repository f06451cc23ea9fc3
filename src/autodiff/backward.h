// Reverse-mode differentiation, source to source: from a graph, the graph of its vector-Jacobian
// product. Knows OpDef, never an op's name. The result is an ordinary graph, so it can be
// differentiated again.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace mycel::autodiff {

struct Backward {
  // Parameters: the residuals, then one gradient per differentiable result (see `seeded`).
  // Results: one gradient per entry of `wrt`, zeros where nothing flows.
  std::shared_ptr<ir::Graph> graph;
  std::vector<ir::Value> residuals;  // values of the forward graph that the backward graph reads
  std::vector<bool> seeded;          // per result of the forward graph: does it take a gradient
};

// `wrt`: values of g (usually parameters) to differentiate with respect to. UserError when a path
// from one of them to a result goes through an op without a gradient, naming the op and its reason.
Backward backward(const ir::Graph& g, std::span<const ir::Value> wrt);

// g(params) -> (results…, gradients of sum over results with seeds appended as parameters …):
// forward and backward in one graph. Parameters: those of g, then one seed per differentiable
// result.
std::shared_ptr<ir::Graph> vjp_graph(const ir::Graph& g, std::span<const int> wrt_params);

// The gradient of a late-bound function with respect to the arguments in `wrt`: (arguments…, one
// seed per differentiable result…) -> gradients. Made once per function and `wrt`.
ir::FunctionPtr gradient_of(const ir::FunctionPtr& f, const std::vector<int>& wrt);

}  // namespace mycel::autodiff
