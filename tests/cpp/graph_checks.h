// What every graph test asks: inputs for a graph, its results op by op, the passes by name, and
// that a pass is idempotent and keeps a graph sound and its results.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ir/graph.h"

namespace mycel::graph_checks {

struct NamedPass {
  const char* name;
  std::shared_ptr<ir::Graph> (*run)(const ir::Graph&);
};
std::span<const NamedPass> all_passes();  // "optimize", which is all of them, included
std::shared_ptr<ir::Graph> run_pass(const std::string& name, const ir::Graph& g);

Tensors inputs_for(const ir::Graph& g, uint64_t seed);

// The first difference between two lists of results, or "". `tolerance`: relative, of floats; 0
// asks for the same value (any NaN equals any other); infinity compares types only.
std::string differ(const Tensors& got, const Tensors& want, double tolerance);

// What is wrong with `pass` on `g`: unsound result, not idempotent, other results; or "".
std::string check_pass(const NamedPass& pass, const ir::Graph& g, uint64_t seed, double tolerance);

}  // namespace mycel::graph_checks
