#include "ir/graph.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/error.h"
#include "ir/adjoint.h"
#include "ir/core_ops.h"
#include "ir/expansion.h"
#include "ir/phase.h"
#include "ir/scope.h"

namespace mycel::ir {

const Type& Value::type() const { return node->types[index]; }
Graph& Value::graph() const { return *node->graph; }

namespace {
struct Place {
  std::string text, scope;
};
struct Locs {
  std::mutex mutex;
  std::deque<Place> places{{}};
  std::unordered_map<std::string, Loc> index;  // by text and scope
};
Locs& locs() {
  static Locs* l = new Locs;
  return *l;
}
Loc intern_place(const std::string& text, const std::string& scope) {
  if (text.empty() && scope.empty()) return 0;
  std::string key = scope.empty() ? text : text + '\0' + scope;
  Locs& l = locs();
  std::lock_guard lock(l.mutex);
  auto [it, fresh] = l.index.try_emplace(std::move(key), static_cast<Loc>(l.places.size()));
  if (fresh) l.places.push_back({text, scope});
  return it->second;
}
const Place& place_of(Loc loc) {
  Locs& l = locs();
  std::lock_guard lock(l.mutex);
  return l.places[loc & kLocMask];
}
}  // namespace

Loc intern_loc(const std::string& text) { return intern_place(text, ""); }
const std::string& loc_text(Loc loc) { return place_of(loc).text; }
Loc scoped_loc(Loc loc, const std::string& scope) {
  return (loc & ~kLocMask) | intern_place(loc_text(loc), scope);
}
const std::string& loc_scope(Loc loc) { return place_of(loc).scope; }

Loc gradient_loc(Loc loc) {
  const std::string& scope = loc_scope(loc);
  return scope.empty() || scope.starts_with(kGradientScope)
             ? loc
             : scoped_loc(loc, kGradientScope + scope);
}

Node& NodeList::add() {
  constexpr size_t kSmallest = 4, kLargest = 512;
  if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity())
    blocks_.emplace_back().reserve(std::clamp(order_.size(), kSmallest, kLargest));
  return *order_.emplace_back(&blocks_.back().emplace_back());
}

Value Graph::add_param(const Type& type, std::string name) {
  Node& n = nodes_.add();
  n.graph = this;
  n.types = {type};
  n.id = static_cast<uint32_t>(nodes_.size() - 1);
  n.name = std::move(name);
  params_.push_back(n.out());
  return n.out();
}

Node* Graph::add(const Op& op, ValueList inputs, Attrs attrs, Loc loc) {
  Attrs full = op.complete(std::move(attrs));
  for (const Value& v : inputs) {
    MYCEL_CHECK(!v || &v.graph() == this, "an operand of {} belongs to another graph", op.name);
  }
  if (op.def.promote != Promote::kNone) {
    DType common{};
    bool any = false;
    for (const Value& v : inputs) {
      if (!v) continue;
      common = any ? promote(common, v.dtype()) : v.dtype();
      any = true;
    }
    if (any && op.def.promote == Promote::kFloat && (is_int(common) || is_bool(common))) {
      common = DType::kFloat32;
    }
    for (Value& v : inputs) {
      if (v && v.dtype() != common) v = add(*core_ops().cast, {v}, {common}, loc)->out();
    }
  }
  std::vector<const Type*> in;
  for (const Value& v : inputs) in.push_back(v ? &v.type() : nullptr);
  Types types = infer_types(op, in, full);
  return add_typed(op, std::move(inputs), std::move(full), std::move(types), loc);
}

Node* Graph::add_typed(const Op& op, ValueList inputs, Attrs attrs, Types types, Loc loc) {
  Node& n = nodes_.add();
  n.graph = this;
  n.op = &op;
  n.inputs = std::move(inputs);
  n.attrs = std::move(attrs);
  n.types = std::move(types);
  n.loc = loc;
  n.id = static_cast<uint32_t>(nodes_.size() - 1);
  return &n;
}

Value Graph::constant(const Tensor& t) {
  return add_typed(*core_ops().constant, {}, {Attr(t)}, {Type(t.dtype(), t.shape())}, 0)->out();
}

Value Graph::scalar(DType dtype, double value) {
  return add_typed(*core_ops().full, {}, {Attr(value), Attr(Attr::Ints{}), Attr(dtype)},
                   {Type(dtype, Shape())}, 0)
      ->out();
}

std::vector<Value> inline_graph(const Graph& g, Graph& into, std::span<const Value> args,
                                std::vector<Node*>* mapping) {
  MYCEL_CHECK(args.size() == g.params().size(), "graph {} takes {} arguments, {} given", g.name(),
              g.params().size(), args.size());
  std::vector<Node*> local;
  std::vector<Node*>& map = mapping ? *mapping : local;
  map.assign(g.size(), nullptr);
  std::vector<Value> param_values(g.size());
  for (size_t i = 0; i < args.size(); ++i) param_values[g.params()[i].node->id] = args[i];
  auto translate = [&](const Value& v) -> Value {
    if (!v) return {};
    if (v.node->is_param()) return param_values[v.node->id];
    return {map[v.node->id], v.index};
  };
  for (const Node& n : g.nodes()) {
    if (n.is_param()) {
      map[n.id] = param_values[n.id].node;
      continue;
    }
    ValueList inputs;
    inputs.reserve(n.inputs.size());
    for (const Value& v : n.inputs) inputs.push_back(translate(v));
    map[n.id] = into.add_typed(*n.op, std::move(inputs), n.attrs, n.types, n.loc);
  }
  std::vector<Value> results;
  for (const Value& v : g.results()) results.push_back(translate(v));
  return results;
}

namespace {

Value emitted(const OpDef& def, ValueList inputs, Attrs attrs) {
  Graph* g = nullptr;
  for (const Value& v : inputs) {
    if (v) g = &v.graph();
  }
  MYCEL_CHECK(g, "op {} needs an operand to know its graph; use graph.add", def.name);
  return g->add(op_of(def), std::move(inputs), std::move(attrs))->out();
}

}  // namespace

std::vector<Value> expand(Graph& g, const Op& op, std::vector<Value> inputs, const Attrs& attrs) {
  Expansion e(g, op, std::move(inputs), attrs);
  try {
    op.def.expand(e);
  } catch (UserError& error) {
    // The user called this op, not the ones it is made of.
    error.name(op.name);
    throw;
  }
  MYCEL_CHECK(e.results.size() == op.outputs.size() || op.outputs[0][0] == '*',
              "the expansion of {} gave {} results, its record says {}", op.name, e.results.size(),
              op.outputs.size());
  return e.results;
}

Value OpDef::operator()(std::initializer_list<Value> inputs, Attrs attrs) const {
  return emitted(*this, ValueList(inputs), std::move(attrs));
}
Value OpDef::operator()(const std::vector<Value>& inputs, Attrs attrs) const {
  return emitted(*this, inputs, std::move(attrs));
}

void Adjoint::Sum::operator-=(Value v) {
  a_.add(i_, v.graph().add(*core_ops().negative, {v})->out());
}

}  // namespace mycel::ir
