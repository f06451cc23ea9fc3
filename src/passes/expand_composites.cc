#include "ir/expansion.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {

namespace {

GraphOut expand_level(const ir::Graph& g) {
  bool any = false;
  for (const ir::Node& n : g.nodes()) any |= n.op && n.op->def.composite();
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) {
    if (!n.op || !n.op->def.composite()) {
      r.copy(n);
      continue;
    }
    size_t before = r.out().size();
    ir::ValueList in = r.operands(n);
    r.replace(n, ir::expand(r.out(), *n.op, {in.begin(), in.end()}, n.attrs));
    for (size_t i = before; i < r.out().size(); ++i) r.out().nodes()[i].loc = n.loc;
  }
  GraphOut done = r.finish();
  return any ? expand_level(*done) : done;  // an expansion may itself use composites
}

}  // namespace

GraphOut expand_composites(const ir::Graph& g) { return at_every_level(g, expand_level); }

}  // namespace mycel::passes
