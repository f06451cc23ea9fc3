// Rewrite: the walk that every pass shares. Nodes of the old graph are visited in order and copied,
// replaced or dropped; values are translated on the way.
#pragma once

#include <vector>

#include "base/error.h"
#include "ir/graph.h"

namespace mycel::passes {

class Rewrite {
 public:
  explicit Rewrite(const ir::Graph& g)
      : g_(g), out_(std::make_shared<ir::Graph>(g.name())), map_(g.size()) {}

  ir::Graph& out() { return *out_; }
  ir::Value translate(const ir::Value& v) const {
    if (!v) return {};
    const ir::Value& to = map_[v.node->id][v.index];
    MYCEL_CHECK(to, "a pass dropped a value that is still used");
    return to;
  }
  std::vector<ir::Value> operands(const ir::Node& n) const {
    std::vector<ir::Value> in;
    in.reserve(n.inputs.size());
    for (const ir::Value& v : n.inputs) in.push_back(translate(v));
    return in;
  }
  ir::Node* copy(const ir::Node& n) {
    ir::Node* to = n.is_param() ? out_->add_param(n.types[0], n.name).node
                                : out_->add_typed(*n.op, operands(n), n.attrs, n.types, n.loc);
    replace(n, to);
    return to;
  }
  void replace(const ir::Node& n, ir::Node* by) {
    std::vector<ir::Value> values;
    for (uint32_t i = 0; i < n.types.size(); ++i) values.push_back(by->out(i));
    replace(n, std::move(values));
  }
  void replace(const ir::Node& n, std::vector<ir::Value> by) { map_[n.id] = std::move(by); }
  void drop(const ir::Node& n) { map_[n.id].assign(n.types.size(), {}); }
  std::shared_ptr<ir::Graph> finish() {
    std::vector<ir::Value> results;
    for (const ir::Value& v : g_.results()) results.push_back(translate(v));
    out_->set_results(std::move(results));
    return out_;
  }

 private:
  const ir::Graph& g_;
  std::shared_ptr<ir::Graph> out_;
  std::vector<std::vector<ir::Value>> map_;  // by node id, then result
};

}  // namespace mycel::passes
