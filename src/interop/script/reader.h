// Reader: the questions that patterns ask of a recovered graph, and the claims they lay on nodes.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "interop/script/recovered.h"
#include "interop/script/unit.h"

namespace mycel::interop::script {

using ir::Node;
using ir::Value;

class Reader {
 public:
  explicit Reader(const Recovered& from);

  const Recovered& from;
  const ir::Graph& graph() const { return from.graph(); }

  ValueId id(const Value& v) const { return static_cast<ValueId>(first_[v.node->id] + v.index); }
  ValueId values() const { return values_; }
  bool live(const Node& n) const { return live_[n.id]; }
  bool is_input(const Node& n) const { return n.is_param() && n.id < from.source.inputs.size(); }

  // Follows from weights and constants alone, and its weights are nobody else's.
  bool folded(const Value& v) const { return v && folded_[v.node->id]; }
  Tensor tensor(const Value& v) const;
  // Of a folded value: the weights that it follows from, by position.
  const std::set<int>& weights_of(const Value& v) const { return weights_[v.node->id]; }
  bool is_weight(const Value& v) const { return folded(v) && !weights_of(v).empty(); }
  bool statistic(const Value& v) const;
  // The number that every element of a constant is.
  std::optional<double> number(const Value& v) const;
  bool is_number(const Value& v, double want, double tolerance = 1e-4) const;
  // A constant of rank 0, or with one element and no more dims than the other operand.
  bool is_scalar(const Value& v) const {
    return folded(v) && weights_of(v).empty() && tensor(v).size() == 1;
  }

  int uses(const Value& v) const { return uses_[static_cast<size_t>(id(v))]; }
  // The node when it gives `v`, is of this op, not claimed, and nobody else reads v.
  const Node* inner(const Value& v, const char* op) const;
  const Node* maker(const Value& v, const char* op) const;  // others may read v

  const Origin* origin(const Node& n) const;
  // Modules of the file that the node belongs to; `weight`: where the layer's parameter lies.
  Path path(const Node& n, const Value& weight = {}) const;
  std::string title(const Node& n) const;

  void claim(const Node& n) { claimed_[n.id] = true; }
  bool claimed(const Node& n) const { return claimed_[n.id]; }
  // Whether an attribute of the node follows from an open extent.
  bool depends(const Node& n) const;

 private:
  void find_live();
  void find_folded();

  std::vector<size_t> first_;
  ValueId values_ = 0;
  std::vector<bool> live_, folded_, claimed_;
  std::vector<std::set<int>> weights_;
  std::vector<int> uses_;
  std::vector<int> origin_of_;
};

// "layer1.0.conv1.weight" -> layer1, 0, conv1; empty for names that tell nothing.
Path path_of_weight(const std::string& name);
// What comes last in it: "weight".
std::string last_of_weight(const std::string& name);

}  // namespace mycel::interop::script
