#include "ir/expansion.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {

namespace {

using Wanted = bool (*)(const ir::Op&);

GraphOut expand_level(const ir::Graph& g, Wanted wanted) {
  auto expands = [&](const ir::Node& n) { return n.op && n.op->def.composite() && wanted(*n.op); };
  bool any = false;
  for (const ir::Node& n : g.nodes()) any |= expands(n);
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) {
    if (!expands(n)) {
      r.copy(n);
      continue;
    }
    size_t before = r.out().size();
    ir::ValueList in = r.operands(n);
    r.replace(n, ir::expand(r.out(), *n.op, {in.begin(), in.end()}, n.attrs));
    for (size_t i = before; i < r.out().size(); ++i) {
      ir::Loc& loc = r.out().nodes()[i].loc;
      if (!loc) loc = n.loc;  // what was joined knows its own line
    }
  }
  GraphOut done = r.finish();
  return any ? expand_level(*done, wanted) : done;  // an expansion may itself use composites
}

GraphOut expand_all(const ir::Graph& g) {
  return expand_level(g, [](const ir::Op&) { return true; });
}

// The attention ops, which fuse_attention makes, have kernels in the backend.
bool has_kernel(const ir::Op& op) {
  return op.def.loops || op.name == "attention" || op.name == "attention_grad";
}

GraphOut expand_unless_kernel(const ir::Graph& g) {
  return expand_level(g, [](const ir::Op& op) { return !has_kernel(op); });
}

GraphOut expand_unless_loops(const ir::Graph& g) {
  return expand_level(g, [](const ir::Op& op) { return !op.def.loops; });
}

}  // namespace

GraphOut expand_composites(const ir::Graph& g) { return at_every_level(g, expand_all); }

GraphOut expand_to_kernels(const ir::Graph& g) { return at_every_level(g, expand_unless_kernel); }

GraphOut expand_to_loops(const ir::Graph& g) { return at_every_level(g, expand_unless_loops); }

}  // namespace mycel::passes
