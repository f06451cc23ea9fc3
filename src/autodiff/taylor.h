// Taylor mode, source to source: from a graph, the graph that carries a truncated power series for
// every value. With x(t) = x0 + x1 t + x2 t^2 + …, the coefficients of y(t) = f(x(t)) follow from
// what the op's gradient rule tells about its tangent T:
//   linear ops     y_k = T(x_k)
//   products       y_k = sum over i + j = k of M(a_i, b_j), M the mixed derivative
//   all others     y'(t) = T(x(t), y(t); x'(t)), so k y_k is coefficient k - 1 of the series of T
// T consists of ops, whose series are found in the same way; equal ones are computed once. An op
// costs O(order^2) ops where its tangent closes on itself (exp, tanh, division), O(order^3) where
// it does not: never 2^order, as nested forward mode would.
#pragma once

#include <memory>
#include <span>

#include "ir/graph.h"

namespace mycel::autodiff {

// Parameters: those of g, then coefficients 1 … order of each entry of `wrt` (positions of
// parameters). Results: those of g, then coefficients 1 … order of each differentiable result.
// UserError when a path goes through an op without a gradient.
std::shared_ptr<ir::Graph> jet_graph(const ir::Graph& g, std::span<const int> wrt, int order);

}  // namespace mycel::autodiff
