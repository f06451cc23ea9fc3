#include "shrink_graph.h"

#include <optional>
#include <vector>

#include "base/error.h"
#include "ir/core_ops.h"
#include "ir/verify.h"
#include "passes/control.h"
#include "passes/rewrite.h"

namespace mycel::graph_checks {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using Values = std::vector<Value>;
using GraphOut = std::shared_ptr<Graph>;

// Applies the edit of one number; edits are numbered as the walk meets them, regions included.
class Edit {
 public:
  explicit Edit(int number) : left_(number) {}
  bool applied() const { return left_ < 0; }

  GraphOut apply(const Graph& g, bool outermost) {
    passes::Rewrite r(g);
    for (const Value& p : g.params()) r.copy(*p.node);
    for (const Node& n : g.nodes()) {
      if (!n.is_param() && !replaced(r, n, outermost)) copy(r, n);
    }
    Values results;
    for (const Value& v : g.results()) {
      if (!outermost || g.results().size() == 1 || !now()) results.push_back(r.translate(v));
    }
    return r.finish_with(std::move(results));
  }

 private:
  bool now() { return left_-- == 0; }

  void copy(passes::Rewrite& r, const Node& n) {
    ir::Attrs attrs = n.attrs;
    for (size_t i = 0; passes::has_regions(n) && i < attrs.size(); ++i) {
      if (!applied() && attrs[i].is<ir::GraphPtr>()) {
        GraphOut region = apply(*attrs[i].graph(), false);
        if (applied()) attrs.set(i, ir::Attr(ir::GraphPtr(region)));
      }
    }
    r.copy(n, attrs);
  }

  bool replaced(passes::Rewrite& r, const Node& n, bool outermost) {
    if (applied()) return false;
    ir::ValueList in = r.operands(n);
    if (passes::is_cond(n)) {
      for (int branch : {0, 1}) {
        if (!now()) continue;
        Values args(in.begin() + 1, in.end());
        return put(r, n, ir::inline_graph(passes::region(n, branch), r.out(), args));
      }
    }
    if (passes::is_while(n)) {
      if (now()) return put(r, n, {in.begin(), in.end()});
      if (now()) return put(r, n, ir::inline_graph(passes::region(n, 1), r.out(), in));
    }
    for (const Value& v : in) {
      if (v && n.types.size() == 1 && v.type() == n.types[0] && now()) return put(r, n, {v});
    }
    bool constant = n.op == ir::core_ops().full || n.op == ir::core_ops().constant;
    if (outermost && now()) {
      Values by;
      for (const ir::Type& t : n.types) by.push_back(r.out().add_param(t));
      return put(r, n, std::move(by));
    }
    if (constant) return false;
    for (const ir::Type& t : n.types) {
      if (!t.shape.known() || t.kind != ir::Type::Kind::kTensor) return false;
    }
    if (!now()) return false;
    Values by;
    for (const ir::Type& t : n.types)
      by.push_back(
          r.out()
              .add(*ir::core_ops().full, {}, {ir::Attr(0.0), ir::Attr(t.shape), ir::Attr(t.dtype)})
              ->out());
    return put(r, n, std::move(by));
  }
  static bool put(passes::Rewrite& r, const Node& n, Values by) {
    r.replace(n, std::move(by));
    return true;
  }

  int left_;
};

// Without nodes, and parameters of the outermost graph, that nobody uses; regions keep theirs.
GraphOut swept(const Graph& g, bool outermost) {
  std::vector<bool> used(g.size(), false);
  for (const Value& v : g.results()) used[v.node->id] = true;
  for (size_t i = g.size(); i-- > 0;) {
    if (!used[i]) continue;
    for (const Value& v : g.nodes()[i].inputs) {
      if (v) used[v.node->id] = true;
    }
  }
  passes::Rewrite r(g);
  for (const Node& n : g.nodes()) {
    if (!used[n.id] && (!n.is_param() || outermost)) {
      r.drop(n);
      continue;
    }
    ir::Attrs attrs = n.attrs;
    for (size_t i = 0; passes::has_regions(n) && i < attrs.size(); ++i) {
      if (attrs[i].is<ir::GraphPtr>())
        attrs.set(i, ir::Attr(ir::GraphPtr(swept(*attrs[i].graph(), false))));
    }
    n.is_param() ? r.copy(n) : r.copy(n, attrs);
  }
  return r.finish();
}

}  // namespace

GraphOut shrink(GraphOut g, const std::function<bool(const Graph&)>& fails, int tries) {
  auto still = [&](const GraphOut& candidate) {
    return --tries >= 0 && ir::problem_of(*candidate).empty() && fails(*candidate);
  };
  if (GraphOut small = swept(*g, true); still(small)) g = small;
  for (bool better = true; better && tries > 0;) {
    better = false;
    for (int number = 0; tries > 0;) {
      Edit edit(number);
      GraphOut candidate = edit.apply(*g, true);
      if (!edit.applied()) break;
      candidate = swept(*candidate, true);
      if (candidate->str() != g->str() && still(candidate)) {
        g = candidate;
        better = true;
      } else {
        ++number;
      }
    }
  }
  return g;
}

}  // namespace mycel::graph_checks
