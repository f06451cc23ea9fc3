#include <map>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

using ir::Node;
using ir::Value;

bool elementwise(const Node& n) {
  if (n.is_param() || n.types.size() != 1) return false;
  return n.op == ir::core_ops().fused || is_elementwise(n);
}

// An op that may have elementwise ones after it: known, of one result, nothing but a computation.
bool joinable(const Node& n) {
  if (n.is_param() || elementwise(n) || n.types.size() != 1 || n.inputs.empty()) return false;
  if (n.op->holds_code || n.op->def.random || n.op->def.side_effect || n.op->def.view) return false;
  if (n.op == ir::core_ops().joined || has_regions(n)) return false;
  return n.types[0].kind == ir::Type::Kind::kTensor && n.types[0].shape.known();
}

struct Pair {
  const Node* op;
  const Node* after;
};

// The body, and the operands of the node that has it.
struct Body {
  std::shared_ptr<ir::Graph> graph = std::make_shared<ir::Graph>("joined");
  std::vector<Value> reads;  // absent ones too, as the op's kernel wants them
};

Body make_body(const Pair& p) {
  Body b;
  auto param = [&](const Value& v) {
    b.reads.push_back(v);
    return b.graph->add_param(v.type());
  };
  ir::ValueList in;
  for (const Value& v : p.op->inputs) in.push_back(v ? param(v) : Value());
  Value made = b.graph->add_typed(*p.op->op, in, p.op->attrs, p.op->types, p.op->loc)->out();
  ir::ValueList args;
  for (const Value& v : p.after->inputs) args.push_back(v.node == p.op ? made : param(v));
  if (p.after->op != ir::core_ops().fused) {
    Node* n = b.graph->add_typed(*p.after->op, args, p.after->attrs, p.after->types, p.after->loc);
    b.graph->set_results({n->out()});
  } else {
    const ir::Graph& body = *p.after->attrs[0].graph();
    b.graph->set_results(ir::inline_graph(body, *b.graph, {args.begin(), args.end()}));
  }
  for (Node& n : b.graph->nodes()) {
    if (!n.is_param() && !n.loc) n.loc = p.after->loc;
  }
  return b;
}

std::map<uint32_t, Pair> find_pairs(const ir::Graph& g) {
  std::vector<uint32_t> uses(g.size(), 0);
  for (const Node& n : g.nodes()) {
    for (const Value& v : n.inputs) {
      if (v) ++uses[v.node->id];
    }
  }
  for (const Value& v : g.results()) ++uses[v.node->id];
  std::map<uint32_t, Pair> pairs;  // by the elementwise node; the last of several ops
  for (const Node& n : g.nodes()) {
    if (!elementwise(n)) continue;
    const Node* last = nullptr;
    for (const Value& v : n.inputs) {
      bool fits = v && uses[v.node->id] == 1 && joinable(*v.node) && v.shape() == n.types[0].shape;
      if (fits && (!last || last->id < v.node->id)) last = v.node;
    }
    if (last) pairs[n.id] = {last, &n};
  }
  return pairs;
}

GraphOut join_level(const ir::Graph& g, Accepts accepts) {
  std::map<uint32_t, Pair> pairs = find_pairs(g);
  std::map<uint32_t, Body> bodies;
  std::vector<bool> joined(g.size(), false);
  for (const auto& [id, pair] : pairs) {
    Body b = make_body(pair);
    std::vector<const ir::Type*> in;
    bool known = true;
    for (const Value& v : b.reads) {
      in.push_back(&v.type());
      known &= v.type().kind == ir::Type::Kind::kTensor && v.shape().known();
    }
    if (!known) continue;
    ir::Attrs attrs = {ir::Attr(ir::GraphPtr(b.graph))};
    if (!accepts(*ir::core_ops().joined, in, pair.after->types, attrs)) continue;
    joined[pair.op->id] = true;
    bodies.emplace(id, std::move(b));
  }
  Rewrite r(g);
  for (const Node& n : g.nodes()) {
    auto it = bodies.find(n.id);
    if (joined[n.id]) {
      r.drop(n);
    } else if (it == bodies.end()) {
      r.copy(n);
    } else {
      ir::ValueList in;
      for (const Value& v : it->second.reads) in.push_back(r.translate(v));
      r.replace(n, r.out().add_typed(*ir::core_ops().joined, std::move(in),
                                     {ir::Attr(ir::GraphPtr(it->second.graph))}, n.types, n.loc));
    }
  }
  return r.finish();
}

}  // namespace

GraphOut join_epilogues(const ir::Graph& g, Accepts accepts) {
  return at_every_level(g, [accepts](const ir::Graph& h) { return join_level(h, accepts); });
}

}  // namespace mycel::passes
