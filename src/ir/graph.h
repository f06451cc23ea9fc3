// Graph: a pure function in SSA form. Parameters, nodes in execution order, results; a node uses
// only values defined before it. Regions of control-flow ops are graphs too, closed: whatever they
// need comes in as a parameter. Graphs are built once and then shared as `GraphPtr` (const); passes
// make new ones.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

// Where in the user's program a node comes from: an interned "file:line in function"; 0 is unknown.
using Loc = uint32_t;
Loc intern_loc(const std::string& text);
const std::string& loc_text(Loc loc);

struct Node {
  Graph* graph = nullptr;
  const Op* op = nullptr;     // null for a parameter
  std::vector<Value> inputs;  // an absent optional input is an empty Value
  Attrs attrs;
  Types types;
  Loc loc = 0;
  uint32_t id = 0;   // position in the graph, dense
  std::string name;  // of a parameter: for texts and messages

  bool is_param() const { return op == nullptr; }
  Value out(uint32_t i = 0) { return {this, i}; }
  AttrsView view() const { return {*op, attrs}; }
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
  Node* add(const Op& op, std::vector<Value> inputs, Attrs attrs = {}, Loc loc = 0);
  // The same with types already known: for transforms that copy nodes.
  Node* add_typed(const Op& op, std::vector<Value> inputs, Attrs attrs, Types types, Loc loc);
  Value constant(const Tensor& t);
  // A 0-d constant of a number, in `dtype`.
  Value scalar(DType dtype, double value);
  void set_results(std::vector<Value> results) { results_ = std::move(results); }

  std::span<const Value> params() const { return params_; }
  std::span<const Value> results() const { return results_; }
  // All nodes, parameters included, in order.
  const std::deque<Node>& nodes() const { return nodes_; }
  std::deque<Node>& nodes() { return nodes_; }
  size_t size() const { return nodes_.size(); }

  // Readable text; parse(str()) gives an equal graph (ir/text.h).
  std::string str() const;

 private:
  std::string name_;
  std::deque<Node> nodes_;  // stable addresses
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
