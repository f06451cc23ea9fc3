// The one way to run an op. `call` promotes dtypes, records when a transform watches, infers types
// of abstract operands, and otherwise runs the best kernel, found in a per-thread cache keyed by
// op, types and attributes. Every front end (C++, Python, graph execution) comes through here.
#pragma once

#include <span>

#include "ir/graph.h"
#include "tensor/tensor.h"

namespace mycel::runtime {

// `attrs` may be incomplete (defaults follow). An absent optional operand is an empty Tensor.
// UserError names op, operands and what is allowed.
Tensors call(const ir::Op& op, std::span<const Tensor> inputs, const ir::Attrs& attrs = {});
// For ops with one result; the fast path.
Tensor call1(const ir::Op& op, std::span<const Tensor> inputs, const ir::Attrs& attrs = {});
inline Tensor call1(const ir::Op& op, std::initializer_list<Tensor> inputs,
                    const ir::Attrs& attrs = {}) {
  return call1(op, std::span<const Tensor>(inputs.begin(), inputs.size()), attrs);
}

// Runs a graph op by op through `call` (so that it can be recorded again), freeing values after
// last use.
Tensors run_graph(const ir::Graph& g, std::span<const Tensor> args);

struct DispatchStats {
  size_t signatures = 0;  // entries in this thread's cache
  size_t hits = 0, misses = 0;
};
DispatchStats dispatch_stats();
void clear_dispatch_cache();

}  // namespace mycel::runtime
