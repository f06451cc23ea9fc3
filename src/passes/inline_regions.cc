#include "ir/structural.h"
#include "passes/control.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

bool same_types(const ir::Node& n, const std::vector<ir::Value>& by) {
  for (size_t i = 0; i < by.size(); ++i) {
    if (!(by[i].type() == n.types[i])) return false;
  }
  return true;
}

// The region that runs whatever happens, or null.
const ir::Graph* taken(const ir::Node& n, const ir::Value& predicate) {
  if (auto known = uniform(predicate)) return &region(n, *known != 0 ? 0 : 1);
  return ir::structurally_equal(region(n, 0), region(n, 1)) ? &region(n, 0) : nullptr;
}

// Results of a branch may be typed closer than the cond, which covers both: then it stays.
bool fits(const ir::Node& n, const ir::Graph& branch) {
  for (size_t i = 0; i < n.types.size(); ++i) {
    if (!(branch.results()[i].type() == n.types[i])) return false;
  }
  for (size_t i = 0; i < branch.params().size(); ++i) {
    if (!(branch.params()[i].type() == n.inputs[i + 1].type())) return false;
  }
  return true;
}

bool never_begins(const ir::Node& n) {
  auto known = uniform(region(n, 0).results()[0]);
  return known && *known == 0;
}

// Copies the nodes of `g` into `out`, branches that are taken in place of their cond; what comes in
// may decide conds inside them in turn.
std::vector<ir::Value> place(const ir::Graph& g, ir::Graph& out, std::span<const ir::Value> args);

std::vector<ir::Value> place_node(const ir::Node& n, std::vector<ir::Value> in, ir::Graph& out) {
  if (is_cond(n)) {
    const ir::Graph* branch = taken(n, in[0]);
    if (branch && fits(n, *branch)) return place(*branch, out, std::span(in).subspan(1));
  }
  if (is_while(n) && never_begins(n) && same_types(n, in)) return in;
  ir::Node* made = out.add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc);
  std::vector<ir::Value> values;
  for (uint32_t j = 0; j < n.types.size(); ++j) values.push_back(made->out(j));
  return values;
}

std::vector<ir::Value> place(const ir::Graph& g, ir::Graph& out, std::span<const ir::Value> args) {
  std::vector<std::vector<ir::Value>> map(g.size());
  auto translate = [&](const ir::Value& v) { return v ? map[v.node->id][v.index] : ir::Value(); };
  for (size_t i = 0; i < args.size(); ++i) map[g.params()[i].node->id] = {args[i]};
  for (const ir::Node& n : g.nodes()) {
    if (n.is_param()) continue;
    std::vector<ir::Value> in;
    for (const ir::Value& v : n.inputs) in.push_back(translate(v));
    map[n.id] = place_node(n, std::move(in), out);
  }
  std::vector<ir::Value> results;
  for (const ir::Value& v : g.results()) results.push_back(translate(v));
  return results;
}

GraphOut inline_level(const ir::Graph& g) {
  auto out = std::make_shared<ir::Graph>(g.name());
  std::vector<ir::Value> params;
  for (const ir::Value& p : g.params()) params.push_back(out->add_param(p.type(), p.node->name));
  out->set_results(place(g, *out, params));
  return out;
}

}  // namespace

GraphOut inline_regions(const ir::Graph& g) { return at_every_level(g, inline_level); }

}  // namespace mycel::passes
