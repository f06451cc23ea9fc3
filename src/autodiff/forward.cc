#include "autodiff/forward.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "autodiff/backward.h"
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

class Forward {
 public:
  // joint: the nodes of g are copied beside their tangents. Otherwise values of g that tangents
  // read become parameters.
  Forward(const Graph& g, bool joint, const std::string& suffix)
      : g_(g), joint_(joint), out_(std::make_shared<Graph>(g.name() + suffix)) {}

  Graph& out() { return *out_; }
  std::shared_ptr<Graph> graph() { return out_; }
  std::vector<Value>& residuals() { return residuals_; }

  void set_primal(const Value& v, Value p) { primal_[key(v)] = p; }
  void set_tangent(const Value& v, Value t) { tangent_[key(v)] = t; }
  void run() {
    for (const Node& node : g_.nodes()) {
      Node* n = const_cast<Node*>(&node);
      if (n->is_param()) continue;
      size_t before = out_->size();
      visit(n);
      for (size_t i = before; i < out_->size(); ++i) {
        Node& made = out_->nodes()[i];
        if (!made.loc) made.loc = n->loc;
      }
    }
  }
  Value primal(const Value& v) {
    auto it = primal_.find(key(v));
    if (it != primal_.end()) return it->second;
    MYCEL_CHECK(!joint_, "a value is read before it is there");
    Value p = out_->add_param(v.type(), v.node->name);
    residuals_.push_back(v);
    primal_[key(v)] = p;
    return p;
  }
  Value tangent_or_zero(const Value& v) {
    auto it = tangent_.find(key(v));
    if (it != tangent_.end()) return it->second;
    return zeros(*out_, v.type(), [&] { return primal(v); });
  }

 private:
  using Key = std::pair<uint32_t, uint32_t>;
  static Key key(const Value& v) { return {v.node->id, v.index}; }
  bool active(const Value& v) const { return v && tangent_.count(key(v)) > 0; }

  void visit(Node* n) {
    bool reads = false, gives = false;
    for (const Value& v : n->inputs) reads |= active(v);
    for (const Type& t : n->types) gives |= differentiable(t);
    const ir::CoreOps& core = ir::core_ops();
    bool control = n->op == core.cond || n->op == core.while_loop || n->op == core.call;
    if (joint_ && !(control && reads && gives)) copy(n);
    if (!reads || !gives) return;
    if (n->op == core.while_loop) {
      loop(n);
    } else if (n->op == core.cond) {
      branch(n);
    } else if (n->op == core.call) {
      called(n);
    } else {
      transpose(n);
    }
  }

  void copy(Node* n) {
    std::vector<Value> in;
    for (const Value& v : n->inputs) in.push_back(v ? primal(v) : Value());
    Node* to = out_->add_typed(*n->op, std::move(in), n->attrs, n->types, n->loc);
    for (uint32_t j = 0; j < n->types.size(); ++j) set_primal({n, j}, to->out(j));
  }

  // The node alone as a graph; its gradient; the gradient of that with respect to what arrives.
  void transpose(Node* n) {
    Graph alone(n->op->name);
    std::vector<Value> in, wrt, directions;
    for (const Value& v : n->inputs) {
      in.push_back(v ? alone.add_param(v.type()) : Value());
      if (!active(v)) continue;
      wrt.push_back(in.back());
      directions.push_back(tangent_.at(key(v)));
    }
    Node* copy = alone.add_typed(*n->op, in, n->attrs, n->types, n->loc);
    std::vector<Value> outs;
    for (uint32_t j = 0; j < n->types.size(); ++j) outs.push_back(copy->out(j));
    alone.set_results(outs);
    Backward first = backward(alone, wrt);
    std::vector<Value> seeds(
        first.graph->params().begin() + static_cast<int64_t>(first.residuals.size()),
        first.graph->params().end());
    Backward second = backward(*first.graph, seeds);
    // Values of the gradient that do not depend on what arrives; the rest gets zeros and is dead.
    auto original = [&](const Value& v) -> Value {
      if (!v.node->is_param()) return {n, v.index};
      for (size_t i = 0; i < in.size(); ++i) {
        if (in[i].same(v)) return n->inputs[i];
      }
      return {};
    };
    std::vector<Value> args;
    for (const Value& r : first.residuals) args.push_back(primal(original(r)));
    for (uint32_t j = 0; j < n->types.size(); ++j) {
      if (!first.seeded[j]) continue;
      args.push_back(zeros(*out_, n->types[j], [&] { return primal({n, j}); }));
    }
    std::vector<Value> back_args;
    if (second.residuals.empty()) {
      for (const Value& d : directions) back_args.push_back(d);
    } else {
      back_args = residuals_of(*first.graph, args, second.residuals);
      back_args.insert(back_args.end(), directions.begin(), directions.end());
    }
    std::vector<Value> made = ir::inline_graph(*second.graph, *out_, back_args);
    size_t next = 0;
    for (uint32_t j = 0; j < n->types.size(); ++j) {
      if (first.seeded[j]) set_tangent({n, j}, made[next++]);
    }
  }

  std::vector<Value> residuals_of(const Graph& g, const std::vector<Value>& args,
                                  const std::vector<Value>& wanted) {
    std::map<Node*, Value> param;
    for (size_t i = 0; i < args.size(); ++i) param[g.params()[i].node] = args[i];
    std::vector<Node*> mapping;
    ir::inline_graph(g, *out_, args, &mapping);
    std::vector<Value> out;
    for (const Value& v : wanted) {
      out.push_back(v.node->is_param() ? param.at(v.node) : Value{mapping[v.node->id], v.index});
    }
    return out;
  }

  // Operands of a node with regions: the values, then the tangents of the marked ones.
  std::vector<Value> with_tangents(Node* n, const std::vector<bool>& marked) {
    std::vector<Value> in;
    for (const Value& v : n->inputs) in.push_back(primal(v));
    for (size_t i = 0; i < marked.size(); ++i) {
      if (marked[i]) in.push_back(tangent_or_zero(n->inputs[n->inputs.size() - marked.size() + i]));
    }
    return in;
  }
  std::vector<bool> active_inputs(Node* n, size_t first) const {
    std::vector<bool> a;
    for (size_t i = first; i < n->inputs.size(); ++i) a.push_back(active(n->inputs[i]));
    return a;
  }
  // Results of the new node: those of the old one, then the tangents of the marked ones.
  void take_results(Node* n, Node* made, const std::vector<bool>& marked) {
    auto count = static_cast<uint32_t>(n->types.size());
    uint32_t next = count;
    for (uint32_t j = 0; j < count; ++j) {
      if (joint_) set_primal({n, j}, made->out(j));
      if (marked[j]) set_tangent({n, j}, made->out(next++));
    }
  }

  // (params, tangents of `in`) -> (results, tangents of `out`).
  static std::shared_ptr<Graph> region(const Graph& g, const std::vector<bool>& in,
                                       const std::vector<bool>& out) {
    auto expanded = passes::expand_composites(g);
    Forward f(*expanded, true, "_jvp");
    for (const Value& p : expanded->params())
      f.set_primal(p, f.out().add_param(p.type(), p.node->name));
    for (size_t i = 0; i < in.size(); ++i) {
      const Value& p = expanded->params()[i];
      if (in[i]) f.set_tangent(p, f.out().add_param(p.type(), "tangent"));
    }
    f.run();
    std::vector<Value> results;
    for (const Value& r : expanded->results()) results.push_back(f.primal(r));
    for (size_t j = 0; j < out.size(); ++j) {
      if (out[j]) results.push_back(f.tangent_or_zero(expanded->results()[j]));
    }
    f.out().set_results(std::move(results));
    return passes::eliminate_dead_code(f.out());
  }

  void loop(Node* n) {
    const Graph& condition = *n->attrs[0].graph();
    const Graph& body = *n->attrs[1].graph();
    std::vector<bool> marked = active_inputs(n, 0);
    for (bool more = true; more;) {
      more = false;
      std::vector<bool> next = ir::reached(body, marked);
      for (size_t i = 0; i < marked.size(); ++i) {
        if (!next[i] || marked[i]) continue;
        marked[i] = more = true;
      }
    }
    auto again = std::make_shared<Graph>("condition");
    std::vector<Value> args;
    for (const Value& p : condition.params())
      args.push_back(again->add_param(p.type(), p.node->name));
    for (size_t i = 0; i < marked.size(); ++i) {
      if (marked[i]) again->add_param(body.params()[i].type(), "tangent");
    }
    again->set_results(ir::inline_graph(condition, *again, args));
    std::vector<Value> in = with_tangents(n, marked);
    Node* made = out_->add(*n->op, in, {GraphPtr(again), GraphPtr(region(body, marked, marked))});
    take_results(n, made, marked);
  }

  void branch(Node* n) {
    const Graph& then = *n->attrs[0].graph();
    const Graph& otherwise = *n->attrs[1].graph();
    std::vector<bool> in = active_inputs(n, 1), out = ir::reached(then, in);
    std::vector<bool> other = ir::reached(otherwise, in);
    for (size_t j = 0; j < out.size(); ++j) out[j] = out[j] || other[j];
    Node* made = out_->add(*n->op, with_tangents(n, in),
                           {GraphPtr(region(then, in, out)), GraphPtr(region(otherwise, in, out))});
    take_results(n, made, out);
  }

  void called(Node* n) {
    std::vector<bool> in = active_inputs(n, 0), out;
    for (const Type& t : n->types) out.push_back(differentiable(t));
    ir::FunctionPtr f = derived(n->attrs[0].function(), in, out);
    take_results(n, out_->add(*n->op, with_tangents(n, in), {Attr(f)}), out);
  }

  static ir::FunctionPtr derived(const ir::FunctionPtr& f, const std::vector<bool>& in,
                                 const std::vector<bool>& out) {
    std::string name = fmt::format("jvp {}", fmt::join(in, " "));
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
      if (in[i]) params.push_back(f->params[i]);
    }
    for (size_t j = 0; j < out.size(); ++j) {
      if (out[j]) results.push_back(f->results[j]);
    }
    auto made = ir::make_function(f->name + "_jvp", std::move(params), std::move(results), f);
    f->derived[name] = made;
    try {
      ir::set_body(made, region(*f->body, in, out));
    } catch (...) {
      f->derived.erase(name);
      throw;
    }
    return made;
  }

  const Graph& g_;
  const bool joint_;
  std::shared_ptr<Graph> out_;
  std::map<Key, Value> primal_, tangent_;
  std::vector<Value> residuals_;
};

}  // namespace

Tangents tangents(const Graph& g, std::span<const Value> wrt) {
  Forward f(g, false, "_tangents");
  std::vector<Value> directions;
  for (const Value& w : wrt) {
    directions.push_back(f.out().add_param(w.type(), "tangent"));
    f.set_tangent(w, directions.back());
  }
  f.run();
  std::vector<Value> results;
  for (const Value& r : g.results()) {
    if (differentiable(r.type())) results.push_back(f.tangent_or_zero(r));
  }
  f.out().set_results(std::move(results));
  // Parameters were made in the order of need; the contract is residuals first.
  Tangents t;
  t.graph = std::make_shared<Graph>(f.out().name());
  std::vector<Value> args(f.out().params().size()), residual_args;
  for (const Value& r : f.residuals()) {
    residual_args.push_back(t.graph->add_param(r.type(), r.node->name));
  }
  for (size_t i = 0; i < wrt.size(); ++i) args[i] = t.graph->add_param(wrt[i].type(), "tangent");
  for (size_t i = 0; i < residual_args.size(); ++i) args[wrt.size() + i] = residual_args[i];
  t.graph->set_results(ir::inline_graph(f.out(), *t.graph, args));
  t.graph = passes::eliminate_dead_code(*t.graph);
  t.residuals = f.residuals();
  return t;
}

std::shared_ptr<Graph> jvp_graph(const Graph& original, std::span<const int> wrt) {
  auto g = passes::expand_composites(original);
  Forward f(*g, true, "_jvp");
  for (const Value& p : g->params()) f.set_primal(p, f.out().add_param(p.type(), p.node->name));
  for (int i : wrt) {
    const Value& p = g->params()[i];
    f.set_tangent(p, f.out().add_param(p.type(), "tangent"));
  }
  f.run();
  std::vector<Value> results;
  for (const Value& r : g->results()) results.push_back(f.primal(r));
  for (const Value& r : g->results()) {
    if (differentiable(r.type())) results.push_back(f.tangent_or_zero(r));
  }
  f.out().set_results(std::move(results));
  return passes::eliminate_dead_code(f.out());
}

}  // namespace mycel::autodiff
