// LSTM and GRU nodes of a file as layers: gates come in another order.
#include <algorithm>

#include <fmt/format.h>

#include "interop/script/match.h"
#include "interop/script/python_text.h"
#include "mycel/ops.h"
#include "runtime/trace.h"

namespace mycel::interop::script {
namespace {

using Ints = ir::Attr::Ints;

std::string attr(const Origin& o, const char* name, const char* otherwise) {
  for (const auto& [n, text] : o.attrs) {
    if (n == name) return text;
  }
  return otherwise;
}

// Rows of direction k in the order of the layer's gates.
Tensor gates(const Tensor& all, int64_t k, int64_t from, int64_t hidden,
             const std::vector<int>& order) {
  Tensor one = ops::squeeze(ops::narrow(all, 0, k, 1), ir::Attr(Ints{0}));
  Tensors parts;
  for (int g : order) parts.push_back(ops::narrow(one, 0, from + g * hidden, hidden));
  return ops::concat(parts, 0);
}

bool zeros_or_absent(const Origin& o, size_t i) {
  if (i >= o.given.size() || !o.given[i]) return true;
  Tensor t = o.given[i];
  if (runtime::live_trace(t) || !t.concrete()) return false;
  for (size_t b = 0; b < t.bytes(); ++b) {
    if (static_cast<const char*>(t.raw())[b]) return false;
  }
  return true;
}

Tensor concrete_of(const Reader& r, const Origin& o, size_t i) {
  if (i >= o.given.size() || !o.given[i]) return {};
  if (o.in[i]) return r.folded(o.in[i]) ? r.tensor(o.in[i]) : Tensor();
  return o.given[i];
}

// The value behind transpose(0, 2, 1, 3) and reshape of [time, directions, batch, hidden], when
// that is all that reads it.
const Node* joined(const Reader& r, const Value& y, std::vector<const Node*>& nodes) {
  auto only = [&](const Value& v) -> const Node* {
    if (r.uses(v) != 1) return nullptr;
    for (const Node& n : r.graph().nodes()) {
      if (!r.live(n) || n.is_param()) continue;
      for (const Value& i : n.inputs) {
        if (i && i.same(v)) return &n;
      }
    }
    return nullptr;
  };
  const Node* n = only(y);
  if (!n) return nullptr;
  nodes = {n};
  if (n->op->name == "squeeze" && y.shape()[1] == 1)
    return n->types[0].shape.rank() == 3 ? n : nullptr;
  if (n->op->name != "transpose" || n->view().ints("input_perm") != Ints{0, 2, 1, 3})
    return nullptr;
  const Node* flat = only({const_cast<Node*>(n), 0});
  if (!flat || flat->op->name != "reshape") return nullptr;
  const Shape &s = flat->types[0].shape, &from = y.shape();
  if (s.rank() != 3 || s[0] != from[0] || s[1] != from[2] || s[2] != from[1] * from[3])
    return nullptr;
  nodes.push_back(flat);
  return flat;
}

bool match(Reader& r, const Origin& o, std::vector<std::pair<uint32_t, Unit>>& units) {
  bool lstm = o.op == "LSTM", gru = o.op == "GRU";
  if ((!lstm && !gru) || o.in.size() < 3 || !o.in[0] || r.folded(o.in[0])) return false;
  std::string way = attr(o, "direction", "forward");
  if (way == "reverse" || attr(o, "layout", "0") != "0") return false;
  for (const char* odd : {"activations", "clip", "activation_alpha", "activation_beta"}) {
    std::string text = attr(o, odd, "");
    std::transform(text.begin(), text.end(), text.begin(), [](char c) { return std::tolower(c); });
    bool usual = text.empty() || text == "sigmoid tanh tanh" || text == "sigmoid tanh" ||
                 text == "sigmoid tanh tanh sigmoid tanh tanh" ||
                 text == "sigmoid tanh sigmoid tanh";
    if (!usual) return false;
  }
  if (attr(o, "input_forget", "0") != "0") return false;
  if (gru && attr(o, "linear_before_reset", "0") == "0") return false;
  if (o.given.size() > 4 && o.given[4]) return false;  // lengths
  if (lstm && o.given.size() > 7 && o.given[7]) return false;
  bool from_zero = zeros_or_absent(o, 5) && (!lstm || zeros_or_absent(o, 6));
  auto initial = [&](size_t i) { return i < o.in.size() && o.in[i] && !r.folded(o.in[i]); };
  if (!from_zero && !(initial(5) && (!lstm || initial(6)))) return false;
  Tensor w = concrete_of(r, o, 1), h = concrete_of(r, o, 2), b = concrete_of(r, o, 3);
  if (!w || !h || (o.given.size() > 3 && o.given[3] && !b)) return false;

  int64_t hidden = h.dim(2), directions = w.dim(0), count = lstm ? 4 : 3;
  std::vector<int> order = lstm ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{1, 0, 2};
  Unit u;
  u.kind = Unit::Kind::kLayer;
  u.callee = lstm ? "nn.LSTM" : "nn.GRU";
  u.path = r.path(*o.in[0].node, o.in[1]);
  if (Path p = r.is_weight(o.in[1]) ? r.path(*o.in[1].node, o.in[1]) : Path(); p.empty())
    u.path = o.scope;
  u.from = o.op + " " + o.name;
  u.made_with = {{"input_size", literal(w.dim(2)), "", true},
                 {"hidden_size", literal(hidden), "", true},
                 {"has_bias", literal(static_cast<bool>(b)), "True"},
                 {"bidirectional", literal(directions == 2), "False"}};
  for (int64_t k = 0; k < directions; ++k) {
    std::string end = k ? "_l0_reverse" : "_l0";
    u.stored.push_back({"weight_ih" + end, gates(w, k, 0, hidden, order)});
    u.stored.push_back({"weight_hh" + end, gates(h, k, 0, hidden, order)});
    if (!b) continue;
    u.stored.push_back({"bias_ih" + end, gates(b, k, 0, hidden, order)});
    u.stored.push_back({"bias_hh" + end, gates(b, k, count * hidden, hidden, order)});
  }
  u.operands = {Operand::of(r.id(o.in[0]))};
  if (!from_zero) {
    u.operands.push_back(Operand::of(r.id(o.in[5])));
    if (lstm) u.operands.push_back(Operand::of(r.id(o.in[6])));
  }
  auto result = [&](size_t i) {
    return i < o.out.size() && o.out[i] && r.uses(o.out[i]) ? r.id(o.out[i]) : -1;
  };
  uint32_t last = o.end - 1;
  std::vector<const Node*> behind;
  ValueId y = result(0);
  if (y >= 0) {
    const Node* flat = joined(r, o.out[0], behind);
    if (!flat) return false;
    y = r.id({const_cast<Node*>(flat), 0});
    for (const Node* n : behind) r.claim(*n);
    last = flat->id;
  }
  u.results = {y, result(1)};
  if (lstm) u.results.push_back(result(2));
  for (uint32_t i = o.begin; i < o.end; ++i) r.claim(r.graph().nodes()[i]);
  // Results other than the first must be there for whoever reads them before `last`.
  units.emplace_back(o.end - 1 < last ? o.end - 1 : last, std::move(u));
  return true;
}

}  // namespace

void match_recurrent(Reader& r, std::vector<std::pair<uint32_t, Unit>>& units) {
  for (const Origin& o : r.from.source.origins) match(r, o, units);
}

}  // namespace mycel::interop::script
