#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {

GraphOut eliminate_dead_code(const ir::Graph& g) {
  std::vector<bool> live(g.size(), false);
  for (const ir::Value& v : g.results()) live[v.node->id] = true;
  for (size_t i = g.size(); i-- > 0;) {
    const ir::Node& n = g.nodes()[i];
    if (n.op && n.op->def.side_effect) live[i] = true;
    if (!live[i]) continue;
    for (const ir::Value& v : n.inputs) {
      if (v) live[v.node->id] = true;
    }
  }
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) {
    if (live[n.id] || n.is_param()) {
      r.copy(n);
    } else {
      r.drop(n);
    }
  }
  return r.finish();
}

}  // namespace mycel::passes
