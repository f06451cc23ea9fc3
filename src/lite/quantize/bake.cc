#include "lite/quantize/bake.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "ir/core_ops.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "runtime/dispatch.h"

namespace mycel::lite {
namespace {

using ir::Node;
using ir::Value;

class Baker {
 public:
  Baker(const ir::Graph& g, const runtime::TracedModel& model) : g_(g), model_(model) {
    size_t values = 0;
    for (const Node& n : g.nodes()) {
      first_.push_back(values);
      values += n.types.size();
    }
    known_.resize(values);
    there_.resize(values);
    result_.graph = out_;
    result_.inputs = model.inputs;
    for (const auto& [name, t] : model.weights) names_.emplace(t.raw(), name);
  }

  runtime::TracedModel run() {
    const size_t inputs = model_.inputs.size();
    for (size_t i = 0; i < g_.params().size(); ++i) {
      const Value& p = g_.params()[i];
      if (i < inputs) {
        there(p) = out_->add_param(p.type(), p.node->name);
      } else {
        known(p) = model_.weights[i - inputs].second;
      }
    }
    for (const Node& n : g_.nodes()) {
      if (!n.is_param() && !compute(n)) copy(n);
    }
    std::vector<Value> results;
    for (const Value& v : g_.results()) results.push_back(value(v));
    out_->set_results(std::move(results));
    return std::move(result_);
  }

 private:
  Tensor& known(const Value& v) { return known_[first_[v.node->id] + v.index]; }
  Value& there(const Value& v) { return there_[first_[v.node->id] + v.index]; }

  bool compute(const Node& n) {
    if (n.op->def.random || n.op->def.side_effect || n.op->holds_code || passes::has_regions(n))
      return false;
    Tensors in;
    for (const Value& v : n.inputs) {
      if (v && !known(v)) return false;
      in.push_back(v ? known(v) : Tensor());
    }
    Tensors out = runtime::call(*n.op, in, n.attrs);
    for (uint32_t j = 0; j < out.size(); ++j) known(Value{const_cast<Node*>(&n), j}) = out[j];
    return true;
  }

  void copy(const Node& n) {
    ir::ValueList in;
    for (const Value& v : n.inputs) in.push_back(v ? value(v) : Value());
    Node* to = out_->add_typed(*n.op, std::move(in), n.attrs, n.types, n.loc);
    for (uint32_t j = 0; j < n.types.size(); ++j) there({const_cast<Node*>(&n), j}) = to->out(j);
  }

  // A known value becomes a weight, or a constant, where something that is not known needs it.
  Value value(const Value& v) {
    Value& to = there(v);
    if (to) return to;
    const Tensor& t = known(v);
    if (t.size() == 1) {
      to = out_->add(*ir::core_ops().constant, {}, {ir::Attr(t)}, v.node->loc)->out();
      return to;
    }
    std::string name = name_of(v, t);
    to = out_->add_param(v.type(), name);
    result_.weights.emplace_back(name, t);
    return to;
  }

  // That of the weight which it was made from, if it is one.
  std::string name_of(const Value& v, const Tensor& t) {
    std::string name;
    if (auto it = names_.find(t.raw()); it != names_.end()) {
      name = it->second;
    } else if (std::set<std::string> origins = origins_of(*v.node); !origins.empty()) {
      for (const std::string& o : origins) {
        if (name.empty() || o.size() < name.size()) name = o;
      }
    }
    if (name.empty()) name = "constant";
    std::string unique = name;
    for (int k = 1; !used_.insert(unique).second; ++k) unique = fmt::format("{}.{}", name, k);
    return unique;
  }
  std::set<std::string> origins_of(const Node& n) {
    std::set<std::string> all;
    std::vector<const Node*> open{&n};
    std::set<const Node*> seen;
    while (!open.empty()) {
      const Node* at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      if (at->is_param()) {
        const Tensor& t = known({const_cast<Node*>(at), 0});
        auto it = t ? names_.find(t.raw()) : names_.end();
        if (it != names_.end() && t.rank() > 1) all.insert(it->second);
      }
      for (const Value& v : at->inputs) {
        if (v) open.push_back(v.node);
      }
    }
    return all;
  }

  const ir::Graph& g_;
  const runtime::TracedModel& model_;
  std::shared_ptr<ir::Graph> out_ = std::make_shared<ir::Graph>("quantized");
  runtime::TracedModel result_;
  std::vector<size_t> first_;
  Tensors known_;
  std::vector<Value> there_;
  std::map<const void*, std::string> names_;
  std::set<std::string> used_;
};

}  // namespace

runtime::TracedModel baked(const runtime::TracedModel& model) {
  std::vector<bool> steady(model.graph->params().size(), true);
  std::fill_n(steady.begin(), model.inputs.size(), false);
  auto g = passes::expand_to_kernels(*model.graph);
  g = passes::simplify_algebra(*g);
  g = passes::merge_duplicates(*g);
  g = passes::eliminate_dead_code(*g);
  g = passes::fold_scales(*g, steady);
  g = passes::simplify_algebra(*g);
  g = passes::eliminate_dead_code(*g);
  return Baker(*g, model).run();
}

}  // namespace mycel::lite
