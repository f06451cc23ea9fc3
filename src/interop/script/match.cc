#include "interop/script/match.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "interop/script/python_text.h"
#include "runtime/dispatch.h"
#include "tensor/element.h"

namespace mycel::interop::script {
namespace {

using Ints = ir::Attr::Ints;

const std::map<std::string, const char*, std::less<>> kOperators = {
    {"add", "+"},    {"sub", "-"},        {"mul", "*"},         {"div", "/"},
    {"less", "<"},   {"greater", ">"},    {"less_equal", "<="}, {"greater_equal", ">="},
    {"equal", "=="}, {"not_equal", "!="}, {"pow", "**"}};

Literal plain(std::string text) { return {"", std::move(text), "", true}; }

std::string number_text(const Tensor& t) {
  if (is_bool(t.dtype())) return literal(element_as_int(t.raw(), t.dtype(), 0) != 0);
  if (is_float(t.dtype())) return literal(element_as_double(t.raw(), t.dtype(), 0));
  return literal(element_as_int(t.raw(), t.dtype(), 0));
}

class Calls {
 public:
  Calls(Reader& r, Matched& out) : r_(r), out_(out) {}

  Unit unit(const Node& n);
  std::vector<Unit> take_parameters(std::vector<Unit>& units);

 private:
  Operand operand(const Value& v, bool number_allowed);
  Operand size(const Node& n, const Follows& f);
  Operand list(const Node& n, int attr, bool one_open);
  void attributes(const Node& n, Unit& u);
  bool special(const Node& n, Unit& u);

  Reader& r_;
  Matched& out_;
};

Operand Calls::operand(const Value& v, bool number_allowed) {
  if (number_allowed && r_.is_scalar(v)) return Operand::of(plain(number_text(r_.tensor(v))));
  return Operand::of(r_.id(v));
}

// The extent as a dim of an operand, or of the network's input that has it.
Operand Calls::size(const Node& n, const Follows& f) {
  if (f.plus != 0 || f.times < 1)
    fail(ErrorKind::kUnsupported, "{}: one of its sizes is {} * {} + {}", r_.title(n), f.times,
         r_.from.extents[static_cast<size_t>(f.extent)].name, f.plus);
  Operand o;
  o.kind = Operand::Kind::kSize;
  o.times = f.times;
  for (const Value& v : n.inputs) {
    if (!v || r_.folded(v)) continue;
    for (int d = 0; d < v.rank(); ++d) {
      auto it = r_.from.dims.find({v.node->id, v.index, d});
      if (it == r_.from.dims.end() || it->second != f.extent) continue;
      o.value = r_.id(v);
      o.dim = d;
      return o;
    }
  }
  const Extent& e = r_.from.extents[static_cast<size_t>(f.extent)];
  o.value = r_.id(r_.graph().params()[static_cast<size_t>(e.input)]);
  o.dim = e.dim;
  return o;
}

// A list of numbers, those that follow from an extent as sizes; or one of them open: -1.
Operand Calls::list(const Node& n, int attr, bool one_open) {
  const Ints& all = n.attrs[static_cast<size_t>(attr)].ints();
  std::vector<std::pair<size_t, Follows>> follow;
  bool open = false;
  for (size_t i = 0; i < all.size(); ++i) {
    open = open || all[i] == -1;
    auto it = r_.from.sizes.find({n.id, attr, static_cast<int>(i)});
    if (it != r_.from.sizes.end()) follow.emplace_back(i, it->second);
  }
  if (follow.empty()) return Operand::of(plain(literal(all)));
  Operand o;
  o.kind = Operand::Kind::kTuple;
  for (int64_t x : all) o.items.push_back(Operand::of(plain(literal(x))));
  if (one_open && !open && follow.size() == 1) {
    o = Operand::of(plain(""));
    Ints now = all;
    now[follow[0].first] = -1;
    o.literal.text = literal(now);
    return o;
  }
  for (const auto& [i, f] : follow) o.items[i] = size(n, f);
  return o;
}

void Calls::attributes(const Node& n, Unit& u) {
  const ir::Op& op = *n.op;
  bool gap = false;
  for (const Value& v : n.inputs) gap = gap || !v;
  gap = gap || n.inputs.size() < op.inputs.size();
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    const ir::AttrSpec& spec = op.attrs[i];
    const ir::Attr& a = n.attrs[i];
    if (spec.has_default && a == spec.default_value && !r_.depends(n)) {
      gap = true;
      // Kept, so that a class may have instances with other values.
      if (!a.is<int64_t>() && !a.is<double>()) continue;
    }
    auto follows = r_.from.sizes.lower_bound({n.id, static_cast<int>(i), 0});
    bool open = follows != r_.from.sizes.end() && std::get<0>(follows->first) == n.id &&
                std::get<1>(follows->first) == static_cast<int>(i);
    Operand o;
    if (open && a.is<Ints>())
      o = list(n, static_cast<int>(i), op.name == "reshape");
    else if (open)
      o = size(n, follows->second);
    else
      o = Operand::of(plain(literal(a)));
    if (o.kind == Operand::Kind::kLiteral) {
      o.literal.positional =
          (!spec.has_default || (i == 0 && a.is<Ints>())) && !gap && !op.variadic;
      o.literal.name = spec.name;
      if (spec.has_default && !spec.default_value.is<Ints>())
        o.literal.otherwise = literal(spec.default_value);
    } else if (spec.has_default || gap || op.variadic) {
      o.literal.name = spec.name;
    }
    u.operands.push_back(std::move(o));
  }
}

// What Python has signs for.
bool Calls::special(const Node& n, Unit& u) {
  const std::string& op = n.op->name;
  if (auto it = kOperators.find(op); it != kOperators.end() && n.inputs.size() == 2) {
    bool real = op != "div" || is_float(n.types[0].dtype);
    bool left = r_.is_scalar(n.inputs[0]), right = r_.is_scalar(n.inputs[1]);
    // A number takes the other's dtype: it must be of it.
    bool fits = n.inputs[0].dtype() == n.inputs[1].dtype();
    bool shaped = n.inputs[left ? 1 : 0].rank() == n.types[0].shape.rank();
    if (real && fits && !(left && right) && ((!left && !right) || shaped)) {
      u.callee = it->second;
      u.operands = {operand(n.inputs[0], true), operand(n.inputs[1], true)};
      return true;
    }
    return false;
  }
  auto a = n.view();
  if (op == "gather" && !r_.folded(n.inputs[0]) && r_.is_scalar(n.inputs[1]) &&
      n.inputs[1].rank() == 0 && a.integer("batch_dims") == 0) {
    int64_t axis = a.integer("axis");
    if (axis < 0) axis += n.inputs[0].rank();
    u.callee = "[";
    u.operands = {Operand::of(r_.id(n.inputs[0]))};
    for (int64_t d = 0; d < axis; ++d) u.operands.push_back(Operand::of(plain(":")));
    u.operands.push_back(Operand::of(plain(number_text(r_.tensor(n.inputs[1])))));
    return true;
  }
  if (op == "narrow" && !r_.depends(n)) {
    int64_t axis = a.integer("axis"), start = a.integer("start"), length = a.integer("length");
    if (axis < 0) axis += n.inputs[0].rank();
    u.callee = "[";
    u.operands = {Operand::of(r_.id(n.inputs[0]))};
    for (int64_t d = 0; d < axis; ++d) u.operands.push_back(Operand::of(plain(":")));
    u.operands.push_back(Operand::of(plain(fmt::format("{}:{}", start, start + length))));
    return true;
  }
  if (op == "concat" || op == "stack") {
    u.callee = "ops." + op;
    Operand all;
    all.kind = Operand::Kind::kTuple;
    for (const Value& v : n.inputs) all.items.push_back(operand(v, false));
    u.operands = {std::move(all)};
    Literal axis{"axis", literal(a.integer("axis")), "0"};
    u.operands.push_back(Operand::of(std::move(axis)));
    return true;
  }
  if (op == "einsum") {
    u.callee = "ops.einsum";
    u.operands = {Operand::of(plain(literal(a["equation"])))};
    for (const Value& v : n.inputs) u.operands.push_back(operand(v, false));
    return true;
  }
  return false;
}

Unit Calls::unit(const Node& n) {
  Unit u;
  u.path = r_.path(n);
  u.from = r_.title(n);
  for (uint32_t i = 0; i < n.types.size(); ++i) {
    Value v{const_cast<Node*>(&n), i};
    u.results.push_back(r_.uses(v) ? r_.id(v) : -1);
  }
  if (n.op->name == "gather" && r_.folded(n.inputs[0]) && n.inputs[0].rank() == 2 &&
      n.view().integer("axis") == 0 && n.view().integer("batch_dims") == 0) {
    std::vector<const Node*> left_out;
    Value at = places_of(r_, n.inputs[1], left_out);
    for (const Node* k : left_out) r_.claim(*k);
    u.callee = "ops.gather";
    u.operands = {operand(n.inputs[0], false), operand(at, false), Operand::of(plain("0"))};
    return u;
  }
  if (n.op->holds_code)
    fail(ErrorKind::kUnsupported, "{}: the op '{}' has no words in a script", u.from, n.op->name);
  if (special(n, u)) return u;
  u.internal = n.op->def.internal;
  u.callee =
      (u.internal ? "op(" + literal(std::string_view(n.op->name)) + ")" : "ops." + n.op->name);
  if (n.op->variadic) {
    Operand all;
    all.kind = Operand::Kind::kList;
    for (const Value& v : n.inputs) all.items.push_back(operand(v, false));
    u.operands.push_back(std::move(all));
  } else {
    bool numbers = n.op->def.promote != ir::Promote::kNone && n.inputs.size() > 1;
    for (const Value& v : n.inputs) {
      if (v)
        u.operands.push_back(operand(v, numbers));
      else
        u.operands.push_back(Operand::of(plain("None")));
    }
    while (!u.operands.empty() && u.operands.back().kind == Operand::Kind::kLiteral &&
           u.operands.back().literal.text == "None")
      u.operands.pop_back();
  }
  attributes(n, u);
  return u;
}

// The module that a unit lies in.
Path module_of(const Unit& u) {
  Path p = u.path;
  if (!p.empty() && u.kind == Unit::Kind::kLayer && !u.stored.empty()) p.pop_back();
  return p;
}

Path common(const Path& a, const Path& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return Path(a.begin(), a.begin() + static_cast<int64_t>(n));
}

void each_value(std::vector<Operand>& operands, const std::function<void(ValueId&)>& f) {
  for (Operand& o : operands) {
    if (o.kind == Operand::Kind::kValue || o.kind == Operand::Kind::kSize) f(o.value);
    each_value(o.items, f);
  }
}

// Folded values that units read become parameters of the network: one where its readers meet, for
// short vectors (which tools merge where they are equal) one in each module.
std::vector<Unit> parameters(Reader& r, std::vector<Unit>& units, ValueId& values) {
  std::map<ValueId, Value> by_id;
  for (const Node& n : r.graph().nodes()) {
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      Value v{const_cast<Node*>(&n), i};
      if (r.folded(v)) by_id.emplace(r.id(v), v);
    }
  }
  std::map<std::pair<ValueId, Path>, size_t> made;  // small ones
  std::map<ValueId, size_t> large;
  std::vector<Unit> out, spread;
  std::map<ValueId, ValueId> spread_of;
  std::map<size_t, std::vector<Path>> readers;
  std::vector<Unit*> all;
  for (Unit& u : units) all.push_back(&u);
  auto visit = [&](Unit& u, bool again) {
    // A layer's own module is no place for others' parameters.
    Path at = u.path;
    if (u.kind == Unit::Kind::kLayer && !at.empty()) at.pop_back();
    each_value(u.operands, [&](ValueId& id) {
      auto it = by_id.find(id);
      if (it == by_id.end()) return;
      const Value& v = it->second;
      // Broadcasting gives rows back between signs; elsewhere they are made.
      auto rows = v.node->is_param() ? r.from.rows.find(v.node->id) : r.from.rows.end();
      if (rows != r.from.rows.end() && u.callee.size() > 3 && !again) {
        auto [it2, first] = spread_of.try_emplace(id, 0);
        if (!first) {
          id = it2->second;
          return;
        }
        Unit s;
        s.callee = "ops.broadcast_to";
        s.path = at;
        s.from = "the rows of a constant";
        Operand shape;
        shape.kind = Operand::Kind::kTuple;
        for (int64_t d : v.shape()) shape.items.push_back(Operand::of(plain(literal(d))));
        const Extent& e = r.from.extents[static_cast<size_t>(rows->second.second)];
        Operand size;
        size.kind = Operand::Kind::kSize;
        size.value = r.id(r.graph().params()[static_cast<size_t>(e.input)]);
        size.dim = e.dim;
        shape.items[static_cast<size_t>(rows->second.first)] = size;
        s.operands = {Operand::of(id), shape};
        s.results = {values++};
        id = it2->second = s.results[0];
        spread.push_back(std::move(s));
        return;
      }
      bool small = v.rank() <= 1 && r.is_weight(v);
      size_t index;
      bool fresh;
      if (small) {
        auto [found, inserted] = made.try_emplace({id, at}, out.size());
        index = found->second;
        fresh = inserted;
      } else {
        auto [found, inserted] = large.try_emplace(id, out.size());
        index = found->second;
        fresh = inserted;
      }
      readers[fresh ? out.size() : index].push_back(at);
      if (!fresh) {
        out[index].path = common(out[index].path, at);
        id = out[index].results[0];
        return;
      }
      Unit p;
      p.kind = Unit::Kind::kParameter;
      p.path = at;
      std::string name;
      for (int w : r.weights_of(v)) {
        name = r.from.source.weights[static_cast<size_t>(w)].first;
        break;
      }
      if (name.empty() && v.node->is_param()) name = v.node->name;
      p.attr = identifier(last_of_weight(name));
      bool weight = r.is_weight(v) && is_float(v.dtype());
      if (p.attr.empty() || p.attr == "weight" || p.attr == "bias")
        p.attr = weight ? (p.attr.empty() ? (v.rank() == 2 ? "weight" : "scale") : p.attr)
                 : is_bool(v.dtype()) ? "mask"
                 : is_int(v.dtype())  ? "index"
                                      : "constant";
      Tensor t = r.tensor(v);
      if (rows != r.from.rows.end())
        t = runtime::call1(ir::op_named("narrow"), {t},
                           {int64_t{rows->second.first}, int64_t{0}, int64_t{1}});
      p.stored = {{p.attr, t, weight && !r.statistic(v)}};
      p.results = {small ? values++ : id};
      p.from = name;
      id = p.results[0];
      out.push_back(std::move(p));
    });
  };
  for (Unit* u : all) visit(*u, false);
  for (Unit& u : spread) visit(u, true);
  for (auto& [i, paths] : readers) {
    // Not inside of a list of modules, but around it.
    Path& p = out[i].path;
    for (const Path& reader : paths) {
      if (p.empty() || reader.size() <= p.size()) continue;
      if (std::isdigit(static_cast<unsigned char>(reader[p.size()][0]))) {
        p.pop_back();
        break;
      }
    }
  }
  for (Unit& u : spread) out.push_back(std::move(u));
  return out;
}

}  // namespace

namespace {

// Units that no name places: between what gives their operands and what reads their results. Where
// the file names no modules at all, activations and sums go with what gives the last operand.
void place(std::vector<Unit>& units, bool named) {
  std::map<ValueId, size_t> giver;
  std::map<ValueId, std::vector<size_t>> reader;
  for (size_t i = 0; i < units.size(); ++i) {
    for (ValueId v : units[i].results) giver[v] = i;
    each_value(units[i].operands, [&](ValueId& v) { reader[v].push_back(i); });
  }
  auto placed = [&](size_t i) { return !units[i].path.empty(); };
  for (size_t i = 0; i < units.size(); ++i) {
    Unit& u = units[i];
    if (placed(i)) continue;
    size_t before = units.size();
    each_value(u.operands, [&](ValueId& v) {
      auto it = giver.find(v);
      if (it == giver.end() || !placed(it->second)) return;
      before = before == units.size() ? it->second : std::max(before, it->second);
    });
    if (before == units.size()) continue;
    Path p = module_of(units[before]);
    bool follows = u.kind == Unit::Kind::kLayer
                       ? !u.callee.ends_with("Pool2d") && u.callee != "nn.Flatten"
                       : u.callee.size() <= 2 && u.callee != "[";
    if (named || !follows) {
      size_t at = i;
      for (int steps = 0; steps < 16 && at < units.size() && (at == i || !placed(at)); ++steps) {
        size_t next = units.size();
        for (ValueId v : units[at].results) {
          for (size_t r : reader[v]) next = std::min(next, r);
        }
        at = next;
      }
      p = at < units.size() && at != i ? common(p, module_of(units[at])) : Path();
    }
    u.path = p;
  }
}

}  // namespace

Matched match_units(const Recovered& from) {
  Reader r(from);
  Matched out;
  std::vector<std::pair<uint32_t, Unit>> found;
  match_recurrent(r, found);
  Calls calls(r, out);
  for (size_t i = r.graph().size(); i-- > 0;) {
    const Node& n = r.graph().nodes()[i];
    if (n.is_param() || !r.live(n) || r.folded({const_cast<Node*>(&n), 0})) continue;
    ++out.nodes;
    if (r.claimed(n)) {
      ++out.in_layers;
      continue;
    }
    Unit u;
    bool layer = false;
    for (Pattern p : layer_patterns()) {
      if ((layer = p(r, n, u))) break;
    }
    if (layer) {
      ++out.in_layers;
      u.from = r.title(n);
    } else {
      u = calls.unit(n);
    }
    found.emplace_back(n.id, std::move(u));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Network& net = out.network;
  net.values = r.values();
  // Constants that rows of an extent were cut from, where broadcasting would not give them back.
  for (auto& [at, u] : found) net.units.push_back(std::move(u));
  bool named =
      std::ranges::any_of(from.source.origins, [](const Origin& o) { return !o.scope.empty(); });
  place(net.units, named);
  std::vector<Unit> params = parameters(r, net.units, net.values);
  net.units.insert(net.units.begin(), std::make_move_iterator(params.begin()),
                   std::make_move_iterator(params.end()));
  for (size_t i = 0; i < from.source.inputs.size(); ++i) {
    const Value& v = r.graph().params()[i];
    std::string type = v.type().str();
    net.inputs.push_back({from.source.inputs[i], type, r.id(v)});
  }
  for (const Value& v : r.graph().results()) net.outputs.push_back({"", v.type().str(), r.id(v)});
  return out;
}

}  // namespace mycel::interop::script
