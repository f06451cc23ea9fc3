#include "autodiff/taylor.h"

#include <deque>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "autodiff/forward.h"
#include "autodiff/zeros.h"
#include "base/error.h"
#include "ir/activity.h"
#include "ir/core_ops.h"
#include "ir/function.h"
#include "passes/pass.h"

namespace mycel::autodiff {
namespace {

using ir::Attr;
using ir::differentiable;
using ir::Graph;
using ir::GraphPtr;
using ir::Node;
using ir::Type;
using ir::Value;
using Flags = std::vector<bool>;

// The series of one value, computed coefficient by coefficient as they are asked for.
struct Series {
  size_t id = 0;
  Type type;
  bool active = false;             // else only coefficient 0 is not zero
  std::vector<Value> known;        // an empty Value is zero
  std::function<Value(int)> next;  // coefficient k, when those below are known
};

// The tangent of one node with respect to some operands, as a graph of its own.
struct Tangent {
  std::shared_ptr<const Graph> graph;  // (what it reads…, directions…) -> tangents of results
  std::vector<std::pair<bool, uint32_t>> reads;  // (an operand?, its number or the result's)
  std::vector<size_t> wrt;

  bool reads_operand(size_t i) const {
    for (const auto& [operand, k] : reads) {
      if (operand && k == i) return true;
    }
    return false;
  }
  bool reads_results() const {
    for (const auto& [operand, k] : reads) {
      if (!operand) return true;
    }
    return false;
  }
};

Tangent tangent_of(const Node& n, const std::vector<size_t>& wrt) {
  Graph alone(n.op->name);
  std::vector<Value> in, directions;
  for (const Value& v : n.inputs) in.push_back(v ? alone.add_param(v.type()) : Value());
  Node* copy = alone.add_typed(*n.op, in, n.attrs, n.types, n.loc);
  std::vector<Value> outs;
  for (uint32_t j = 0; j < n.types.size(); ++j) outs.push_back(copy->out(j));
  alone.set_results(std::move(outs));
  for (size_t i : wrt) directions.push_back(in[i]);
  Tangents t = tangents(alone, directions);
  Tangent out{passes::expand_composites(*t.graph), {}, wrt};
  for (const Value& r : t.residuals) {
    uint32_t operand = 0;
    while (operand < in.size() && !in[operand].same(r)) ++operand;
    bool is_operand = operand < in.size();
    out.reads.emplace_back(is_operand, is_operand ? operand : r.index);
  }
  return out;
}

class Taylor {
 public:
  Taylor(int order, Graph& out) : order_(order), out_(out) {}

  Series* given(const Type& t, std::vector<Value> coefficients) {
    Series& s = make(t);
    s.known = std::move(coefficients);
    s.active = s.known.size() > 1;
    return &s;
  }
  void set(const Value& v, Series* s) { series_[{v.node->id, v.index}] = s; }
  Series* at(const Value& v) const { return series_.at({v.node->id, v.index}); }

  // Coefficient k; an empty Value is zero.
  Value coefficient(Series* s, int k) {
    if (k > 0 && !s->active) return {};
    while (static_cast<int>(s->known.size()) <= k) {
      Value v = s->next(static_cast<int>(s->known.size()));
      s->known.push_back(v);
    }
    return s->known[static_cast<size_t>(k)];
  }
  Value filled(Series* s, int k) {
    Value v = coefficient(s, k);
    return v ? v : zeros(out_, s->type, [&] { return coefficient(s, 0); });
  }

  void run(const Graph& g) {
    auto before = std::move(series_);
    series_.clear();
    for (const Value& p : g.params()) set(p, before.at({p.node->id, p.index}));
    visit_all(g);
  }

 private:
  Series& make(const Type& t) {
    Series& s = all_.emplace_back();
    s.id = all_.size();
    s.type = t;
    return s;
  }
  Value scaled(Value v, double by) {
    if (!v || by == 1) return v;
    static const ir::Op& mul = ir::op_named("mul");
    return out_.add(mul, {v, out_.scalar(v.dtype(), by)}, {}, loc_)->out();
  }
  Value sum(Value a, Value b) {
    if (!a || !b) return a ? a : b;
    const ir::CoreOps& core = ir::core_ops();
    bool stack = a.type().kind == Type::Kind::kStack;
    return out_.add(stack ? *core.stack_add : *core.add, {a, b}, {}, loc_)->out();
  }

  void visit_all(const Graph& g) {
    for (const Node& n : g.nodes()) {
      if (n.is_param()) continue;
      if (n.loc) loc_ = n.loc;
      std::vector<Series*> in;
      for (const Value& v : n.inputs) in.push_back(v ? at(v) : nullptr);
      std::vector<Series*> made = apply(const_cast<Node*>(&n), in);
      for (uint32_t j = 0; j < made.size(); ++j) set({const_cast<Node*>(&n), j}, made[j]);
    }
  }

  // -- one node

  std::vector<Series*> apply(Node* n, const std::vector<Series*>& in) {
    const ir::CoreOps& core = ir::core_ops();
    bool moves = false, gives = false;
    for (const Series* s : in) moves |= s && s->active && differentiable(s->type);
    for (const Type& t : n->types) gives |= differentiable(t);
    if (moves && gives) {
      if (n->op == core.cond) return branch(n, in);
      if (n->op == core.while_loop) return loop(n, in);
      if (n->op == core.call) return called(n, in);
    }
    bool pure = !n->op->def.random && !n->op->def.side_effect && !n->op->holds_code;
    if (pure) {
      if (const auto* found = met(n, in)) return *found;
    }
    std::vector<Value> values;
    for (Series* s : in) values.push_back(s ? coefficient(s, 0) : Value());
    Node* made = out_.add_typed(*n->op, std::move(values), n->attrs, n->types, loc_);
    std::vector<Series*> outs;
    for (uint32_t j = 0; j < n->types.size(); ++j) {
      Series& s = make(n->types[j]);
      s.known.push_back(made->out(j));
      s.active = moves && differentiable(s.type);
      outs.push_back(&s);
    }
    if (moves && gives) follow(made, in, outs);
    if (pure) met_[key_of(n, in)].push_back({n->attrs, outs});
    return outs;
  }

  // Equal ops on equal series are one: the tangents of sin and cos ask for each other again.
  struct Met {
    ir::Attrs attrs;
    std::vector<Series*> outs;
  };
  using Key = std::pair<const ir::Op*, std::vector<size_t>>;
  static Key key_of(const Node* n, const std::vector<Series*>& in) {
    Key k{n->op, {}};
    for (const Series* s : in) k.second.push_back(s ? s->id : 0);
    return k;
  }
  const std::vector<Series*>* met(const Node* n, const std::vector<Series*>& in) const {
    auto it = met_.find(key_of(n, in));
    if (it == met_.end()) return nullptr;
    for (const Met& m : it->second) {
      if (m.attrs == n->attrs) return &m.outs;
    }
    return nullptr;
  }

  // How the coefficients of a node's results follow from those of its operands.
  struct Rule {
    std::function<std::vector<Value>(int)> step;  // coefficient k of every differentiable result
    std::vector<std::vector<Value>> known;        // by k
  };
  void follow(Node* made, const std::vector<Series*>& in, const std::vector<Series*>& outs) {
    auto rule = std::make_shared<Rule>();
    rule->known.emplace_back();
    size_t place = 0;
    for (Series* s : outs) {
      if (!s->active) continue;
      s->next = [this, rule, place, made, in, outs](int k) {
        if (!rule->step) rule->step = choose(made, in, outs);
        while (static_cast<int>(rule->known.size()) <= k) {
          rule->known.push_back(rule->step(static_cast<int>(rule->known.size())));
        }
        return rule->known[static_cast<size_t>(k)][place];
      };
      ++place;
    }
  }

  std::function<std::vector<Value>(int)> choose(Node* made, const std::vector<Series*>& in,
                                                const std::vector<Series*>& outs) {
    std::vector<size_t> active;
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] && in[i]->active && differentiable(in[i]->type)) active.push_back(i);
    }
    auto t = std::make_shared<Tangent>(tangent_of(*made, active));
    bool linear = !t->reads_results();
    for (size_t i : active) linear &= !t->reads_operand(i);
    if (linear) return [this, t, in](int k) { return linear_step(*t, in, k); };
    if (active.size() == 2) {
      if (auto product = as_product(made, in, active[0], active[1])) return product;
    }
    return general(t, in, outs);
  }

  // T on coefficients k of the directions; the values that it reads are `values`.
  std::vector<Value> apply_tangent(const Tangent& t, const std::vector<Series*>& in,
                                   const std::vector<Value>& directions) {
    std::vector<Value> args;
    for (const auto& [operand, i] : t.reads) args.push_back(coefficient(in[i], 0));
    args.insert(args.end(), directions.begin(), directions.end());
    return ir::inline_graph(*t.graph, out_, args);
  }
  std::vector<Value> linear_step(const Tangent& t, const std::vector<Series*>& in, int k) {
    std::vector<Value> directions;
    bool any = false;
    for (size_t i : t.wrt) any |= static_cast<bool>(coefficient(in[i], k));
    if (!any) return std::vector<Value>(t.graph->results().size());
    for (size_t i : t.wrt) directions.push_back(filled(in[i], k));
    return apply_tangent(t, in, directions);
  }

  // For ops that are linear in each of two operands apart; null for others.
  std::function<std::vector<Value>(int)> as_product(Node* made, const std::vector<Series*>& in,
                                                    size_t a, size_t b) {
    auto ta = std::make_shared<Tangent>(tangent_of(*made, {a}));
    auto tb = std::make_shared<Tangent>(tangent_of(*made, {b}));
    if (in[a] == in[b] || ta->reads_results() || tb->reads_results() || ta->reads_operand(a) ||
        tb->reads_operand(b)) {
      return nullptr;
    }
    size_t place = ta->reads.size();
    for (size_t i = 0; i < ta->reads.size(); ++i) {
      if (ta->reads[i].second == b) place = i;
    }
    if (place == ta->reads.size()) return nullptr;
    Value read = ta->graph->params()[place];
    auto mixed = std::make_shared<Tangents>(tangents(*ta->graph, {&read, 1}));
    for (const Value& r : mixed->residuals) {
      if (!r.node->is_param() || r.same(read)) return nullptr;
    }
    return [this, in, a, b, ta, tb, mixed](int k) {
      std::vector<Value> total = linear_step(*ta, in, k), more = linear_step(*tb, in, k);
      for (size_t r = 0; r < total.size(); ++r) total[r] = sum(total[r], more[r]);
      for (int i = 1; i < k; ++i) {
        Value x = coefficient(in[a], i), y = coefficient(in[b], k - i);
        if (!x || !y) continue;
        std::vector<Value> args;
        for (const Value& r : mixed->residuals) args.push_back(argument(*ta, in, r, x));
        args.push_back(y);
        more = ir::inline_graph(*mixed->graph, out_, args);
        for (size_t r = 0; r < total.size(); ++r) total[r] = sum(total[r], more[r]);
      }
      return total;
    };
  }
  // What stands for a parameter of a tangent's graph, its one direction being `x`.
  Value argument(const Tangent& t, const std::vector<Series*>& in, const Value& param, Value x) {
    for (size_t i = 0; i < t.reads.size(); ++i) {
      if (t.graph->params()[i].same(param)) return coefficient(in[t.reads[i].second], 0);
    }
    return x;
  }

  // k y_k = coefficient k - 1 of T(x(t), y(t); x'(t)).
  std::function<std::vector<Value>(int)> general(const std::shared_ptr<Tangent>& t,
                                                 const std::vector<Series*>& in,
                                                 const std::vector<Series*>& outs) {
    auto kept = std::move(series_);
    series_.clear();
    for (size_t i = 0; i < t->graph->params().size(); ++i) {
      const Value& p = t->graph->params()[i];
      if (i >= t->reads.size()) {
        set(p, derivative(in[t->wrt[i - t->reads.size()]]));
      } else {
        set(p, t->reads[i].first ? in[t->reads[i].second] : outs[t->reads[i].second]);
      }
    }
    visit_all(*t->graph);
    std::vector<Series*> results;
    for (const Value& r : t->graph->results()) results.push_back(at(r));
    series_ = std::move(kept);
    return [this, results](int k) {
      std::vector<Value> out;
      for (Series* s : results) out.push_back(scaled(coefficient(s, k - 1), 1.0 / k));
      return out;
    };
  }
  // x'(t)
  Series* derivative(Series* x) {
    auto [it, fresh] = derivatives_.emplace(x, nullptr);
    if (!fresh) return it->second;
    Series& s = make(x->type);
    it->second = &s;
    s.active = true;
    s.known.push_back(filled(x, 1));
    s.next = [this, x](int k) { return scaled(coefficient(x, k + 1), k + 1); };
    return &s;
  }

  // -- regions: coefficients are carried beside their values

  Flags active_inputs(const std::vector<Series*>& in, size_t first) const {
    Flags out;
    for (size_t i = first; i < in.size(); ++i) {
      out.push_back(in[i]->active && differentiable(in[i]->type));
    }
    return out;
  }
  // The values from `first` on, then the coefficients of the marked ones.
  std::vector<Value> with_coefficients(const std::vector<Series*>& in, size_t first,
                                       const Flags& marked) {
    std::vector<Value> out;
    for (Series* s : in) out.push_back(coefficient(s, 0));
    for (size_t i = 0; i < marked.size(); ++i) {
      for (int k = 1; marked[i] && k <= order_; ++k) out.push_back(filled(in[first + i], k));
    }
    return out;
  }
  std::vector<Series*> results_of(const Node* n, Node* made, const Flags& marked) {
    std::vector<Series*> outs;
    auto next = static_cast<uint32_t>(n->types.size());
    for (uint32_t j = 0; j < n->types.size(); ++j) {
      std::vector<Value> c{made->out(j)};
      for (int k = 1; marked[j] && k <= order_; ++k) c.push_back(made->out(next++));
      outs.push_back(given(n->types[j], std::move(c)));
    }
    return outs;
  }

  std::shared_ptr<Graph> region(const Graph& g, const Flags& in, const Flags& out) const {
    auto expanded = passes::expand_composites(g);
    auto made = std::make_shared<Graph>(g.name() + "_jet");
    Taylor t(order_, *made);
    std::vector<std::vector<Value>> given(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      const Value& p = expanded->params()[i];
      given[i].push_back(made->add_param(p.type(), p.node->name));
    }
    for (size_t i = 0; i < in.size(); ++i) {
      const Value& p = expanded->params()[i];
      for (int k = 1; in[i] && k <= order_; ++k) given[i].push_back(made->add_param(p.type()));
      t.set(p, t.given(p.type(), given[i]));
    }
    t.run(*expanded);
    std::vector<Value> results;
    for (const Value& r : expanded->results()) results.push_back(t.coefficient(t.at(r), 0));
    for (size_t j = 0; j < out.size(); ++j) {
      for (int k = 1; out[j] && k <= order_; ++k) {
        results.push_back(t.filled(t.at(expanded->results()[j]), k));
      }
    }
    made->set_results(std::move(results));
    return passes::eliminate_dead_code(*made);
  }

  std::vector<Series*> branch(Node* n, const std::vector<Series*>& in) {
    const Graph &then = *n->attrs[0].graph(), &otherwise = *n->attrs[1].graph();
    Flags marked = active_inputs(in, 1), out = ir::reached(then, marked);
    Flags other = ir::reached(otherwise, marked);
    for (size_t j = 0; j < out.size(); ++j) out[j] = out[j] || other[j];
    Node* made = out_.add(
        *n->op, with_coefficients(in, 1, marked),
        {GraphPtr(region(then, marked, out)), GraphPtr(region(otherwise, marked, out))}, loc_);
    return results_of(n, made, out);
  }

  std::vector<Series*> loop(Node* n, const std::vector<Series*>& in) {
    const Graph &condition = *n->attrs[0].graph(), &body = *n->attrs[1].graph();
    Flags marked = active_inputs(in, 0);
    for (bool more = true; more;) {
      more = false;
      Flags next = ir::reached(body, marked);
      for (size_t i = 0; i < marked.size(); ++i) {
        if (!next[i] || marked[i]) continue;
        marked[i] = more = true;
      }
    }
    auto again = std::make_shared<Graph>("condition");
    std::vector<Value> args;
    for (const Value& p : condition.params()) {
      args.push_back(again->add_param(p.type(), p.node->name));
    }
    for (size_t i = 0; i < marked.size(); ++i) {
      for (int k = 1; marked[i] && k <= order_; ++k) again->add_param(body.params()[i].type());
    }
    again->set_results(ir::inline_graph(condition, *again, args));
    Node* made = out_.add(*n->op, with_coefficients(in, 0, marked),
                          {GraphPtr(again), GraphPtr(region(body, marked, marked))}, loc_);
    return results_of(n, made, marked);
  }

  std::vector<Series*> called(Node* n, const std::vector<Series*>& in) {
    Flags marked = active_inputs(in, 0), out;
    for (const Type& t : n->types) out.push_back(differentiable(t));
    ir::FunctionPtr f = derived(n->attrs[0].function(), marked, out);
    return results_of(n, out_.add(*n->op, with_coefficients(in, 0, marked), {Attr(f)}, loc_), out);
  }

  ir::FunctionPtr derived(const ir::FunctionPtr& f, const Flags& in, const Flags& out) const {
    std::string name = fmt::format("jet {} {}", order_, fmt::join(in, " "));
    std::lock_guard lock(f->mutex);
    if (auto it = f->derived.find(name); it != f->derived.end()) return it->second.lock();
    if (!f->body) {
      throw UserError(
          ErrorKind::kRuntime,
          fmt::format("call: @{} is differentiated while its body is not known", f->name),
          "Take the derivative outside of the function.");
    }
    ir::Types params = f->params, results = f->results;
    for (size_t i = 0; i < in.size(); ++i) {
      for (int k = 1; in[i] && k <= order_; ++k) params.push_back(f->params[i]);
    }
    for (size_t j = 0; j < out.size(); ++j) {
      for (int k = 1; out[j] && k <= order_; ++k) results.push_back(f->results[j]);
    }
    auto made = ir::make_function(f->name + "_jet", std::move(params), std::move(results), f);
    f->derived[name] = made;
    try {
      ir::set_body(made, region(*f->body, in, out));
    } catch (...) {
      f->derived.erase(name);
      throw;
    }
    return made;
  }

  const int order_;
  Graph& out_;
  ir::Loc loc_ = 0;
  std::deque<Series> all_;
  std::map<std::pair<uint32_t, uint32_t>, Series*> series_;  // of the graph that is walked
  std::map<Series*, Series*> derivatives_;
  std::map<Key, std::vector<Met>> met_;
};

}  // namespace

std::shared_ptr<Graph> jet_graph(const Graph& original, std::span<const int> wrt, int order) {
  auto g = passes::expand_composites(original);
  auto out = std::make_shared<Graph>(g->name() + "_jet");
  Taylor t(order, *out);
  std::vector<std::vector<Value>> given(g->params().size());
  for (size_t i = 0; i < given.size(); ++i) {
    const Value& p = g->params()[i];
    given[i].push_back(out->add_param(p.type(), p.node->name));
  }
  for (int i : wrt) {
    auto at = static_cast<size_t>(i);
    for (int k = 1; k <= order; ++k) given[at].push_back(out->add_param(g->params()[at].type()));
  }
  for (size_t i = 0; i < given.size(); ++i) {
    t.set(g->params()[i], t.given(g->params()[i].type(), given[i]));
  }
  t.run(*g);
  std::vector<Value> results;
  for (const Value& r : g->results()) results.push_back(t.coefficient(t.at(r), 0));
  for (const Value& r : g->results()) {
    for (int k = 1; differentiable(r.type()) && k <= order; ++k) {
      results.push_back(t.filled(t.at(r), k));
    }
  }
  out->set_results(std::move(results));
  return passes::eliminate_dead_code(*out);
}

}  // namespace mycel::autodiff
