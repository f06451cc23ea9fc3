#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

constexpr size_t kMaxGroup = 64;  // nodes; beyond that a kernel spills registers

bool elementwise(const ir::Node& n) { return is_elementwise(n) && n.types[0].shape.known(); }

// A cast that the program wrote to lose digits: inside a kernel a 16-bit float keeps those of
// float32, so it is the last of its group, whose value is stored. So is the end of a quantization:
// what makes its sums can then store bytes.
bool rounds(const ir::Node& n) {
  if (n.op->name == "round_saturate") return true;
  return n.op == ir::core_ops().cast && size_of(n.types[0].dtype) == 2 &&
         is_float(n.types[0].dtype) && size_of(n.inputs[0].dtype()) > 2;
}

// Grows groups from the last node backwards. A producer joins the group of its consumers when every
// use of it is in that group or is a result of the graph: nothing outside can then wait for it, so
// that the group can run as one where its last member stood.
class Grouping {
 public:
  explicit Grouping(const ir::Graph& g) : g_(g), group_(g.size(), -1), users_(g.size(), kNobody) {
    for (size_t i = g.size(); i-- > 0;) {
      const ir::Node& n = g.nodes()[i];
      place(n);
      for (const ir::Value& v : n.inputs) {
        if (v) note_user(users_[v.node->id], group_[n.id]);
      }
    }
  }

  // Members of each group of two or more, in order of execution; keyed by the last member.
  std::map<uint32_t, std::vector<const ir::Node*>> groups() const {
    std::map<uint32_t, std::vector<const ir::Node*>> out;
    for (const auto& members : members_) {
      if (members.size() < 2) continue;
      std::vector<const ir::Node*> sorted;
      for (uint32_t id : members) sorted.push_back(&g_.nodes()[id]);
      std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->id < b->id; });
      uint32_t last = sorted.back()->id;
      out.emplace(last, std::move(sorted));
    }
    return out;
  }

 private:
  static constexpr int kNobody = -2, kSeveral = -1;  // -1 is also the group of ungrouped nodes

  static void note_user(int& users, int group) {
    users = users == kNobody || users == group ? group : kSeveral;
  }

  void place(const ir::Node& n) {
    if (!elementwise(n)) return;
    int target = rounds(n) ? -1 : users_[n.id];
    if (target >= 0) {
      const ir::Node& root = g_.nodes()[members_[target][0]];
      if (!(root.types[0].shape == n.types[0].shape) || members_[target].size() >= kMaxGroup)
        target = -1;
    }
    if (target < 0) {  // nobody, or users that are not of one group
      target = static_cast<int>(members_.size());
      members_.emplace_back();
    }
    group_[n.id] = target;
    members_[target].push_back(n.id);
  }

  const ir::Graph& g_;
  std::vector<int> group_;
  std::vector<int> users_;  // the group of all users of a node so far
  std::vector<std::vector<uint32_t>> members_;
};

// The body of a fused op, and what it reads and gives in terms of the old graph.
struct Body {
  std::shared_ptr<ir::Graph> graph;
  std::vector<ir::Value> reads, gives;
};

// Values of a graph that are results of it.
using ResultSet = std::set<std::pair<uint32_t, uint32_t>>;  // node id, index

Body make_body(const ResultSet& graph_results, const std::vector<const ir::Node*>& members) {
  Body b{std::make_shared<ir::Graph>("fused"), {}, {}};
  std::map<std::pair<uint32_t, uint32_t>, ir::Value> inside;
  for (const ir::Node* n : members) {
    for (const ir::Value& v : n->inputs) {
      bool internal =
          std::any_of(members.begin(), members.end(), [&](auto* m) { return m == v.node; });
      auto key = std::pair(v.node->id, v.index);
      if (internal || inside.count(key)) continue;
      inside[key] = b.graph->add_param(v.type());
      b.reads.push_back(v);
    }
  }
  for (const ir::Node* n : members) {
    ir::ValueList in;
    for (const ir::Value& v : n->inputs) in.push_back(inside.at({v.node->id, v.index}));
    ir::Node* copy = b.graph->add_typed(*n->op, std::move(in), n->attrs, n->types, n->loc);
    for (uint32_t j = 0; j < n->types.size(); ++j) inside[{n->id, j}] = copy->out(j);
  }
  auto leaves = [&](const ir::Value& v) {
    return v.node == members.back() || graph_results.count({v.node->id, v.index}) > 0;
  };
  std::vector<ir::Value> results;
  for (const ir::Node* n : members) {
    for (uint32_t j = 0; j < n->types.size(); ++j) {
      ir::Value v{const_cast<ir::Node*>(n), j};
      if (!leaves(v)) continue;
      b.gives.push_back(v);
      results.push_back(inside.at({n->id, j}));
    }
  }
  b.graph->set_results(std::move(results));
  return b;
}

GraphOut fuse_level(const ir::Graph& g) {
  auto groups = Grouping(g).groups();
  std::vector<bool> grouped(g.size(), false);
  for (auto& [last, members] : groups) {
    for (const ir::Node* n : members) grouped[n->id] = true;
  }
  ResultSet graph_results;
  for (const ir::Value& v : g.results()) graph_results.emplace(v.node->id, v.index);
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) {
    if (!grouped[n.id]) {
      r.copy(n);
      continue;
    }
    auto it = groups.find(n.id);
    if (it == groups.end()) {
      r.drop(n);
      continue;
    }
    Body b = make_body(graph_results, it->second);
    ir::ValueList in;
    ir::Types types;
    for (const ir::Value& v : b.reads) in.push_back(r.translate(v));
    for (const ir::Value& v : b.gives) types.push_back(v.type());
    ir::Node* fused = r.out().add_typed(*ir::core_ops().fused, std::move(in),
                                        {ir::Attr(ir::GraphPtr(b.graph))}, std::move(types), n.loc);
    for (const ir::Node* m : it->second) {
      ir::ValueList by(m->types.size());
      for (size_t k = 0; k < b.gives.size(); ++k) {
        if (b.gives[k].node == m) by[b.gives[k].index] = fused->out(static_cast<uint32_t>(k));
      }
      r.replace(*m, std::move(by));
    }
  }
  return r.finish();
}

}  // namespace

GraphOut fuse_elementwise(const ir::Graph& g) { return at_every_level(g, fuse_level); }

}  // namespace mycel::passes
