#include <algorithm>
#include <map>
#include <optional>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

namespace mycel::passes {
namespace {

using ir::Attr;
using ir::Node;
using ir::Value;
using Ints = Attr::Ints;

// Below this many rows or columns of scores the written-out form is as good.
constexpr int64_t kLeast = 32;

bool is(const Node* n, const char* op) { return n->op && n->op->name == op; }

bool product(const Node* n, bool transpose_a, bool transpose_b) {
  return is(n, "batch_matmul") && n->attrs[0].boolean() == transpose_a &&
         n->attrs[1].boolean() == transpose_b;
}

bool one_number(const Value& v) { return v.shape().known() && v.shape().size() == 1; }

// Whether `v` is a transpose of this order.
bool permuted(const Value& v, const Ints& order) {
  return made_by(v, "transpose") && v.node->attrs[0] == Attr(order);
}

// One use of attention and, where the program has it, of its gradient.
struct Match {
  Value q, k, v, mask, scale;
  bool divides = false;      // the scores are divided by `scale`
  bool k_is_turned = false;  // k comes as [size, positions]
  const Node* out = nullptr;
  const Node *dv = nullptr, *dp = nullptr, *dq = nullptr, *dk = nullptr;
  Value dy;
  std::vector<const Node*> inside;  // everything that goes away, without the results
};

class Matcher {
 public:
  explicit Matcher(const ir::Graph& g) : users_(g.size()), is_result_(g.size(), false) {
    for (const Node& n : g.nodes()) {
      for (const Value& v : n.inputs) {
        if (v) users_[v.node->id].push_back(&n);
      }
    }
    for (const Value& v : g.results()) is_result_[v.node->id] = true;
  }

  std::optional<Match> at(const Node& softmax) {
    Match m;
    if (!probabilities(softmax, m)) return {};
    const Node* p = &softmax;
    const Node* ds = nullptr;
    for (const Node* u : users(p)) {
      bool first = u->inputs[0].node == p;
      bool twice = u->inputs.size() > 1 && u->inputs[1].node == p && first;
      if (!first || twice) return {};
      if (product(u, false, false) && !m.out) {
        m.out = u;
      } else if (product(u, true, false) && !m.dv) {
        m.dv = u;
      } else if (is(u, "softmax_grad") && !ds) {
        ds = u;
      } else {
        return {};
      }
    }
    if (m.out) {
      m.v = m.out->inputs[1];
    } else if (ds && made_by(ds->inputs[1], "batch_matmul")) {  // only the gradient is wanted
      m.v = ds->inputs[1].node->inputs[1];
    } else {
      return {};
    }
    if (!same_batches(m)) return {};
    if (m.dv) m.dy = m.dv->inputs[1];
    if (ds && !gradient(ds, m)) return {};
    return m;
  }

 private:
  const std::vector<const Node*>& users(const Node* n) const { return users_[n->id]; }
  bool only_user(const Value& v) const {
    return users(v.node).size() == 1 && !is_result_[v.node->id];
  }

  // softmax(scale q kᵀ + mask), nothing of which is used elsewhere.
  bool probabilities(const Node& softmax, Match& m) const {
    const ir::Type& t = softmax.types[0];
    if (!is(&softmax, "softmax") || t.dtype != DType::kFloat32 || !t.shape.known()) return false;
    int rank = t.shape.rank();
    int64_t axis = softmax.attrs[0].integer();
    if (rank < 3 || (axis != -1 && axis != rank - 1) || is_result_[softmax.id]) return false;
    if (t.shape[-1] < kLeast || t.shape[-2] < kLeast) return false;
    Value x = softmax.inputs[0];
    m.inside.push_back(&softmax);
    if (!(x.type() == t)) return false;
    if (made_by(x, "add") && only_user(x)) {
      int scores = continues(x.node->inputs[0], t) ? 0 : 1;
      m.mask = x.node->inputs[1 - scores];
      if (!continues(x.node->inputs[scores], t) || !fits(m.mask, t)) return false;
      m.inside.push_back(x.node);
      x = x.node->inputs[scores];
    }
    if ((made_by(x, "mul") || made_by(x, "div")) && only_user(x)) {
      m.divides = made_by(x, "div");
      int scores = !m.divides && one_number(x.node->inputs[0]) ? 1 : 0;
      m.scale = x.node->inputs[1 - scores];
      if (!one_number(m.scale) || m.scale.dtype() != t.dtype) return false;
      m.inside.push_back(x.node);
      x = x.node->inputs[scores];
    }
    if (!made_by(x, "batch_matmul") || !only_user(x) || !(x.type() == t)) return false;
    if (x.node->attrs[0].boolean()) return false;
    m.q = x.node->inputs[0];
    m.k = x.node->inputs[1];
    m.k_is_turned = !x.node->attrs[1].boolean();
    m.inside.push_back(x.node);
    return true;
  }

  // The scores themselves, on the way from the product to the softmax.
  static bool continues(const Value& v, const ir::Type& t) {
    return v.type() == t && (made_by(v, "mul") || made_by(v, "div") || made_by(v, "batch_matmul"));
  }

  static bool fits(const Value& mask, const ir::Type& scores) {
    const Shape& s = mask.shape();
    if (mask.dtype() != scores.dtype || !s.known()) return false;
    if (s.rank() < 1 || s.rank() > scores.shape.rank()) return false;
    return s[-1] == scores.shape[-1];
  }

  static bool same_batches(const Match& m) {
    int rank = m.q.rank();
    if (m.k.rank() != rank || m.v.rank() != rank) return false;
    for (int d = 0; d < rank - 2; ++d) {
      if (m.q.shape()[d] != m.k.shape()[d] || m.q.shape()[d] != m.v.shape()[d]) return false;
    }
    return m.v.dtype() == m.q.dtype();
  }

  // From softmax_grad to the gradients of q and k.
  bool gradient(const Node* ds, Match& m) const {
    const Value& dp = ds->inputs[1];
    if (is_result_[ds->id] || !made_by(dp, "batch_matmul") || !only_user(dp)) return false;
    m.dp = dp.node;
    if (!product(m.dp, false, true) || !m.dp->inputs[1].same(m.v)) return false;
    if (m.dy && !m.dy.same(m.dp->inputs[0])) return false;
    m.dy = m.dp->inputs[0];
    m.inside.push_back(ds);
    if (m.scale) {
      if (users(ds).size() != 1) return false;
      const Node* by = users(ds)[0];
      if (!is(by, m.divides ? "div" : "mul") || is_result_[by->id]) return false;
      int scores = by->inputs[0].node == ds ? 0 : 1;
      if ((m.divides && scores == 1) || !by->inputs[1 - scores].same(m.scale)) return false;
      if (!(by->types[0] == ds->types[0])) return false;
      m.inside.push_back(by);
      ds = by;
    }
    for (const Node* u : users(ds)) {
      if (!is(u, "batch_matmul")) return false;
      bool left = u->inputs[0].node == ds;
      if (left && product(u, false, m.k_is_turned) && u->inputs[1].same(m.k) && !m.dq) {
        m.dq = u;
      } else if (!m.k_is_turned && left && product(u, true, false) && u->inputs[1].same(m.q) &&
                 !m.dk) {
        m.dk = u;
      } else if (m.k_is_turned && !left && product(u, true, false) && u->inputs[0].same(m.q) &&
                 !m.dk) {
        m.dk = u;
      } else {
        return false;
      }
    }
    return true;
  }

  std::vector<std::vector<const Node*>> users_;
  std::vector<bool> is_result_;
};

// Writes the ops that stand for one match.
class Emitter {
 public:
  Emitter(Rewrite& r, const Match& m) : r_(r), m_(m) {
    Ints heads{0, 2, 1, 3};
    turned_ = m.q.rank() == 4 && permuted(m.q, heads) && permuted(m.v, heads) &&
              permuted(m.k, m.k_is_turned ? Ints{0, 2, 3, 1} : heads);
  }

  void forward() {
    const Node& out = *m_.out;
    loc_ = out.loc;
    ir::ValueList in{operand(m_.q), keys(), operand(m_.v)};
    options(in);
    Value y = emit("attention", std::move(in), {Attr(turned_)})->out();
    r_.replace(out, ir::ValueList{heads_first(y)});
  }

  // dq, dk, dv, in the layout of the program.
  ir::ValueList backward() {
    loc_ = (m_.dv ? m_.dv : m_.dp)->loc;
    Value dy = r_.translate(m_.dy);
    if (turned_) dy = transpose(dy, {0, 2, 1, 3});
    ir::ValueList in{operand(m_.q), keys(), operand(m_.v), dy};
    options(in);
    Node* n = emit("attention_grad", std::move(in), {Attr(turned_)});
    Value dk = heads_first(n->out(1));
    if (m_.k_is_turned) dk = swapped(dk);
    return {heads_first(n->out(0)), dk, heads_first(n->out(2))};
  }

 private:
  Node* emit(const char* name, ir::ValueList in, ir::Attrs attrs) {
    return r_.out().add(ir::op_named(name), std::move(in), std::move(attrs), loc_);
  }
  Value transpose(Value v, Ints order) {
    return emit("transpose", {v}, {Attr(std::move(order))})->out();
  }
  Value swapped(Value v) {
    Ints order;
    for (int d = 0; d < v.rank(); ++d) order.push_back(d);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return transpose(v, order);
  }
  Value heads_first(Value v) { return turned_ ? transpose(v, {0, 2, 1, 3}) : v; }
  Value operand(const Value& v) { return r_.translate(turned_ ? v.node->inputs[0] : v); }
  Value keys() { return turned_ || !m_.k_is_turned ? operand(m_.k) : swapped(r_.translate(m_.k)); }
  void options(ir::ValueList& in) {
    in.push_back(r_.translate(m_.mask));
    if (!m_.scale) {
      in.push_back({});
      return;
    }
    Value scale = r_.translate(m_.scale);
    if (scale.rank() > 0) scale = emit("reshape", {scale}, {Attr(Ints{})})->out();
    if (m_.divides) scale = emit("reciprocal", {scale}, {})->out();
    in.push_back(scale);
  }

  Rewrite& r_;
  const Match& m_;
  bool turned_;
  ir::Loc loc_ = 0;
};

GraphOut fuse_level(const ir::Graph& g) {
  Matcher matcher(g);
  std::vector<Match> matches;
  for (const Node& n : g.nodes()) {
    if (n.is_param() || !is(&n, "softmax")) continue;
    if (auto m = matcher.at(n)) matches.push_back(std::move(*m));
  }
  std::vector<bool> gone(g.size(), false);
  std::map<const Node*, const Match*> forward, backward;  // where they are written
  for (const Match& m : matches) {
    for (const Node* n : m.inside) gone[n->id] = true;
    if (m.out) forward[m.out] = &m;
    for (const Node* n : {m.dv, m.dp, m.dq, m.dk}) {
      if (n) gone[n->id] = true;
    }
    const Node* first = !m.dp || (m.dv && m.dv->id < m.dp->id) ? m.dv : m.dp;
    if (first) backward[first] = &m;
  }
  Rewrite r(g);
  for (const Node& n : g.nodes()) {
    if (auto it = forward.find(&n); it != forward.end()) {
      Emitter(r, *it->second).forward();
    } else if (auto at = backward.find(&n); at != backward.end()) {
      const Match& m = *at->second;
      ir::ValueList d = Emitter(r, m).backward();
      if (m.dq) r.replace(*m.dq, ir::ValueList{d[0]});
      if (m.dk) r.replace(*m.dk, ir::ValueList{d[1]});
      if (m.dv) r.replace(*m.dv, ir::ValueList{d[2]});
    } else if (!gone[n.id]) {
      r.copy(n);
    }
  }
  return r.finish();
}

}  // namespace

GraphOut fuse_attention(const ir::Graph& g) { return at_every_level(g, fuse_level); }

}  // namespace mycel::passes
