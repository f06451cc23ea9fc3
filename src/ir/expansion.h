// Expansion: what the rule of a composite op sees: its operands as values of the graph that it
// expands into. The rule emits other ops and names the results.
#pragma once

#include "ir/graph.h"

namespace mycel::ir {

class Expansion {
 public:
  Expansion(Graph& g, const Op& o, std::vector<Value> inputs, const Attrs& a)
      : graph(g), op(o), attrs(o, a), inputs_(std::move(inputs)) {}

  Graph& graph;
  const Op& op;
  AttrsView attrs;
  std::vector<Value> results;

  int inputs() const { return static_cast<int>(inputs_.size()); }
  bool has(int i) const { return i < inputs() && inputs_[i]; }
  Value x(int i) const { return inputs_[i]; }
  Value scalar(DType d, double v) { return graph.scalar(d, v); }
  void result(Value v) { results.push_back(v); }

 private:
  std::vector<Value> inputs_;
};

// Expands one composite op into `g`.
std::vector<Value> expand(Graph& g, const Op& op, std::vector<Value> inputs, const Attrs& attrs);

}  // namespace mycel::ir
