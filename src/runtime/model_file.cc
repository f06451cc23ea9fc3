#include "runtime/model_file.h"

#include <deque>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/graph_file.h"
#include "ir/specialize.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"
#include "runtime/trace.h"

namespace mycel::runtime {
namespace {

constexpr size_t kMaxPlans = 64;  // shapes kept compiled; the oldest goes first

// The captured tensors under names that occur once.
NamedTensors name_weights(const Tensors& captured, const NamedTensors& known) {
  std::map<const TensorImpl*, const std::string*> names;
  for (const auto& [name, tensor] : known) names.emplace(tensor.impl().get(), &name);
  std::set<std::string> taken;
  NamedTensors out;
  int constants = 0;
  for (const Tensor& t : captured) {
    auto it = names.find(t.impl().get());
    std::string name = it == names.end() ? "" : *it->second;
    while (name.empty() || !taken.insert(name).second)
      name = fmt::format("constant.{}", constants++);
    out.emplace_back(name, t);
  }
  return out;
}

}  // namespace

TracedModel trace_model(const Fn& f, std::span<const Tensor> inputs, const NamedTensors& known,
                        std::vector<std::string> input_names) {
  TracedModel model;
  Recorder recorder;
  KeySource no_keys([](uint64_t) -> Tensor {
    throw UserError(ErrorKind::kValue, "export: the network draws random numbers while it runs",
                    "Export it in evaluation mode: call set_train(False) first.");
  });
  Tensors watched;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name = i < input_names.size() ? input_names[i] : fmt::format("input{}", i);
    watched.push_back(recorder.watch(Tensor::abstract(inputs[i].dtype(), inputs[i].shape()), name));
    model.inputs.push_back(name);
  }
  std::vector<ir::Value> results;
  for (const Tensor& t : f(watched)) results.push_back(recorder.value_of(t));
  recorder.graph().set_results(std::move(results));
  recorder.close();
  const Tensors& all = recorder.param_primals();
  model.weights =
      name_weights({all.begin() + static_cast<int64_t>(inputs.size()), all.end()}, known);
  for (size_t i = 0; i < model.weights.size(); ++i) {
    recorder.graph().params()[inputs.size() + i].node->name = model.weights[i].first;
  }
  model.graph = recorder.graph_ptr();
  return model;
}

void save_model(const std::string& path, const TracedModel& model) {
  ir::GraphFile file{model.graph, model.inputs.size(), model.weights, {}};
  for (auto& [name, tensor] : file.weights) tensor = concrete(tensor, "export");
  try {
    ir::write_graph_file(path, file);
  } catch (UserError& e) {
    if (e.message().find(path) == std::string::npos)
      e.prefix(fmt::format("export of '{}': ", path));
    throw;
  }
}

// Compiled forms by the dims of the inputs; those in use outlive their removal.
struct Model::Plans {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Plan>> by_shapes;
  std::deque<std::string> order;
};

Model::Model() : plans_(std::make_unique<Plans>()) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Model Model::load(const std::string& path) {
  ir::GraphFile file = ir::read_graph_file(path);
  TracedModel traced{file.graph, {}, std::move(file.weights)};
  for (size_t i = 0; i < file.inputs; ++i)
    traced.inputs.push_back(file.graph->params()[i].node->name);
  return of(traced, path);
}

Model Model::of(const TracedModel& traced, const std::string& name) {
  Model m;
  m.path_ = name;
  m.graph_ = traced.graph;
  m.weights_ = traced.weights;
  m.input_names_ = traced.inputs;
  for (size_t i = 0; i < traced.inputs.size(); ++i)
    m.input_types_.push_back(traced.graph->params()[i].type());
  return m;
}

size_t Model::plans() const {
  std::lock_guard lock(plans_->mutex);
  return plans_->by_shapes.size();
}

void Model::check(std::span<const Tensor> inputs) const {
  if (inputs.size() != input_types_.size()) {
    value_error("'{}': {} inputs given, {} expected", path_, inputs.size(), input_types_.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type& type = input_types_[i];
    bool fits = inputs[i].dtype() == type.dtype && inputs[i].rank() == type.shape.rank();
    for (int d = 0; fits && d < type.shape.rank(); ++d)
      fits = type.shape[d] == kUnknownDim || type.shape[d] == inputs[i].dim(d);
    if (fits) continue;
    throw UserError(
        ErrorKind::kValue,
        fmt::format("'{}': input '{}' is {}; it was exported for {}", path_, input_names_[i],
                    inputs[i].describe(), type.str()),
        "Export again with an input of this shape, or with None for the dims that vary.");
  }
}

std::shared_ptr<const Plan> Model::plan_for(std::span<const Tensor> inputs) const {
  std::string key;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!input_types_[i].shape.known()) key += inputs[i].shape().str();
  }
  std::lock_guard lock(plans_->mutex);
  auto& known = plans_->by_shapes;
  if (auto it = known.find(key); it != known.end()) return it->second;
  std::shared_ptr<const ir::Graph> g = graph_;
  if (!key.empty()) {
    std::vector<Shape> shapes;
    for (const Tensor& t : inputs) shapes.push_back(t.shape());
    g = ir::specialize(*g, shapes);
  }
  if (known.size() >= kMaxPlans) {
    known.erase(plans_->order.front());
    plans_->order.pop_front();
  }
  plans_->order.push_back(key);
  return known[key] = Plan::build(*g);
}

Tensors Model::operator()(std::span<const Tensor> inputs) const {
  check(inputs);
  Tensors args(inputs.begin(), inputs.end());
  bool plain = true;
  for (Tensor& t : args) plain = !live_trace(t) && t.concrete() && plain;
  std::shared_ptr<const Plan> plan = plain ? plan_for(args) : nullptr;
  for (const auto& [name, tensor] : weights_) args.push_back(tensor);
  return plan ? plan->run(args) : run_graph(*graph_, args);
}

}  // namespace mycel::runtime
