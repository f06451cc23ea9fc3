#include "ir/structural.h"

#include <utility>
#include <vector>

#include "ir/function.h"

namespace mycel::ir {
namespace {

inline void mix(size_t& h, size_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15ull + (h >> 31); }

// Functions compare by what they do. Two that are being compared already are taken for equal: a
// difference would show elsewhere.
bool equal_functions(const FunctionPtr& a, const FunctionPtr& b) {
  thread_local std::vector<std::pair<const Function*, const Function*>> assumed;
  if (a == b) return true;
  for (const auto& [x, y] : assumed) {
    if (x == a.get() && y == b.get()) return true;
  }
  if (a->params != b->params || a->results != b->results || !a->body || !b->body) return false;
  assumed.emplace_back(a.get(), b.get());
  bool equal = structurally_equal(*a->body, *b->body);
  assumed.pop_back();
  return equal;
}

size_t attr_hash(const Attr& a) {
  if (a.is<GraphPtr>()) return structure_hash(*a.graph());
  if (!a.is<FunctionPtr>()) return a.hash();
  size_t h = a.function()->results.size();
  for (const Type& t : a.function()->params) mix(h, t.hash());
  return h;
}

bool equal_attrs(const Attrs& a, const Attrs& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i].is<FunctionPtr>() && b[i].is<FunctionPtr>()) {
      if (equal_functions(a[i].function(), b[i].function())) continue;
      return false;
    }
    if (!a[i].is<GraphPtr>() || !b[i].is<GraphPtr>()) return false;
    if (!structurally_equal(*a[i].graph(), *b[i].graph())) return false;
  }
  return true;
}

bool equal_values(const Value& a, const Value& b) {
  if (!a || !b) return !a && !b;
  return a.node->id == b.node->id && a.index == b.index;
}

}  // namespace

size_t structure_hash(const Graph& g) {
  size_t h = g.size();
  for (const Node& n : g.nodes()) {
    mix(h, n.op ? static_cast<size_t>(n.op->id) + 2 : 1);
    for (const Value& v : n.inputs) mix(h, v ? v.node->id * 8 + v.index : ~size_t{0});
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      mix(h, attr_hash(n.attrs[i]));
    }
    for (const Type& t : n.types) mix(h, t.hash());
  }
  for (const Value& v : g.results()) mix(h, v.node->id * 8 + v.index);
  return h;
}

bool structurally_equal(const Graph& a, const Graph& b) {
  if (&a == &b) return true;
  if (a.size() != b.size() || a.results().size() != b.results().size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const Node &x = a.nodes()[i], &y = b.nodes()[i];
    if (x.op != y.op || x.inputs.size() != y.inputs.size() || x.types != y.types) return false;
    for (size_t k = 0; k < x.inputs.size(); ++k) {
      if (!equal_values(x.inputs[k], y.inputs[k])) return false;
    }
    if (!equal_attrs(x.attrs, y.attrs)) return false;
  }
  for (size_t i = 0; i < a.results().size(); ++i) {
    if (!equal_values(a.results()[i], b.results()[i])) return false;
  }
  return true;
}

}  // namespace mycel::ir
