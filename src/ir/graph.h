// Graph: a pure function in SSA form. Parameters, nodes in execution order, results; a node uses
// only values defined before it. Regions of control-flow ops are graphs too, closed: whatever they
// need comes in as a parameter. Graphs are built once and then shared as `GraphPtr` (const); passes
// make new ones.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/small_vector.h"
#include "ir/attrs.h"
#include "ir/op.h"
#include "ir/type.h"

namespace mycel::ir {

struct Node;

// One result of a node. Two words, copied freely; lives as long as its graph.
struct Value {
  Node* node = nullptr;
  uint32_t index = 0;

  explicit operator bool() const { return node != nullptr; }
  bool same(const Value& o) const { return node == o.node && index == o.index; }
  const Type& type() const;
  DType dtype() const { return type().dtype; }
  const Shape& shape() const { return type().shape; }
  int rank() const { return type().shape.rank(); }
  Graph& graph() const;
};

using ValueList = SmallVector<Value, 3>;  // the operands of most nodes

// Where in the user's program a node comes from: an interned "file:line in function"; 0 is unknown.
using Loc = uint32_t;
Loc intern_loc(const std::string& text);
const std::string& loc_text(Loc loc);

struct Node {
  Graph* graph = nullptr;
  const Op* op = nullptr;  // null for a parameter
  ValueList inputs;        // an absent optional input is an empty Value
  Attrs attrs;
  Types types;
  Loc loc = 0;
  uint32_t id = 0;   // position in the graph, dense
  std::string name;  // of a parameter: for texts and messages

  bool is_param() const { return op == nullptr; }
  Value out(uint32_t i = 0) { return {this, i}; }
  AttrsView view() const { return {*op, attrs}; }
};

// Nodes in order. They lie in blocks and never move; the blocks of a large graph are large.
class NodeList {
 public:
  template <typename N>
  class Iterator {
   public:
    using value_type = N;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(Node* const* at) : at_(at) {}
    N& operator*() const { return **at_; }
    N* operator->() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    Node* const* at_ = nullptr;
  };

  NodeList() = default;
  NodeList(const NodeList&) = delete;
  NodeList& operator=(const NodeList&) = delete;

  size_t size() const { return order_.size(); }
  bool empty() const { return order_.empty(); }
  Node& operator[](size_t i) { return *order_[i]; }
  const Node& operator[](size_t i) const { return *order_[i]; }
  Node& back() { return *order_.back(); }
  const Node& back() const { return *order_.back(); }
  Iterator<Node> begin() { return Iterator<Node>(order_.data()); }
  Iterator<Node> end() { return Iterator<Node>(order_.data() + order_.size()); }
  Iterator<const Node> begin() const { return Iterator<const Node>(order_.data()); }
  Iterator<const Node> end() const { return Iterator<const Node>(order_.data() + order_.size()); }
  Node& add();

 private:
  std::vector<std::vector<Node>> blocks_;  // each filled up to its capacity
  std::vector<Node*> order_;
};

class Graph {
 public:
  explicit Graph(std::string name = "main") : name_(std::move(name)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  Value add_param(const Type& type, std::string name = {});
  // Completes attributes, promotes dtypes (inserting casts), infers types. UserError from the type
  // rule.
  Node* add(const Op& op, ValueList inputs, Attrs attrs = {}, Loc loc = 0);
  // The same with types already known: for transforms that copy nodes.
  Node* add_typed(const Op& op, ValueList inputs, Attrs attrs, Types types, Loc loc);
  Value constant(const Tensor& t);
  // A 0-d constant of a number, in `dtype`.
  Value scalar(DType dtype, double value);
  void set_results(std::vector<Value> results) { results_ = std::move(results); }

  std::span<const Value> params() const { return params_; }
  std::span<const Value> results() const { return results_; }
  // All nodes, parameters included, in order.
  const NodeList& nodes() const { return nodes_; }
  NodeList& nodes() { return nodes_; }
  size_t size() const { return nodes_.size(); }

  // Readable text; parse(str()) gives an equal graph (ir/text.h).
  std::string str() const;

 private:
  std::string name_;
  NodeList nodes_;
  std::vector<Value> params_;
  std::vector<Value> results_;
};

// Copies the nodes of `g` into `into`, parameters replaced by `args`; gives the values of its
// results. When `mapping` is given it receives, per node id of `g`, the node that stands for it.
std::vector<Value> inline_graph(const Graph& g, Graph& into, std::span<const Value> args,
                                std::vector<Node*>* mapping = nullptr);

// Runs the type rule: types of the results of `op` on inputs of these types. UserError when they
// are not acceptable. Optional absent inputs are passed as null.
Types infer_types(const Op& op, std::span<const Type* const> inputs, const Attrs& attrs);

}  // namespace mycel::ir
