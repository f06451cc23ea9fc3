#include "autodiff/backward.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "ir/activity.h"
#include "ir/adjoint.h"
#include "ir/core_ops.h"
#include "ir/function.h"
#include "ir/scope.h"
#include "passes/pass.h"

namespace mycel::autodiff {
namespace {

using ir::Graph;
using ir::Node;
using ir::Type;
using ir::Value;

using ir::differentiable;

class Builder;

class NodeAdjoint final : public ir::Adjoint {
 public:
  NodeAdjoint(Builder& b, Node* n) : b_(b) { node_ = n; }
  Value x(int i) override;
  Value y(int j) override;
  Value dy(int j) override;
  bool has_dy(int j) const override;
  bool wants(int i) const override;
  Graph& graph() override;
  ir::GraphPtr region_gradient(const Graph& region, const std::vector<int>& wrt) override;
  ir::SplitGradient split_gradient(const Graph& region, const std::vector<int>& wrt) override;
  ir::FunctionPtr function_gradient(const ir::FunctionPtr& f, const std::vector<int>& wrt) override;

 protected:
  void add(int i, Value v) override;

 private:
  Builder& b_;
};

class Builder {
 public:
  Builder(const Graph& g, std::span<const Value> wrt)
      : g_(g), wrt_(wrt), out_(std::make_shared<Graph>(g.name() + "_backward")) {}

  Backward build() {
    mark_active();
    Backward result;
    seed(result);
    for (size_t i = g_.size(); i-- > 0;) {
      Node* n = const_cast<Node*>(&g_.nodes()[i]);
      if (n->is_param() || !active_[n->id]) continue;
      bool any = false;
      for (uint32_t j = 0; j < n->types.size(); ++j) any |= has_gradient({n, j});
      if (any) differentiate(n);
    }
    std::vector<Value> grads;
    for (const Value& w : wrt_) grads.push_back(gradient_or_zero(w));
    out_->set_results(std::move(grads));
    order_params(result);
    return result;
  }

  Value residual(const Value& v) {
    if (again(v)) return run_again(v);
    auto key = std::pair(v.node->id, v.index);
    auto it = residual_of_.find(key);
    if (it != residual_of_.end()) return it->second;
    Value p = out_->add_param(v.type(), v.node->name);
    residuals_.push_back(v);
    residual_params_.push_back(p);
    residual_of_.emplace(key, p);
    return p;
  }
  bool has_gradient(const Value& v) const { return grads_.count({v.node->id, v.index}) > 0; }
  Value gradient_or_zero(const Value& v) {
    auto it = grads_.find({v.node->id, v.index});
    if (it != grads_.end()) return it->second;
    const Type& t = v.type();
    if (t.kind == Type::Kind::kStack) {
      return out_->add(*ir::core_ops().stack_new, {}, {ir::Attr(t.dtype), ir::Attr(t.shape)})
          ->out();
    }
    if (!t.shape.known()) return out_->add(*ir::core_ops().zeros_like, {residual(v)})->out();
    return out_
        ->add(*ir::core_ops().full, {}, {ir::Attr(0.0), ir::Attr(t.shape), ir::Attr(t.dtype)})
        ->out();
  }
  void accumulate(const Value& to, Value v) {
    if (!wants(to)) return;
    const Type& t = to.type();
    bool stack = t.kind == Type::Kind::kStack;
    if (v.dtype() != t.dtype) v = out_->add(*ir::core_ops().cast, {v}, {t.dtype})->out();
    if (!stack && !(v.shape() == t.shape) && t.shape.known()) {
      v = out_->add(*ir::core_ops().sum_to, {v}, {ir::Attr(t.shape)})->out();
    }
    auto [it, fresh] = grads_.try_emplace({to.node->id, to.index}, v);
    const ir::Op& sum = stack ? *ir::core_ops().stack_add : *ir::core_ops().add;
    if (!fresh) it->second = out_->add(sum, {it->second, v})->out();
  }
  bool wants(const Value& v) const { return v && active_[v.node->id] && differentiable(v.type()); }
  Graph& graph() { return *out_; }

 private:
  // Constants are written down again instead of being kept. So are stacks: a stack cannot lie on a
  // stack, and the loop that fills it is run again where an outer loop's reverse needs it.
  static bool again(const Value& v) {
    const Node& n = *v.node;
    if (n.is_param() || n.op->def.random || n.op->def.side_effect) return false;
    return n.inputs.empty() || v.type().kind == Type::Kind::kStack;
  }
  Value run_again(const Value& v) {
    auto it = again_.find(v.node->id);
    if (it != again_.end()) return {it->second, v.index};
    std::vector<Value> in;
    for (const Value& x : v.node->inputs) in.push_back(x ? residual(x) : Value());
    Node* n =
        out_->add_typed(*v.node->op, std::move(in), v.node->attrs, v.node->types, v.node->loc);
    again_.emplace(v.node->id, n);
    return {n, v.index};
  }

  // Active: reachable from wrt through differentiable values.
  void mark_active() {
    active_.assign(g_.size(), false);
    for (const Value& w : wrt_) active_[w.node->id] = true;
    for (const Node& n : g_.nodes()) {
      if (active_[n.id]) continue;
      bool float_result = false;
      for (const Type& t : n.types) float_result |= differentiable(t);
      if (!float_result) continue;
      for (const Value& v : n.inputs) {
        if (v && active_[v.node->id] && differentiable(v.type())) active_[n.id] = true;
      }
    }
  }

  void seed(Backward& result) {
    for (const Value& r : g_.results()) {
      bool takes = differentiable(r.type());
      result.seeded.push_back(takes);
      if (!takes) continue;
      Value dy = out_->add_param(r.type(), "dy");
      seeds_.push_back(dy);
      accumulate(r, dy);
    }
  }

  void differentiate(Node* n) {
    const ir::OpDef& def = n->op->def;
    MYCEL_CHECK(!def.composite(), "composite op {} must be expanded before differentiation",
                def.name);
    if (!def.grad.fn) {
      throw UserError(ErrorKind::kRuntime,
                      fmt::format("{}: has no gradient: {}", def.name, def.grad.none),
                      "Wrap its operand in stop_gradient if no gradient should flow here.");
    }
    size_t before = out_->size();
    NodeAdjoint a(*this, n);
    def.grad.fn(a);
    for (size_t i = before; i < out_->size(); ++i) {
      if (!out_->nodes()[i].loc) out_->nodes()[i].loc = ir::gradient_loc(n->loc);
    }
  }

  // Parameters were created in the order of need; the contract is residuals first, then seeds.
  void order_params(Backward& result) {
    result.graph = std::make_shared<Graph>(out_->name());
    std::vector<Value> args(out_->params().size());
    std::map<uint32_t, Value> by_id;
    for (size_t i = 0; i < residual_params_.size(); ++i) {
      by_id[residual_params_[i].node->id] =
          result.graph->add_param(residual_params_[i].type(), residual_params_[i].node->name);
    }
    for (const Value& s : seeds_) by_id[s.node->id] = result.graph->add_param(s.type(), "dy");
    for (size_t i = 0; i < args.size(); ++i) args[i] = by_id[out_->params()[i].node->id];
    result.graph->set_results(ir::inline_graph(*out_, *result.graph, args));
    result.residuals = residuals_;
  }

  const Graph& g_;
  std::span<const Value> wrt_;
  std::shared_ptr<Graph> out_;
  std::vector<bool> active_;
  std::map<std::pair<uint32_t, uint32_t>, Value> grads_, residual_of_;
  std::map<uint32_t, Node*> again_;  // nodes of g that run again in the backward graph
  std::vector<Value> residuals_, residual_params_, seeds_;
};

Value NodeAdjoint::x(int i) { return b_.residual(node_->inputs[i]); }
Value NodeAdjoint::y(int j) { return b_.residual({node_, static_cast<uint32_t>(j)}); }
Value NodeAdjoint::dy(int j) { return b_.gradient_or_zero({node_, static_cast<uint32_t>(j)}); }
bool NodeAdjoint::has_dy(int j) const { return b_.has_gradient({node_, static_cast<uint32_t>(j)}); }
bool NodeAdjoint::wants(int i) const { return b_.wants(node_->inputs[i]); }
Graph& NodeAdjoint::graph() { return b_.graph(); }
void NodeAdjoint::add(int i, Value v) { b_.accumulate(node_->inputs[i], v); }

// vjp_graph without the results of the region.
std::shared_ptr<Graph> gradients_only(const Graph& region, const std::vector<int>& wrt) {
  auto both = vjp_graph(*passes::expand_composites(region), wrt);
  std::vector<Value> all(both->results().begin(), both->results().end());
  both->set_results({all.begin() + static_cast<int64_t>(region.results().size()), all.end()});
  return passes::eliminate_dead_code(*both);
}

ir::GraphPtr NodeAdjoint::region_gradient(const Graph& region, const std::vector<int>& wrt) {
  return gradients_only(region, wrt);
}

ir::SplitGradient NodeAdjoint::split_gradient(const Graph& region, const std::vector<int>& wrt) {
  ir::SplitGradient s;
  s.region = passes::expand_composites(region);
  std::vector<Value> values;
  for (int i : wrt) values.push_back(s.region->params()[i]);
  Backward b = backward(*s.region, values);
  s.residuals = std::move(b.residuals);
  s.backward = std::move(b.graph);
  return s;
}

ir::FunctionPtr NodeAdjoint::function_gradient(const ir::FunctionPtr& f,
                                               const std::vector<int>& wrt) {
  return gradient_of(f, wrt);
}

}  // namespace

ir::FunctionPtr gradient_of(const ir::FunctionPtr& f, const std::vector<int>& wrt) {
  std::string key = fmt::format("gradient {}", fmt::join(wrt, " "));
  std::lock_guard lock(f->mutex);
  if (auto it = f->derived.find(key); it != f->derived.end()) return it->second.lock();
  ir::Types params = f->params, results;
  for (const Type& t : f->results) {
    if (differentiable(t)) params.push_back(t);
  }
  for (int i : wrt) results.push_back(f->params[i]);
  if (!f->body) {
    throw UserError(ErrorKind::kRuntime,
                    fmt::format("call: @{} is differentiated while its body is not known", f->name),
                    "Take the gradient outside of the function.");
  }
  auto made = ir::make_function(f->name + "_gradient", std::move(params), std::move(results), f);
  f->derived[key] = made;  // before the body is made: it will ask for itself
  try {
    ir::set_body(made, gradients_only(*f->body, wrt));
  } catch (...) {
    f->derived.erase(key);
    throw;
  }
  return made;
}

Backward backward(const Graph& g, std::span<const Value> wrt) { return Builder(g, wrt).build(); }

std::shared_ptr<Graph> vjp_graph(const Graph& g, std::span<const int> wrt_params) {
  std::vector<Value> wrt;
  for (int i : wrt_params) wrt.push_back(g.params()[i]);
  Backward b = backward(g, wrt);
  auto out = std::make_shared<Graph>(g.name() + "_vjp");
  std::vector<Value> args;
  for (const Value& p : g.params()) args.push_back(out->add_param(p.type(), p.node->name));
  std::vector<Value> seeds;
  for (size_t i = 0; i < b.seeded.size(); ++i) {
    if (b.seeded[i]) seeds.push_back(out->add_param(g.results()[i].type(), "dy"));
  }
  std::vector<Node*> mapping;
  std::vector<Value> results = ir::inline_graph(g, *out, args, &mapping);
  std::vector<Value> backward_args;
  for (const Value& r : b.residuals) backward_args.push_back({mapping[r.node->id], r.index});
  backward_args.insert(backward_args.end(), seeds.begin(), seeds.end());
  for (const Value& v : ir::inline_graph(*b.graph, *out, backward_args)) results.push_back(v);
  out->set_results(std::move(results));
  return out;
}

}  // namespace mycel::autodiff
