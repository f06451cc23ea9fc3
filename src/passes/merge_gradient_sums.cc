#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

// Ops that only move elements, each to one place: they may come after the addition.
bool moves_only(const ir::Value& v) {
  return v && v.node->op && v.node->inputs.size() == 1 &&
         (v.node->op->def.view || v.node->op->name == "transpose");
}

GraphOut merge_level(const ir::Graph& g) {
  std::vector<uint32_t> uses(g.size(), 0);
  for (const ir::Node& n : g.nodes()) {
    for (const ir::Value& v : n.inputs) {
      if (v) ++uses[v.node->id];
    }
  }
  for (const ir::Value& v : g.results()) ++uses[v.node->id];
  Rewrite r(g);
  // New nodes that move the sum of others, by their number: used as often as the old sum was.
  for (const ir::Node& n : g.nodes()) {
    bool add = n.op == ir::core_ops().add && !n.is_param() && n.inputs[0] && n.inputs[1];
    if (!add || uses[n.inputs[0].node->id] != 1 || uses[n.inputs[1].node->id] != 1) {
      r.copy(n);
      continue;
    }
    ir::ValueList in = r.operands(n);
    const ir::Value &a = in[0], &b = in[1];
    bool alike = moves_only(a) && moves_only(b) && a.node->op == b.node->op &&
                 a.node->attrs == b.node->attrs && a.type() == n.types[0] &&
                 b.type() == n.types[0] && a.node->inputs[0].type() == b.node->inputs[0].type();
    if (!alike) {
      r.copy(n);
      continue;
    }
    ir::Types inner{a.node->inputs[0].type()};
    ir::Node* sum = r.out().add_typed(*n.op, {a.node->inputs[0], b.node->inputs[0]}, n.attrs,
                                      std::move(inner), n.loc);
    r.replace(n, r.out().add_typed(*a.node->op, {sum->out()}, a.node->attrs, n.types, n.loc));
  }
  return r.finish();
}

}  // namespace

GraphOut merge_gradient_sums(const ir::Graph& g) { return at_every_level(g, merge_level); }

}  // namespace mycel::passes
