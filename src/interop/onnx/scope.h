// Scope: the values of one graph that is being run, by name. A region sees the names of the graphs
// around it; a function sees only its own inputs and the attributes of the node that calls it.
#pragma once

#include <string>
#include <unordered_map>

#include "interop/onnx/call.h"

namespace mycel::interop::onnx {

class File;

// Told of each node of the outermost graph, before and after it runs.
class NodeWatch {
 public:
  virtual ~NodeWatch() = default;
  virtual void begin(const Call& c) = 0;
  virtual void end(const Call& c, const Values& results) = 0;
};

class Scope {
 public:
  explicit Scope(const File& f, Scope* around = nullptr) : file(f), around_(around) {
    if (!around) return;
    calling = around->calling;
    function = around->function;
    depth = around->depth + 1;
    abstract = around->abstract;
    witness = around->witness;
  }

  const File& file;
  const Call* calling = nullptr;           // the node whose function this is
  const pb::Function* function = nullptr;  // the function this belongs to
  int depth = 0;
  NodeWatch* watch = nullptr;
  bool abstract = false;  // a graph is being traced: values need not be known

  Tensor witness;  // then: a tensor of that graph

  void set(const std::string& name, Value v) { values_[name] = std::move(v); }
  bool holds(const std::string& name) const { return values_.count(name) > 0; }
  const Value* find(const std::string& name) const {
    for (const Scope* s = this; s; s = s->around_) {
      if (auto it = s->values_.find(name); it != s->values_.end()) return &it->second;
    }
    return nullptr;
  }

 private:
  Scope* around_;
  std::unordered_map<std::string, Value> values_;
};

// Runs the nodes of `g` in a scope that holds its inputs; gives its outputs.
Values run_nodes(const pb::Graph& g, Scope& scope);
// The same in a scope of its own inside `around`, with the graph's inputs set to `inputs`.
Values run_region(const pb::Graph& g, Scope& around, const Values& inputs);

}  // namespace mycel::interop::onnx
