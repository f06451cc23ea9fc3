#include "passes/control.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

// Nothing that can fail: the loop may never reach it. Ops that look something up by index can, and
// so may those whose result shapes depend on values.
bool safe(const ir::Node& n) {
  if (n.op->def.random || n.op->def.side_effect || n.op->holds_code || has_regions(n)) return false;
  if (is_constant({const_cast<ir::Node*>(&n), 0})) return false;
  for (const ir::InputSpec& s : n.op->inputs) {
    if (s.cls == "index") return false;
  }
  for (const ir::Type& t : n.types) {
    if (!t.shape.known()) return false;
  }
  return true;
}

// Which nodes of a region have the same value in every turn. Constants count when something else
// depends on them, but are not worth moving by themselves.
std::vector<bool> invariant_nodes(const ir::Graph& body, const std::vector<bool>& params) {
  std::vector<bool> same(body.size(), false), worth(body.size(), false);
  for (size_t i = 0; i < params.size(); ++i) {
    uint32_t id = body.params()[i].node->id;
    same[id] = worth[id] = params[i];
  }
  for (const ir::Node& n : body.nodes()) {
    if (n.is_param()) continue;
    if (is_constant({const_cast<ir::Node*>(&n), 0})) {
      same[n.id] = true;
      continue;
    }
    bool all = safe(n), any = false;
    for (const ir::Value& v : n.inputs) {
      if (!v) continue;
      all &= same[v.node->id];
      any |= worth[v.node->id];
    }
    same[n.id] = worth[n.id] = all && any;
  }
  for (const ir::Node& n : body.nodes()) {
    if (n.is_param()) worth[n.id] = false;
  }
  return worth;
}

// Values of hoisted nodes that what stays in the region uses, in order.
std::vector<ir::Value> needed(const ir::Graph& body, const std::vector<bool>& hoisted) {
  std::vector<ir::Value> out;
  std::vector<std::vector<bool>> seen(body.size());
  auto note = [&](const ir::Value& v) {
    if (!v || !hoisted[v.node->id]) return;
    auto& bits = seen[v.node->id];
    bits.resize(v.node->types.size(), false);
    if (bits[v.index]) return;
    bits[v.index] = true;
    out.push_back(v);
  };
  for (const ir::Node& n : body.nodes()) {
    if (hoisted[n.id]) continue;
    for (const ir::Value& v : n.inputs) note(v);
  }
  for (const ir::Value& v : body.results()) note(v);
  return out;
}

// The region with hoisted values coming in as parameters at the end; `before` further ones belong
// to the other region. The body hands all of them on.
std::shared_ptr<ir::Graph> without(const ir::Graph& region, const std::vector<bool>& hoisted,
                                   const std::vector<ir::Value>& values, const ir::Types& before,
                                   const ir::Types& after, bool pass_on) {
  Rewrite r(region);
  for (const ir::Value& p : region.params()) r.copy(*p.node);
  std::vector<ir::Value> extra;
  for (const ir::Type& t : before) extra.push_back(r.out().add_param(t));
  std::vector<ir::ValueList> by(region.size());
  for (const ir::Value& v : values) {
    extra.push_back(r.out().add_param(v.type()));
    by[v.node->id].resize(v.node->types.size());
    by[v.node->id][v.index] = extra.back();
  }
  for (const ir::Type& t : after) extra.push_back(r.out().add_param(t));
  for (const ir::Node& n : region.nodes()) {
    if (n.is_param()) continue;
    if (!hoisted[n.id]) {
      r.copy(n);
    } else if (by[n.id].empty()) {
      r.drop(n);
    } else {
      r.replace(n, by[n.id]);
    }
  }
  auto out = r.finish();
  if (pass_on) {
    std::vector<ir::Value> results(out->results().begin(), out->results().end());
    results.insert(results.end(), extra.begin(), extra.end());
    out->set_results(std::move(results));
  }
  return out;
}

class Hoist {
 public:
  Hoist(Rewrite& r, const ir::Node& loop) : r_(r), loop_(loop), in_(r.operands(loop)) {}

  // False when nothing moves.
  bool run() {
    const ir::Graph &condition = region(loop_, 0), &body = region(loop_, 1);
    std::vector<bool> invariant;
    for (size_t i = 0; i < body.params().size(); ++i) {
      bool same = body.results()[i].same(body.params()[i]) &&
                  body.params()[i].type() == in_[i].type() &&
                  condition.params()[i].type() == in_[i].type();
      invariant.push_back(same);
    }
    auto from_condition = invariant_nodes(condition, invariant);
    auto from_body = invariant_nodes(body, invariant);
    auto condition_values = needed(condition, from_condition);
    auto body_values = needed(body, from_body);
    if (condition_values.empty() && body_values.empty()) return false;
    ir::Types c_types, b_types;
    for (const ir::Value& v : condition_values) c_types.push_back(v.type());
    for (const ir::Value& v : body_values) b_types.push_back(v.type());
    ir::ValueList operands = in_;
    move(condition, from_condition, condition_values, operands);
    move(body, from_body, body_values, operands);
    ir::Types types = loop_.types;
    types.insert(types.end(), c_types.begin(), c_types.end());
    types.insert(types.end(), b_types.begin(), b_types.end());
    ir::GraphPtr c = without(condition, from_condition, condition_values, {}, b_types, false);
    ir::GraphPtr b = without(body, from_body, body_values, c_types, {}, true);
    ir::Node* made = r_.out().add_typed(*loop_.op, std::move(operands), {ir::Attr(c), ir::Attr(b)},
                                        std::move(types), loop_.loc);
    ir::ValueList by;
    for (uint32_t i = 0; i < loop_.types.size(); ++i) by.push_back(made->out(i));
    r_.replace(loop_, std::move(by));
    return true;
  }

 private:
  // Copies the hoisted nodes, with the constants they use, before the loop and adds the values.
  void move(const ir::Graph& from, const std::vector<bool>& hoisted, const ir::ValueList& values,
            ir::ValueList& operands) {
    std::vector<ir::Node*> map(from.size(), nullptr);
    std::vector<ir::Value> param(from.size());
    for (size_t i = 0; i < from.params().size(); ++i) param[from.params()[i].node->id] = in_[i];
    std::vector<bool> wanted = hoisted;
    for (const ir::Node& n : from.nodes()) {
      if (!hoisted[n.id]) continue;
      for (const ir::Value& v : n.inputs) {
        if (v) wanted[v.node->id] = true;
      }
    }
    for (const ir::Node& n : from.nodes()) {
      if (n.is_param() || !wanted[n.id]) continue;
      ir::ValueList in;
      for (const ir::Value& v : n.inputs) {
        in.push_back(!v                   ? ir::Value()
                     : v.node->is_param() ? param[v.node->id]
                                          : ir::Value{map[v.node->id], v.index});
      }
      map[n.id] = r_.out().add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc);
    }
    for (const ir::Value& v : values) operands.push_back({map[v.node->id], v.index});
  }

  Rewrite& r_;
  const ir::Node& loop_;
  ir::ValueList in_;
};

GraphOut hoist_level(const ir::Graph& g) {
  Rewrite r(g);
  for (const ir::Node& n : g.nodes()) {
    if (!is_while(n) || !Hoist(r, n).run()) r.copy(n);
  }
  return r.finish();
}

}  // namespace

GraphOut hoist_loop_invariants(const ir::Graph& g) { return at_every_level(g, hoist_level); }

}  // namespace mycel::passes
