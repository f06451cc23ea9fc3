// vmap as a graph transform: a graph for one example becomes a graph for a batch of them, node by
// node. A batched value has the batch as its first axis (a batched stack: each of its elements).
// Rules, in this order: the op's own (OpDef::batch); what its formula and sharding line tell; else
// a compiled loop that runs the op once per example. Loops whose condition differs between examples
// go on while it holds for any, and examples that are done keep their values; branches are both
// computed, and each example takes its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace mycel::autodiff {

struct Batch {
  std::shared_ptr<ir::Graph> graph;
  std::vector<bool> results;        // which results are batched
  std::vector<std::string> looped;  // ops that run once per example, regions included
};

// `params`: which parameters of g become batched; `size`: examples in the batch, known.
Batch batch_graph(const ir::Graph& g, const std::vector<bool>& params, int64_t size);

}  // namespace mycel::autodiff
