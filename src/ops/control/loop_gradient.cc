// The gradient of while_loop, for any number of iterations. A forward loop repeats the original one
// and pushes what the body's gradient reads (its residuals) on stacks, one per value, and counts; a
// backward loop pops them and carries the gradients:
//
//   forward:   while condition(c): push(s, residuals(c)); c = body(c); n = n + 1
//   backward:  while n > 0: dc = body_gradient(pop(s), dc); n = n - 1
//
// Loop invariants are passed to the backward loop as they are, and what follows from invariants
// alone is computed there again. The original loop computes the same values as the forward one; the
// pass merge_loops makes one of both. All ops involved have gradients, so the result can be
// differentiated again.
#include <algorithm>
#include <map>

#include "ir/activity.h"
#include "ir/adjoint.h"
#include "ir/core_ops.h"
#include "ir/graph.h"
#include "ops/control/control.h"

namespace mycel::ops {
namespace {

using ir::Attr;
using ir::Graph;
using ir::GraphPtr;
using ir::Node;
using ir::Type;
using ir::Value;

const Type kCount(DType::kInt64, Shape{});

using ir::differentiable;

// The carried values whose gradient the backward loop carries.
std::vector<int> active_values(ir::Adjoint& a, const Graph& body) {
  std::vector<bool> active;
  for (int i = 0; i < a.inputs(); ++i) {
    active.push_back(a.wants(i) ||
                     (differentiable(a.x_type(i)) && !body.results()[i].shape().known()));
  }
  for (bool more = true; more;) {
    more = false;
    std::vector<bool> next = ir::reached(body, active);
    for (size_t i = 0; i < active.size(); ++i) {
      if (!next[i] || active[i]) continue;
      active[i] = more = true;
    }
  }
  std::vector<int> list;
  for (size_t i = 0; i < active.size(); ++i) {
    if (active[i]) list.push_back(static_cast<int>(i));
  }
  return list;
}

// Per node of the body: its results are the same in every iteration.
std::vector<bool> find_invariants(const Graph& body) {
  std::vector<bool> same(body.size(), false);
  for (size_t i = 0; i < body.params().size(); ++i) {
    if (body.results()[i].same(body.params()[i])) same[body.params()[i].node->id] = true;
  }
  for (const Node& n : body.nodes()) {
    if (n.is_param() || n.op->def.random || n.op->def.side_effect || n.op->holds_code) continue;
    same[n.id] = true;
    for (const Value& v : n.inputs) {
      if (v && !same[v.node->id]) same[n.id] = false;
    }
  }
  return same;
}

class LoopGradient {
 public:
  explicit LoopGradient(ir::Adjoint& a)
      : a_(a),
        condition_(*a.attrs()["condition"].graph()),
        wrt_(active_values(a, *a.attrs()["body"].graph())),
        split_(a.split_gradient(*a.attrs()["body"].graph(), wrt_)),
        body_(*split_.region),
        invariant_(find_invariants(body_)) {
    for (const Value& r : split_.residuals) {
      if (!invariant_[r.node->id]) pushed_.push_back(r);
    }
  }

  void build() {
    Node* forward = forward_loop();
    Node* backward = backward_loop(forward);
    uint32_t first = 1 + static_cast<uint32_t>(pushed_.size());
    for (size_t k = 0; k < wrt_.size(); ++k) {
      if (a_.wants(wrt_[k])) a_.dx(wrt_[k]) += backward->out(first + static_cast<uint32_t>(k));
    }
  }

 private:
  Type stack_type(const Value& v) const { return {v.dtype(), v.shape(), Type::Kind::kStack}; }

  Node* forward_loop() {
    Graph& g = a_.graph();
    std::vector<Value> in;
    for (int i = 0; i < a_.inputs(); ++i) in.push_back(a_.x(i));
    in.push_back(g.scalar(DType::kInt64, 0));
    for (const Value& r : pushed_) {
      in.push_back(g.add(ir::op_of(kStackNew), {}, {Attr(r.dtype()), Attr(r.shape())})->out());
    }
    return g.add(ir::op_of(kWhileLoop), in, {forward_condition(), forward_body()});
  }

  // Parameters of the forward regions: carried values, count, stacks. Gives the carried ones.
  std::vector<Value> forward_params(Graph& g, Value* count, std::vector<Value>* stacks) const {
    std::vector<Value> carried;
    for (const Value& p : body_.params()) carried.push_back(g.add_param(p.type(), p.node->name));
    *count = g.add_param(kCount, "count");
    for (const Value& r : pushed_) stacks->push_back(g.add_param(stack_type(r)));
    return carried;
  }

  GraphPtr forward_condition() const {
    auto g = std::make_shared<Graph>("condition");
    Value count;
    std::vector<Value> stacks;
    std::vector<Value> carried = forward_params(*g, &count, &stacks);
    g->set_results(ir::inline_graph(condition_, *g, carried));
    return g;
  }

  GraphPtr forward_body() const {
    auto g = std::make_shared<Graph>("forward");
    Value count;
    std::vector<Value> stacks;
    std::vector<Value> carried = forward_params(*g, &count, &stacks);
    std::vector<Node*> mapping;
    std::vector<Value> results = ir::inline_graph(body_, *g, carried, &mapping);
    results.push_back(step(*g, count, 1));
    for (size_t k = 0; k < pushed_.size(); ++k) {
      const Value& r = pushed_[k];
      Value saved{mapping[r.node->id], r.index};
      results.push_back(g->add(ir::op_of(kStackPush), {stacks[k], saved})->out());
    }
    g->set_results(std::move(results));
    return g;
  }

  static Value step(Graph& g, Value count, double by) {
    return g.add(*ir::core_ops().add, {count, g.scalar(DType::kInt64, by)})->out();
  }

  Node* backward_loop(Node* forward) {
    uint32_t count = static_cast<uint32_t>(a_.inputs());
    std::vector<Value> in{forward->out(count)};
    for (size_t k = 0; k < pushed_.size(); ++k) {
      in.push_back(forward->out(count + 1 + static_cast<uint32_t>(k)));
    }
    for (int i : wrt_) in.push_back(a_.dy(i));
    GraphPtr body = backward_body();  // finds out which invariants it reads
    for (int i : read_) in.push_back(a_.x(i));
    return a_.graph().add(ir::op_of(kWhileLoop), in, {backward_condition(*body), body});
  }

  static GraphPtr backward_condition(const Graph& body) {
    auto g = std::make_shared<Graph>("condition");
    for (const Value& p : body.params()) g->add_param(p.type(), p.node->name);
    Value zero = g->scalar(DType::kInt64, 0);
    g->set_results({g->add(ir::op_named("greater"), {g->params()[0], zero})->out()});
    return g;
  }

  GraphPtr backward_body() {
    auto g = std::make_shared<Graph>("backward");
    Value count = g->add_param(kCount, "count");
    std::vector<Value> stacks, gradients;
    for (const Value& r : pushed_) stacks.push_back(g->add_param(stack_type(r)));
    for (int i : wrt_) gradients.push_back(g->add_param(body_.results()[i].type(), "dy"));
    std::vector<Value> results{step(*g, count, -1)};
    std::vector<Value> args, rest;
    size_t next = 0;
    add_read_invariants(*g);
    for (const Value& r : split_.residuals) {
      if (invariant_[r.node->id]) {
        args.push_back(invariant(*g, r));
        continue;
      }
      Node* pop = g->add(ir::op_of(kStackPop), {stacks[next++]});
      results.push_back(pop->out(0));
      args.push_back(pop->out(1));
    }
    append_seeds(*g, gradients, args);
    for (const Value& v : ir::inline_graph(*split_.backward, *g, args)) results.push_back(v);
    for (int i : read_) results.push_back(copied_.at(body_.params()[i].node->id)->out());
    g->set_results(std::move(results));
    return g;
  }

  void append_seeds(Graph& g, const std::vector<Value>& gradients, std::vector<Value>& args) const {
    for (size_t j = 0; j < body_.results().size(); ++j) {
      const Type& t = body_.results()[j].type();
      if (!differentiable(t)) continue;
      auto at = std::find(wrt_.begin(), wrt_.end(), static_cast<int>(j));
      if (at != wrt_.end()) {
        args.push_back(gradients[at - wrt_.begin()]);
      } else if (t.kind == Type::Kind::kStack) {
        args.push_back(g.add(ir::op_of(kStackNew), {}, {Attr(t.dtype), Attr(t.shape)})->out());
      } else {
        args.push_back(
            g.add(*ir::core_ops().full, {}, {Attr(0.0), Attr(t.shape), Attr(t.dtype)})->out());
      }
    }
  }

  // Parameters for the invariants that the residuals follow from.
  void add_read_invariants(Graph& g) {
    std::vector<bool> needed(body_.size(), false);
    for (const Value& r : split_.residuals) {
      if (invariant_[r.node->id]) needed[r.node->id] = true;
    }
    for (size_t i = body_.size(); i-- > 0;) {
      if (!needed[i]) continue;
      for (const Value& v : body_.nodes()[i].inputs) {
        if (v) needed[v.node->id] = true;
      }
    }
    for (size_t i = 0; i < body_.params().size(); ++i) {
      const Value& p = body_.params()[i];
      if (!needed[p.node->id]) continue;
      read_.push_back(static_cast<int>(i));
      copied_[p.node->id] = g.add_param(p.type(), p.node->name).node;
    }
  }

  // An invariant value of the body, computed in the backward body.
  Value invariant(Graph& g, const Value& v) {
    if (!v) return {};
    auto it = copied_.find(v.node->id);
    if (it != copied_.end()) return {it->second, v.index};
    std::vector<Value> in;
    for (const Value& x : v.node->inputs) in.push_back(invariant(g, x));
    Node* n = g.add_typed(*v.node->op, std::move(in), v.node->attrs, v.node->types, v.node->loc);
    copied_[v.node->id] = n;
    return {n, v.index};
  }

  ir::Adjoint& a_;
  const Graph& condition_;
  std::vector<int> wrt_;
  ir::SplitGradient split_;
  const Graph& body_;
  std::vector<bool> invariant_;  // by node of the body
  std::vector<Value> pushed_;    // the residuals that go on stacks
  std::vector<int> read_;        // carried invariants that the backward body reads
  std::map<uint32_t, Node*> copied_;
};

}  // namespace

void loop_gradient(ir::Adjoint& a) { LoopGradient(a).build(); }

}  // namespace mycel::ops
