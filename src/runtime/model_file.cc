#include "runtime/model_file.h"

#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/text.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"
#include "runtime/trace.h"
#include "tensor/safetensors.h"

namespace mycel::runtime {
namespace {

constexpr int64_t kLayoutVersion = 1;
constexpr const char* kVersionKey = "mycel.model";
constexpr const char* kInputsKey = "mycel.inputs";
constexpr const char* kGraphKey = "mycel.graph";

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

// A text of digits; ValueError otherwise.
int64_t number_in(const std::map<std::string, std::string>& metadata, const char* key) {
  auto it = metadata.find(key);
  if (it == metadata.end()) value_error("the entry '{}' is missing", key);
  const std::string& text = it->second;
  int64_t n = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 0) {
    value_error("the entry '{}' is no number: '{}'", key, text);
  }
  return n;
}

std::string type_text(const ir::Type& t) { return t.str(); }

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
  Checkpoint file;
  for (const auto& [name, tensor] : model.weights) {
    file.tensors.emplace_back(name, concrete(tensor, "export"));
  }
  file.metadata[kVersionKey] = std::to_string(kLayoutVersion);
  file.metadata[kInputsKey] = std::to_string(model.inputs.size());
  file.metadata[kGraphKey] = model.graph->str();
  save_safetensors(path, file);
}

Model Model::load(const std::string& path) {
  Checkpoint file = load_safetensors(path);
  Model m;
  m.path_ = path;
  try {
    if (!file.metadata.contains(kVersionKey)) {
      throw UserError(ErrorKind::kValue, "this file holds tensors but no network",
                      "Write it with mycel.export; checkpoints are read by load_checkpoint.");
    }
    int64_t version = number_in(file.metadata, kVersionKey);
    if (version > kLayoutVersion) {
      throw UserError(
          ErrorKind::kValue,
          fmt::format("written in layout {}; this Mycel reads up to {}", version, kLayoutVersion),
          "Load it with a newer Mycel, or export it with this one.");
    }
    auto inputs = static_cast<size_t>(number_in(file.metadata, kInputsKey));
    if (!file.metadata.contains(kGraphKey)) value_error("the entry '{}' is missing", kGraphKey);
    m.graph_ = ir::parse(file.metadata[kGraphKey]);
    std::span<const ir::Value> params = m.graph_->params();
    if (inputs > params.size() || params.size() - inputs != file.tensors.size()) {
      value_error("a graph of {} parameters, {} of them inputs, with {} tensors", params.size(),
                  inputs, file.tensors.size());
    }
    std::map<std::string, Tensor> by_name(file.tensors.begin(), file.tensors.end());
    for (size_t i = 0; i < params.size(); ++i) {
      const std::string& name = params[i].node->name;
      const ir::Type& type = params[i].type();
      if (i < inputs) {
        m.input_names_.push_back(name);
        m.input_types_.push_back(type);
        continue;
      }
      auto it = by_name.find(name);
      if (it == by_name.end()) value_error("the weight '{}' is missing", name);
      const Tensor& t = it->second;
      if (t.dtype() != type.dtype || !(t.shape() == type.shape)) {
        value_error("the weight '{}' is {}; the graph expects {}", name, t.describe(),
                    type_text(type));
      }
      m.weights_.emplace_back(name, t);
    }
    m.plan_ = Plan::build(*m.graph_);
  } catch (UserError& e) {
    e.prefix(fmt::format("'{}': ", path));
    throw;
  }
  return m;
}

void Model::check(std::span<const Tensor> inputs) const {
  if (inputs.size() != input_types_.size()) {
    value_error("'{}': {} inputs given, {} expected", path_, inputs.size(), input_types_.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type& type = input_types_[i];
    if (inputs[i].dtype() == type.dtype && inputs[i].shape() == type.shape) continue;
    throw UserError(
        ErrorKind::kValue,
        fmt::format("'{}': input '{}' is {}; it was exported for {}", path_, input_names_[i],
                    inputs[i].describe(), type_text(type)),
        "Types and shapes are fixed at export: export again with an input of this shape.");
  }
}

Tensors Model::operator()(std::span<const Tensor> inputs) const {
  check(inputs);
  Tensors args(inputs.begin(), inputs.end());
  bool plain = true;
  for (Tensor& t : args) plain = !live_trace(t) && t.concrete() && plain;
  for (const auto& [name, tensor] : weights_) args.push_back(tensor);
  return plain ? plan_->run(args) : run_graph(*graph_, args);
}

}  // namespace mycel::runtime
