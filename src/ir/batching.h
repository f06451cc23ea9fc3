// Batching: what a batching rule sees when vmap maps one node. Operands are values of the new
// graph; a batched one has the batch as its first axis. The rule emits ops on whole batches and
// names the results, all batched. It gives false, having emitted nothing of use, for a case that
// it does not cover; the op then runs once per example.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace mycel::ir {

class Batching {
 public:
  Batching(Graph& g, const Node& n, std::vector<Value> x, std::vector<bool> batched, int64_t size)
      : graph(g),
        node(n),
        attrs(n.view()),
        size(size),
        x_(std::move(x)),
        batched_(std::move(batched)) {}

  Graph& graph;
  const Node& node;
  AttrsView attrs;
  const int64_t size;  // of the batch
  std::vector<Value> results;

  int inputs() const { return static_cast<int>(x_.size()); }
  bool has(int i) const { return i < inputs() && x_[i]; }
  bool batched(int i) const { return has(i) && batched_[i]; }
  Value x(int i) const { return x_[i]; }
  // Shape of one example of operand i, of result j.
  const Shape& shape(int i) const { return node.inputs[i].shape(); }
  const Shape& out_shape(int j = 0) const { return node.types[j].shape; }
  // Operand i with the batch axis in any case.
  Value spread(int i);
  // Operand i as [size, 1…, its dims] of this rank without the batch; an unbatched one as it is.
  Value aligned(int i, int rank);
  Shape with_batch(const Shape& s) const;

  Value emit(const Op& op, std::vector<Value> in, Attrs attrs = {}) {
    return graph.add(op, std::move(in), std::move(attrs), node.loc)->out();
  }
  Value reshape(Value v, const Shape& s);
  // The same op on these operands; its results are the batched ones.
  bool same(std::vector<Value> in, Attrs attrs);
  // The attribute at `name` replaced.
  Attrs replaced(std::string_view name, Attr value) const;
  bool give(Value v) {
    results.push_back(v);
    return true;
  }

 private:
  std::vector<Value> x_;
  std::vector<bool> batched_;
};

}  // namespace mycel::ir
