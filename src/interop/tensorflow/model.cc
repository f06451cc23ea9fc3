#include "interop/tensorflow/model.h"

#include <set>

#include <fmt/format.h>

#include "interop/tensorflow/record.h"

namespace mycel::interop::tensorflow {
namespace {

std::string type_text(const Slot& s) {
  if (!s.typed) return "a tensor";
  std::string text(name_of(s.dtype));
  if (!s.ranked) return text;
  std::vector<std::string> dims;
  for (int64_t d : s.shape) dims.push_back(d == kUnknownDim ? "?" : std::to_string(d));
  return fmt::format("{}[{}]", text, fmt::join(dims, ", "));
}

OnnxPort port_of(const Slot& s) {
  OnnxPort p;
  p.name = s.name;
  p.type = type_text(s);
  p.tensor = s.typed && s.ranked;
  p.dtype = s.dtype;
  p.dims.assign(s.shape.begin(), s.shape.end());
  p.symbols.resize(p.dims.size());
  if (s.quantization.scale.size() == 1) {
    p.scale = s.quantization.scale[0];
    p.zero_point = s.quantization.zero[0];
  }
  return p;
}

bool names_position(const char* list, size_t at) {
  std::string_view rest = list;
  while (!rest.empty()) {
    size_t space = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, space) == std::to_string(at)) return true;
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return false;
}

bool fits(const Tensor& t, const Slot& s) {
  if (!s.typed) return true;
  if (t.dtype() != s.dtype) return false;
  if (!s.ranked) return true;
  if (t.rank() != s.shape.rank()) return false;
  for (int d = 0; d < t.rank(); ++d) {
    if (dims_differ(t.dim(d), s.shape[d])) return false;
  }
  return true;
}

}  // namespace

ReadModel::ReadModel(File f) : file_(std::move(f)) {
  const Graph& g = file_.graphs.at(0);
  for (int i : g.inputs) inputs_.push_back(port_of(g.slots[static_cast<size_t>(i)]));
  for (int i : g.outputs) outputs_.push_back(port_of(g.slots[static_cast<size_t>(i)]));
  find_weights();
}

void ReadModel::find_weights() {
  const Graph& g = file_.graphs[0];
  std::set<int> shaping, statistics, read;
  for (const Node& n : g.nodes) {
    const Record* r = find_record(file_.lite, n.op);
    for (size_t i = 0; i < n.in.size(); ++i) {
      read.insert(n.in[i]);
      if (r && names_position(r->shaping, i)) shaping.insert(n.in[i]);
      if (r && names_position(r->statistics, i)) statistics.insert(n.in[i]);
    }
  }
  for (size_t i = 0; i < g.slots.size(); ++i) {
    const Slot& s = g.slots[i];
    const int at = static_cast<int>(i);
    if (!s.constant || !read.count(at) || shaping.count(at)) continue;
    if (!is_float(s.constant.dtype()) || s.constant.rank() == 0) continue;
    weights_.emplace_back(s.name, s.constant);
    weight_slots_.push_back(at);
    statistics_.push_back(statistics.count(at) > 0);
  }
}

void ReadModel::check_inputs(std::span<const OnnxValue> inputs) const {
  if (inputs.size() != inputs_.size())
    value_error("{}: {} inputs given, {} expected", format(), inputs.size(), inputs_.size());
  const Graph& g = file_.graphs[0];
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind != OnnxValue::Kind::kTensor)
      value_error("{}: input '{}' is no tensor", format(), inputs_[i].name);
    if (!fits(inputs[i].tensor, g.slots[static_cast<size_t>(g.inputs[i])]))
      value_error("{}: input '{}' is {}; the model takes {}", format(), inputs_[i].name,
                  inputs[i].tensor.describe(), inputs_[i].type);
  }
}

OnnxValues ReadModel::evaluate(std::span<const OnnxValue> inputs,
                               std::span<const Tensor> weights) const {
  check_inputs(inputs);
  if (!weights.empty() && weights.size() != weights_.size())
    value_error("{}: {} weights given, the model has {}", format(), weights.size(),
                weights_.size());
  Tensors in;
  for (const OnnxValue& v : inputs) in.push_back(v.tensor);
  Weights given;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i].shape() == weights_[i].second.shape()))
      value_error("{}: weight '{}' is {}; the model has {}", format(), weights_[i].first,
                  weights[i].describe(), weights_[i].second.describe());
    given.emplace_back(weight_slots_[i], weights[i]);
  }
  OnnxValues out;
  for (Tensor& t : run_graph(file_, file_.graphs[0], in, 0, &given)) out.emplace_back(std::move(t));
  return out;
}

ImportedGraph ReadModel::import_graph(std::span<const Tensor>) const {
  throw UserError(ErrorKind::kUnsupported,
                  fmt::format("{}: scripts are recovered from ONNX files alone", format()));
}

}  // namespace mycel::interop::tensorflow
