// Rewrite: the walk that every pass shares. Nodes of the old graph are visited in order and copied,
// replaced or dropped; values are translated on the way.
#pragma once

#include <functional>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"

namespace mycel::passes {

class Rewrite {
 public:
  explicit Rewrite(const ir::Graph& g)
      : g_(g), out_(std::make_shared<ir::Graph>(g.name())), first_(g.size()) {
    size_t values = 0;
    for (const ir::Node& n : g.nodes()) {
      first_[n.id] = static_cast<uint32_t>(values);
      values += n.types.size();
    }
    map_.resize(values);
  }

  ir::Graph& out() { return *out_; }
  ir::Value translate(const ir::Value& v) const {
    if (!v) return {};
    const ir::Value& to = map_[first_[v.node->id] + v.index];
    MYCEL_CHECK(to, "a pass dropped a value that is still used");
    return to;
  }
  ir::ValueList operands(const ir::Node& n) const {
    ir::ValueList in;
    in.reserve(n.inputs.size());
    for (const ir::Value& v : n.inputs) in.push_back(translate(v));
    return in;
  }
  // `n` with other attributes.
  ir::Node* copy(const ir::Node& n, ir::Attrs attrs) {
    return copy(n, operands(n), std::move(attrs));
  }
  // With operands and attributes of the new graph.
  ir::Node* copy(const ir::Node& n, ir::ValueList in, ir::Attrs attrs) {
    ir::Node* to = out_->add_typed(*n.op, std::move(in), std::move(attrs), n.types, n.loc);
    replace(n, to);
    return to;
  }
  ir::Node* copy(const ir::Node& n) {
    if (!n.is_param()) return copy(n, operands(n), n.attrs);
    ir::Node* to = out_->add_param(n.types[0], n.name).node;
    replace(n, to);
    return to;
  }
  void replace(const ir::Node& n, ir::Node* by) {
    for (uint32_t i = 0; i < n.types.size(); ++i) map_[first_[n.id] + i] = by->out(i);
  }
  void replace(const ir::Node& n, const ir::ValueList& by) {
    MYCEL_CHECK(by.size() == n.types.size(), "{} values stand for {}", by.size(), n.types.size());
    for (size_t i = 0; i < by.size(); ++i) map_[first_[n.id] + i] = by[i];
  }
  void drop(const ir::Node&) {}  // values that nothing has replaced are gone
  std::shared_ptr<ir::Graph> finish() {
    std::vector<ir::Value> results;
    for (const ir::Value& v : g_.results()) results.push_back(translate(v));
    return finish_with(std::move(results));
  }
  // With other results, values of the new graph.
  std::shared_ptr<ir::Graph> finish_with(std::vector<ir::Value> results) {
    out_->set_results(std::move(results));
    return out_;
  }

 private:
  const ir::Graph& g_;
  std::shared_ptr<ir::Graph> out_;
  std::vector<uint32_t> first_;  // by node id: where its results are in map_
  std::vector<ir::Value> map_;   // a vector for each node would cost more than all else here
};

using Pass = std::function<std::shared_ptr<ir::Graph>(const ir::Graph&)>;

// Whether a node has regions that passes may look into: the body of a fused op is one kernel and is
// left as it is.
bool has_regions(const ir::Node& n);
// Whether a formula computes the node, element by element.
bool is_elementwise(const ir::Node& n);
// The same graph again: what a pass gives that finds nothing to do.
std::shared_ptr<ir::Graph> copy_of(const ir::Graph& g);
// A graph whose regions have gone through `pass`, those inside them only if the pass does it; a
// region that the pass leaves as it was stays the same object. `g` itself is not passed. Null when
// nothing changed.
std::shared_ptr<ir::Graph> rewrite_regions(const ir::Graph& g, const Pass& pass);
// pass(g) after the regions at every depth: how a pass of one level becomes a pass of all.
std::shared_ptr<ir::Graph> at_every_level(const ir::Graph& g, const Pass& pass);

}  // namespace mycel::passes
