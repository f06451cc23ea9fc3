#include "passes/rewrite.h"

#include "ir/core_ops.h"
#include "ir/structural.h"

namespace mycel::passes {

bool has_regions(const ir::Node& n) {
  const ir::CoreOps& core = ir::core_ops();
  if (n.is_param() || n.op == core.fused || n.op == core.joined) return false;
  for (size_t i = 0; i < n.attrs.size(); ++i) {
    if (n.attrs[i].is<ir::GraphPtr>()) return true;
  }
  return false;
}

bool is_elementwise(const ir::Node& n) {
  return !n.is_param() && n.op->def.scalar.set() && !n.op->def.loops;
}

std::shared_ptr<ir::Graph> copy_of(const ir::Graph& g) {
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) r.copy(n);
  return r.finish();
}

namespace {

// The attributes with every region passed; false when all stay as they were.
bool pass_regions(const ir::Node& n, const Pass& pass, ir::Attrs* attrs) {
  bool changed = false;
  for (size_t i = 0; i < n.attrs.size(); ++i) {
    if (!n.attrs[i].is<ir::GraphPtr>()) continue;
    const ir::GraphPtr& before = n.attrs[i].graph();
    ir::GraphPtr after = pass(*before);
    if (ir::structurally_equal(*before, *after)) continue;
    attrs->set(i, ir::Attr(after));
    changed = true;
  }
  return changed;
}

}  // namespace

std::shared_ptr<ir::Graph> rewrite_regions(const ir::Graph& g, const Pass& pass) {
  std::vector<std::pair<uint32_t, ir::Attrs>> changed;
  for (const ir::Node& n : g.nodes()) {
    if (!has_regions(n)) continue;
    ir::Attrs attrs = n.attrs;
    if (pass_regions(n, pass, &attrs)) changed.emplace_back(n.id, std::move(attrs));
  }
  if (changed.empty()) return nullptr;
  Rewrite r(g);
  auto next = changed.begin();
  for (const ir::Node& n : g.nodes()) {
    if (next != changed.end() && next->first == n.id) {
      r.copy(n, std::move(next++->second));
    } else {
      r.copy(n);
    }
  }
  return r.finish();
}

std::shared_ptr<ir::Graph> at_every_level(const ir::Graph& g, const Pass& pass) {
  auto inner = rewrite_regions(g, [&](const ir::Graph& h) { return at_every_level(h, pass); });
  return pass(inner ? *inner : g);
}

}  // namespace mycel::passes
