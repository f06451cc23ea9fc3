#include "ir/activity.h"

namespace mycel::ir {

std::vector<bool> reached(const Graph& g, const std::vector<bool>& params) {
  std::vector<bool> node(g.size(), false);
  for (size_t i = 0; i < params.size(); ++i) node[g.params()[i].node->id] = params[i];
  for (const Node& n : g.nodes()) {
    for (const Value& v : n.inputs) {
      if (v && node[v.node->id] && differentiable(v.type())) node[n.id] = true;
    }
  }
  std::vector<bool> out;
  for (const Value& v : g.results()) out.push_back(node[v.node->id] && differentiable(v.type()));
  return out;
}

}  // namespace mycel::ir
