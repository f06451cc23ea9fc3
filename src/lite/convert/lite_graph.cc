#include "lite/convert/lite_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "runtime/dispatch.h"

namespace mycel::lite {
namespace {

using ir::Node;
using ir::Value;

constexpr int64_t kSmall = 256;    // constants up to this many elements stay in the graph
constexpr int64_t kFilled = 4096;  // a larger fill costs more as a constant

Tensors evaluate(const ir::Op& op, std::span<const Tensor> in, const ir::Attrs& attrs) {
  return runtime::call(op, in, attrs);
}

// Computes what follows from weights and constants, and rebuilds the graph around it.
class Folding {
 public:
  Folding(const ir::Graph& g, const runtime::TracedModel& model) : g_(g), model_(model) {}

  runtime::TracedModel run() {
    const size_t inputs = model_.inputs.size();
    values_.resize(g_.size());
    // Parameters stand where they were first read, in their order.
    size_t param = 0;
    for (const Node& n : g_.nodes()) {
      if (!n.is_param()) {
        compute(n);
        continue;
      }
      if (param >= inputs) values_[n.id] = {weight(param - inputs).second};
      ++param;
    }
    out_ = std::make_shared<ir::Graph>(g_.name());
    map_.resize(g_.size());
    result_.inputs = model_.inputs;
    for (size_t i = 0; i < inputs; ++i) {
      const Value& p = g_.params()[i];
      map_[p.node->id] = out_->add_param(p.type(), p.node->name).node;
    }
    declare_weights();
    for (const Node& n : g_.nodes()) {
      if (n.is_param() || known(n)) continue;
      ir::ValueList in;
      for (const Value& v : n.inputs) in.push_back(v ? use(v) : Value());
      map_[n.id] = out_->add_typed(*n.op, in, n.attrs, n.types, n.loc);
    }
    std::vector<Value> results;
    for (const Value& v : g_.results()) results.push_back(use(v));
    out_->set_results(std::move(results));
    result_.graph = out_;
    return std::move(result_);
  }

 private:
  const std::pair<std::string, Tensor>& weight(size_t i) const { return model_.weights[i]; }
  bool known(const Node& n) const { return !values_[n.id].empty(); }

  void compute(const Node& n) {
    if (n.op == ir::core_ops().constant) {
      values_[n.id] = {n.attrs[0].tensor()};
      return;
    }
    if (n.op->def.random || n.op->def.side_effect || n.op->holds_code || n.types.empty()) return;
    if (n.inputs.empty() && n.types[0].shape.size() > kFilled) return;
    Tensors in;
    for (const Value& v : n.inputs) {
      if (v && !known(*v.node)) return;
      in.push_back(v ? values_[v.node->id][v.index] : Tensor());
    }
    for (const ir::Type& t : n.types) {
      if (t.kind != ir::Type::Kind::kTensor) return;
    }
    values_[n.id] = evaluate(*n.op, in, n.attrs);
  }

  // Parameters come before all else: which known values somebody reads.
  void declare_weights() {
    std::set<std::string> taken;
    auto declare = [&](const std::string& name, const Tensor& t) {
      result_.weights.emplace_back(name, t);
      return out_->add_param(ir::type_of(t), name);
    };
    auto read = [&](const Value& v) {
      if (!v || !known(*v.node) || weights_.count({v.node->id, v.index})) return;
      const Tensor& t = values_[v.node->id][v.index];
      if (!v.node->is_param() && t.size() <= kSmall) return;
      std::string name = v.node->is_param() ? v.node->name : "";
      for (int i = 0; name.empty() || !taken.insert(name).second; ++i)
        name = fmt::format("folded.{}", result_.weights.size() + static_cast<size_t>(i));
      weights_[{v.node->id, v.index}] = declare(name, t);
    };
    for (const Node& n : g_.nodes()) {
      if (n.is_param() || known(n)) continue;
      for (const Value& v : n.inputs) read(v);
    }
    for (const Value& v : g_.results()) read(v);
  }

  Value use(const Value& v) {
    if (!known(*v.node)) return {map_[v.node->id], v.index};
    Value& w = weights_[{v.node->id, v.index}];
    if (!w) w = out_->constant(values_[v.node->id][v.index]);
    return w;
  }

  const ir::Graph& g_;
  const runtime::TracedModel& model_;
  std::vector<Tensors> values_;  // by node; empty: not known
  std::vector<Node*> map_;
  std::map<std::pair<uint32_t, uint32_t>, Value> weights_;
  std::shared_ptr<ir::Graph> out_;
  runtime::TracedModel result_;
};

}  // namespace

runtime::TracedModel lite_graph(const runtime::TracedModel& model) {
  std::vector<bool> steady(model.graph->params().size(), true);
  std::fill_n(steady.begin(), model.inputs.size(), false);
  auto compiled = passes::optimize(*model.graph, evaluate, nullptr, steady);
  auto plain = passes::fuse_elementwise(*passes::expand_to_loops(*compiled));
  plain = passes::eliminate_dead_code(*plain);
  return Folding(*plain, model).run();
}

}  // namespace mycel::lite
