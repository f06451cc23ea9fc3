#include "interop/onnx/model.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "interop/onnx/record.h"
#include "interop/onnx/scope.h"
#include "interop/onnx/tensors.h"
#include "runtime/trace.h"

namespace mycel::interop::onnx {
namespace {

std::string type_text(const pb::Type& t) {
  if (t.has_sequence_type()) return "sequence of " + type_text(t.sequence_type().elem_type());
  if (t.has_optional_type()) return "optional " + type_text(t.optional_type().elem_type());
  if (!t.has_tensor_type()) return "a type that Mycel has not";
  const pb::TensorType& tensor = t.tensor_type();
  std::string s = name_of_code(tensor.elem_type());
  std::transform(s.begin(), s.end(), s.begin(), [](char c) { return std::tolower(c); });
  if (s == "float") s = "float32";
  if (s == "double") s = "float64";
  if (!tensor.has_shape()) return s;
  std::vector<std::string> dims;
  for (const pb::Dimension& d : tensor.shape().dim()) {
    dims.push_back(d.has_dim_value()       ? std::to_string(d.dim_value())
                   : d.dim_param().empty() ? "?"
                                           : d.dim_param());
  }
  return fmt::format("{}[{}]", s, fmt::join(dims, ", "));
}

OnnxPort port_of(const pb::ValueInfo& v) {
  OnnxPort port;
  port.name = v.name();
  port.type = type_text(v.type());
  const pb::TensorType& t = v.type().tensor_type();
  if (!v.type().has_tensor_type() || !t.has_shape() || !t.elem_type()) return port;
  try {
    port.dtype = dtype_of_code(t.elem_type(), v.name());
  } catch (const UserError&) {  // a type that Mycel has not: said where it is used
    return port;
  }
  port.tensor = true;
  for (const pb::Dimension& d : t.shape().dim()) {
    bool fixed = d.has_dim_value() && d.dim_value() >= 0;
    port.dims.push_back(fixed ? d.dim_value() : -1);
    port.symbols.push_back(fixed ? "" : d.dim_param());
  }
  return port;
}

bool names_position(const char* list, int at) {
  std::string_view rest = list;
  while (!rest.empty()) {
    size_t space = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, space) == std::to_string(at)) return true;
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return false;
}

struct Uses {
  std::set<std::string> shaping, statistics;

  void look(const pb::Graph& g) {
    for (const pb::Node& n : g.node()) {
      const Record* r = find_record(domain_of(n.domain()), n.op_type());
      for (int i = 0; r && i < n.input_size(); ++i) {
        if (names_position(r->shaping, i)) shaping.insert(n.input(i));
        if (names_position(r->statistics, i)) statistics.insert(n.input(i));
      }
      for (const pb::Attribute& a : n.attribute()) {
        if (a.has_g()) look(a.g());
      }
    }
  }
};

bool fits(const OnnxValue& v, const pb::Type& t) {
  using Kind = OnnxValue::Kind;
  if (t.has_optional_type())
    return v.kind == Kind::kNothing || fits(v, t.optional_type().elem_type());
  if (t.has_sequence_type()) {
    return v.kind == Kind::kSequence && std::ranges::all_of(v.items, [&](const OnnxValue& item) {
             return fits(item, t.sequence_type().elem_type());
           });
  }
  if (!t.has_tensor_type() || v.kind != Kind::kTensor) return false;
  const pb::TensorType& want = t.tensor_type();
  if (want.elem_type() && v.tensor.dtype() != dtype_of_code(want.elem_type(), "input"))
    return false;
  if (!want.has_shape()) return true;
  if (want.shape().dim_size() != v.tensor.rank()) return false;
  for (int i = 0; i < v.tensor.rank(); ++i) {
    const pb::Dimension& d = want.shape().dim(i);
    if (d.has_dim_value() && d.dim_value() >= 0 && dims_differ(d.dim_value(), v.tensor.dim(i)))
      return false;
  }
  return true;
}

bool is_abstract(const OnnxValue& v) {
  if (v.kind == OnnxValue::Kind::kTensor) return !runtime::primal(v.tensor).concrete();
  return std::ranges::any_of(v.items, is_abstract);
}

std::string describe(const OnnxValue& v) {
  if (v.kind == OnnxValue::Kind::kNothing) return "nothing";
  if (v.kind == OnnxValue::Kind::kTensor) return v.tensor.describe();
  return fmt::format("a sequence of {}", v.items.size());
}

}  // namespace

ReadModel::ReadModel(std::string_view bytes, const std::string& folder) : file_(bytes, folder) {
  const pb::Graph& g = file_.graph();
  std::set<std::string> given;
  for (const pb::Tensor& t : g.initializer()) given.insert(t.name());
  for (const pb::ValueInfo& v : g.input()) {
    if (given.count(v.name())) continue;
    inputs_.push_back(port_of(v));
    input_types_.push_back(&v.type());
  }
  for (const pb::ValueInfo& v : g.output()) outputs_.push_back(port_of(v));
  find_weights();
}

void ReadModel::find_weights() {
  Uses uses;
  uses.look(file_.graph());
  for (const pb::Tensor& t : file_.graph().initializer()) {
    const Tensor& value = file_.tensor(t);
    if (!is_float(value.dtype()) || value.rank() == 0 || uses.shaping.count(t.name())) continue;
    weights_.emplace_back(t.name(), value);
    statistics_.push_back(uses.statistics.count(t.name()) > 0);
  }
}

void ReadModel::check_inputs(std::span<const OnnxValue> inputs) const {
  if (inputs.size() != inputs_.size())
    value_error("ONNX: {} inputs given, {} expected", inputs.size(), inputs_.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!fits(inputs[i], *input_types_[i]))
      value_error("ONNX: input '{}' is {}; the model takes {}", inputs_[i].name,
                  describe(inputs[i]), inputs_[i].type);
  }
}

OnnxValues ReadModel::evaluate(std::span<const OnnxValue> inputs,
                               std::span<const Tensor> weights) const {
  check_inputs(inputs);
  if (!weights.empty() && weights.size() != weights_.size())
    value_error("ONNX: {} weights given, the model has {}", weights.size(), weights_.size());
  Scope scope(file_);
  for (size_t i = 0; i < inputs.size(); ++i) scope.set(inputs_[i].name, inputs[i]);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i].shape() == weights_[i].second.shape()))
      value_error("ONNX: weight '{}' is {}; the model has {}", weights_[i].first,
                  weights[i].describe(), weights_[i].second.describe());
    scope.set(weights_[i].first, weights[i]);
  }
  scope.abstract = std::ranges::any_of(inputs, is_abstract) ||
                   std::ranges::any_of(weights, [](const Tensor& t) { return is_abstract(t); });
  for (const OnnxValue& v : inputs) {
    if (v.kind == OnnxValue::Kind::kTensor && is_abstract(v)) scope.witness = v.tensor;
  }
  return run_nodes(file_.graph(), scope);
}

}  // namespace mycel::interop::onnx
