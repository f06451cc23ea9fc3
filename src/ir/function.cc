#include "ir/function.h"

#include <deque>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace mycel::ir {

struct Family {
  std::mutex mutex;
  std::deque<Function> members;
};

namespace {

GraphPtr tied(const GraphPtr& g, const Family* family);

// References to `family` unowned, all others owning.
Attr tied(const Attr& a, const Family* family) {
  if (a.is<GraphPtr>()) return Attr(tied(a.graph(), family));
  if (!a.is<FunctionPtr>()) return a;
  FunctionPtr f = a.function();
  return f->family == family ? Attr::unowned(f) : Attr(f);
}

bool tied_alike(const Attr& a, const Attr& b) { return a.owns() == b.owns() && a == b; }

// The same graph when nothing changes: regions are shared.
GraphPtr tied(const GraphPtr& g, const Family* family) {
  std::vector<std::pair<uint32_t, Attrs>> changed;
  for (const Node& n : g->nodes()) {
    Attrs attrs = n.attrs;
    bool any = false;
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      if (!n.attrs[i].is<GraphPtr>() && !n.attrs[i].is<FunctionPtr>()) continue;
      Attr a = tied(n.attrs[i], family);
      if (tied_alike(a, n.attrs[i])) continue;
      attrs.set(i, std::move(a));
      any = true;
    }
    if (any) changed.emplace_back(n.id, std::move(attrs));
  }
  if (changed.empty()) return g;
  auto out = std::make_shared<Graph>(g->name());
  std::vector<Value> params;
  for (const Value& p : g->params()) params.push_back(out->add_param(p.type(), p.node->name));
  std::vector<Node*> made;
  out->set_results(inline_graph(*g, *out, params, &made));
  for (auto& [id, attrs] : changed) made[id]->attrs = std::move(attrs);
  return out;
}

}  // namespace

FunctionPtr make_function(std::string name, Types params, Types results, const FunctionPtr& kin) {
  auto family = kin ? std::shared_ptr<Family>(kin, kin->family) : std::make_shared<Family>();
  std::lock_guard lock(family->mutex);
  Function& f = family->members.emplace_back();
  f.name = std::move(name);
  f.params = std::move(params);
  f.results = std::move(results);
  f.family = family.get();
  return {family, &f};
}

void set_body(const FunctionPtr& f, GraphPtr body) { f->body = tied(body, f->family); }

GraphPtr owning(const GraphPtr& body) { return tied(body, nullptr); }

}  // namespace mycel::ir
