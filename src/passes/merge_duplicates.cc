#include <bit>
#include <vector>

#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

size_t key_of(const ir::Op& op, const ir::ValueList& in, const ir::Attrs& attrs) {
  size_t h = static_cast<size_t>(op.id) * 31 + attrs.hash();
  for (const ir::Value& v : in) h = h * 1000003 + (v ? v.node->id * 8 + v.index + 1 : 0);
  return (h ^ h >> 32) * 0x9e3779b97f4a7c15ull >> 20;
}

bool same(const ir::Node& a, const ir::Op& op, const ir::ValueList& in, const ir::Attrs& attrs) {
  if (a.op != &op || a.inputs.size() != in.size() || !(a.attrs == attrs)) return false;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!a.inputs[i].same(in[i])) return false;
  }
  return true;
}

GraphOut merge_level(const ir::Graph& g) {
  Rewrite r(g);
  // Nodes of one bucket are chained by their number in the new graph.
  std::vector<ir::Node*> bucket(std::bit_ceil(g.size() + 1), nullptr);
  std::vector<ir::Node*> next(g.size(), nullptr);
  for (const ir::Node& n : g.nodes()) {
    if (n.is_param() || n.op->def.random || n.op->def.side_effect || n.op->holds_code) {
      r.copy(n);
      continue;
    }
    ir::ValueList in = r.operands(n);
    size_t key = key_of(*n.op, in, n.attrs);
    ir::Node* twin = nullptr;
    ir::Node*& first = bucket[key & (bucket.size() - 1)];
    for (ir::Node* m = first; m && !twin; m = next[m->id]) {
      if (same(*m, *n.op, in, n.attrs)) twin = m;
    }
    if (twin) {
      r.replace(n, twin);
    } else {
      ir::Node* made = r.copy(n, std::move(in), n.attrs);
      next[made->id] = first;
      first = made;
    }
  }
  return r.finish();
}

}  // namespace

GraphOut merge_duplicates(const ir::Graph& g) { return at_every_level(g, merge_level); }

}  // namespace mycel::passes
