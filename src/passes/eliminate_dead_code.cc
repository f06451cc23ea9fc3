#include <algorithm>
#include <map>

#include "passes/control.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

// Which nodes of `g` matter when the results named in `wanted` do.
std::vector<bool> live_nodes(const ir::Graph& g, const std::vector<bool>& wanted) {
  std::vector<bool> live(g.size(), false);
  for (size_t i = 0; i < g.results().size(); ++i) {
    if (wanted[i]) live[g.results()[i].node->id] = true;
  }
  for (size_t i = g.size(); i-- > 0;) {
    const ir::Node& n = g.nodes()[i];
    if (n.op && n.op->def.side_effect) live[i] = true;
    if (!live[i]) continue;
    for (const ir::Value& v : n.inputs) {
      if (v) live[v.node->id] = true;
    }
  }
  return live;
}

// A region that may print or call out must run, whoever uses its results.
bool has_side_effects(const ir::Graph& g) {
  for (const ir::Node& n : g.nodes()) {
    if (n.is_param()) continue;
    if (n.op->def.side_effect) return true;
    if (!has_regions(n)) continue;
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      if (n.attrs[i].is<ir::GraphPtr>() && has_side_effects(*n.attrs[i].graph())) return true;
    }
  }
  return false;
}

// The region with only the parameters and results that are kept.
std::shared_ptr<ir::Graph> narrow(const ir::Graph& g, const std::vector<bool>& params,
                                  const std::vector<bool>& results) {
  auto live = live_nodes(g, results);
  Rewrite r(g);
  size_t param = 0;
  for (const ir::Node& n : g.nodes()) {
    bool keep = n.is_param() ? params[param++] : live[n.id];
    if (keep) {
      r.copy(n);
    } else {
      r.drop(n);
    }
  }
  std::vector<ir::Value> kept;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) kept.push_back(r.translate(g.results()[i]));
  }
  return r.finish_with(std::move(kept));
}

// What of a node with regions is used: its results, then the operands that they need.
struct Kept {
  std::vector<bool> operands, results;
  bool everything() const {
    auto kept = [](bool b) { return b; };
    return std::all_of(operands.begin(), operands.end(), kept) &&
           std::all_of(results.begin(), results.end(), kept);
  }
};

// Adds to `operands` those whose parameters the wanted results of the region need.
void need(const ir::Graph& region, const std::vector<bool>& wanted, std::vector<bool>& operands,
          size_t first) {
  auto live = live_nodes(region, wanted);
  for (size_t i = 0; i < region.params().size(); ++i) {
    if (live[region.params()[i].node->id]) operands[first + i] = true;
  }
}

Kept kept_of_cond(const ir::Node& n, const std::vector<bool>& used) {
  Kept k{std::vector<bool>(n.inputs.size(), false), used};
  k.operands[0] = true;
  need(region(n, 0), used, k.operands, 1);
  need(region(n, 1), used, k.operands, 1);
  return k;
}

// A carried value is kept when its result is used, the condition reads it, or another kept one
// needs it in the body.
Kept kept_of_while(const ir::Node& n, const std::vector<bool>& used) {
  std::vector<bool> carried = used;
  need(region(n, 0), {true}, carried, 0);
  for (std::vector<bool> before; before != carried;) {
    before = carried;
    need(region(n, 1), before, carried, 0);
  }
  return {carried, carried};
}

void copy_narrow(Rewrite& r, const ir::Node& n, const Kept& k) {
  ir::ValueList in, by;
  ir::Types types;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (k.operands[i]) in.push_back(r.translate(n.inputs[i]));
  }
  for (size_t i = 0; i < n.types.size(); ++i) {
    if (k.results[i]) types.push_back(n.types[i]);
  }
  std::vector<bool> params = k.operands;
  if (is_cond(n)) params.erase(params.begin());
  ir::Attrs attrs = n.attrs;
  if (is_cond(n)) {
    attrs.set(0, ir::Attr(ir::GraphPtr(narrow(region(n, 0), params, k.results))));
  } else {
    attrs.set(0, ir::Attr(ir::GraphPtr(narrow(region(n, 0), params, {true}))));
  }
  attrs.set(1, ir::Attr(ir::GraphPtr(narrow(region(n, 1), params, k.results))));
  ir::Node* made = r.out().add_typed(*n.op, std::move(in), attrs, std::move(types), n.loc);
  uint32_t next = 0;
  for (bool kept : k.results) by.push_back(kept ? made->out(next++) : ir::Value());
  r.replace(n, std::move(by));
}

GraphOut eliminate_level(const ir::Graph& g) {
  // From the last node backwards: what a node with regions needs depends on which of its results
  // are used, which is known once its users have been seen.
  std::vector<bool> live(g.size(), false);
  std::map<uint32_t, std::vector<bool>> used;  // results of conds and loops
  std::map<uint32_t, Kept> kept;               // where that is not everything
  auto use = [&](const ir::Value& v) {
    if (!v) return;
    live[v.node->id] = true;
    if (!is_cond(*v.node) && !is_while(*v.node)) return;
    auto& bits = used[v.node->id];
    if (bits.empty()) bits.resize(v.node->types.size(), false);
    bits[v.index] = true;
  };
  for (const ir::Value& v : g.results()) use(v);
  for (size_t i = g.size(); i-- > 0;) {
    const ir::Node& n = g.nodes()[i];
    bool regions = has_regions(n);
    if (n.op && n.op->def.side_effect) live[i] = true;
    for (size_t k = 0; regions && k < n.attrs.size(); ++k) {
      if (n.attrs[k].is<ir::GraphPtr>() && has_side_effects(*n.attrs[k].graph())) live[i] = true;
    }
    if (!live[i]) continue;
    if (!is_cond(n) && !is_while(n)) {
      for (const ir::Value& v : n.inputs) use(v);
      continue;
    }
    std::vector<bool>& bits = used[n.id];
    bits.resize(n.types.size(), false);
    Kept k = is_cond(n) ? kept_of_cond(n, bits) : kept_of_while(n, bits);
    for (size_t j = 0; j < n.inputs.size(); ++j) {
      if (k.operands[j]) use(n.inputs[j]);
    }
    if (!k.everything()) kept.emplace(n.id, std::move(k));
  }
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) {
    auto narrowed = kept.find(n.id);
    if (!live[n.id] && !n.is_param()) {
      r.drop(n);
    } else if (narrowed == kept.end()) {
      r.copy(n);
    } else {
      copy_narrow(r, n, narrowed->second);
    }
  }
  return r.finish();
}

}  // namespace

// From the outside in: a region is smaller once its unused results are gone. One that shrinks needs
// less of what is around it in turn.
GraphOut eliminate_dead_code(const ir::Graph& g) {
  GraphOut now = eliminate_level(g);
  while (GraphOut inner = rewrite_regions(*now, eliminate_dead_code)) now = eliminate_level(*inner);
  return now;
}

}  // namespace mycel::passes
