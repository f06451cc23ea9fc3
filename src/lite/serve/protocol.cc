#include "lite/serve/protocol.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "mycel/version.h"

namespace mycel::lite {
namespace {

using Json = nlohmann::json;

struct Datatype {
  const char* name;
  DType dtype;
};
constexpr Datatype kDatatypes[] = {
    {"BOOL", DType::kBool},     {"UINT8", DType::kUInt8},   {"UINT16", DType::kUInt16},
    {"UINT32", DType::kUInt32}, {"UINT64", DType::kUInt64}, {"INT8", DType::kInt8},
    {"INT16", DType::kInt16},   {"INT32", DType::kInt32},   {"INT64", DType::kInt64},
    {"FP16", DType::kFloat16},  {"FP32", DType::kFloat32},  {"FP64", DType::kFloat64},
    {"BF16", DType::kBFloat16}};

std::string datatype_of(DType t) {
  for (const Datatype& d : kDatatypes) {
    if (d.dtype == t) return d.name;
  }
  return std::string(name_of(t));
}

std::string output_name(size_t i) { return fmt::format("output{}", i); }

template <typename T, typename Wide>
T narrow(const std::string& name, Wide v) {
  if (!std::in_range<T>(v)) value_error("input '{}': {} is outside of its datatype", name, v);
  return static_cast<T>(v);
}

template <typename T>
void put_integer(const std::string& name, const Json& v, void* data, int64_t i) {
  if (!v.is_number_integer())
    value_error("input '{}': expected an integer, got {}", name, v.dump());
  static_cast<T*>(data)[i] = v.is_number_unsigned() ? narrow<T>(name, v.get<uint64_t>())
                                                    : narrow<T>(name, v.get<int64_t>());
}

void put(const std::string& name, const Json& v, Tensor& t, int64_t i) {
  void* data = t.mutable_raw();
  switch (t.dtype()) {
    case DType::kBool:
      if (!v.is_boolean()) value_error("input '{}': expected a bool, got {}", name, v.dump());
      static_cast<uint8_t*>(data)[i] = v.get<bool>();
      return;
    case DType::kUInt8:
      return put_integer<uint8_t>(name, v, data, i);
    case DType::kUInt16:
      return put_integer<uint16_t>(name, v, data, i);
    case DType::kUInt32:
      return put_integer<uint32_t>(name, v, data, i);
    case DType::kUInt64:
      return put_integer<uint64_t>(name, v, data, i);
    case DType::kInt8:
      return put_integer<int8_t>(name, v, data, i);
    case DType::kInt16:
      return put_integer<int16_t>(name, v, data, i);
    case DType::kInt32:
      return put_integer<int32_t>(name, v, data, i);
    case DType::kInt64:
      return put_integer<int64_t>(name, v, data, i);
    default:
      if (!v.is_number()) value_error("input '{}': expected a number, got {}", name, v.dump());
      set_element(data, t.dtype(), i, v.get<double>());
  }
}

// Fills t from a list that may be nested.
void fill(const std::string& name, const Json& data, Tensor& t, int64_t& at, int depth) {
  if (!data.is_array()) {
    if (at >= t.size())
      value_error("input '{}': more than {} numbers for shape {}", name, t.size(), t.shape().str());
    return put(name, data, t, at++);
  }
  if (depth > kMaxRank)
    value_error("input '{}': lists are nested more than {} deep", name, kMaxRank);
  for (const Json& v : data) fill(name, v, t, at, depth + 1);
}

Shape shape_of(const std::string& name, const Json& input, const ir::Type& wanted) {
  if (!input.contains("shape") || !input["shape"].is_array())
    value_error("input '{}': a list 'shape' is needed", name);
  std::vector<int64_t> dims;
  for (const Json& d : input["shape"]) {
    if (!d.is_number_integer()) value_error("input '{}': {} is no dim", name, d.dump());
    dims.push_back(d.get<int64_t>());
  }
  bool fits = static_cast<int>(dims.size()) == wanted.shape.rank();
  for (size_t d = 0; fits && d < dims.size(); ++d) {
    fits = dims[d] >= 0 && !dims_differ(dims[d], wanted.shape[static_cast<int>(d)]);
  }
  if (!fits) {
    value_error("input '{}': shape {} does not fit {}", name, input["shape"].dump(),
                wanted.shape.str());
  }
  return Shape(dims);
}

// `most`: elements that a body of this length can hold.
Tensor tensor_of(const std::string& name, const Json& input, const ir::Type& wanted, int64_t most) {
  if (input.value("datatype", Json()) != datatype_of(wanted.dtype)) {
    value_error("input '{}': the datatype must be {}, got {}", name, datatype_of(wanted.dtype),
                input.contains("datatype") ? input["datatype"].dump() : "none");
  }
  const Shape shape = shape_of(name, input, wanted);
  if (!input.contains("data")) value_error("input '{}': there is no 'data'", name);
  const Json& data = input["data"];
  if (!data.is_array()) value_error("input '{}': 'data' must be a list", name);
  int64_t elements = 1;
  for (int64_t d : shape) elements = d == 0 ? 0 : elements > most / d ? most + 1 : elements * d;
  if (elements > most)
    value_error("input '{}': fewer numbers than shape {} has", name, shape.str());
  Tensor t = Tensor::empty(wanted.dtype, shape);
  int64_t at = 0;
  fill(name, data, t, at, 0);
  if (at != t.size()) value_error("input '{}': {} numbers for shape {}", name, at, shape.str());
  return t;
}

std::string name_in(const Json& o, const char* what) {
  if (!o.is_object() || !o.contains("name") || !o["name"].is_string())
    value_error("every {} needs a 'name'", what);
  return o["name"].get<std::string>();
}

std::vector<size_t> wanted_outputs(const Json& body, size_t count) {
  std::vector<size_t> all;
  if (!body.contains("outputs") || body["outputs"].empty()) {
    for (size_t i = 0; i < count; ++i) all.push_back(i);
    return all;
  }
  if (!body["outputs"].is_array()) value_error("'outputs' must be a list");
  for (const Json& o : body["outputs"]) {
    const std::string name = name_in(o, "output");
    size_t i = 0;
    while (i < count && output_name(i) != name) ++i;
    if (i == count)
      value_error("there is no output '{}'; outputs: output0 to output{}", name, count - 1);
    all.push_back(i);
  }
  return all;
}

Json element(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kBool) return element_as_int(t.raw(), t.dtype(), i) != 0;
  if (t.dtype() == DType::kUInt64) return static_cast<const uint64_t*>(t.raw())[i];
  if (!is_float(t.dtype())) return element_as_int(t.raw(), t.dtype(), i);
  const double v = element_as_double(t.raw(), t.dtype(), i);
  // The shortest text of a float32, not of the double that it is.
  if (t.dtype() == DType::kFloat32 && std::isfinite(v)) {
    return Json::parse(fmt::format("{}", static_cast<float>(v)));
  }
  return v;
}

Json tensor_facts(const std::string& name, const ir::Type& t) {
  Json shape = Json::array();
  for (int64_t d : t.shape) shape.push_back(d);
  return {{"name", name}, {"datatype", datatype_of(t.dtype)}, {"shape", std::move(shape)}};
}

}  // namespace

InferRequest parse_infer(const std::string& text, const runtime::Model& model) {
  const Json body = Json::parse(text, nullptr, false);
  if (body.is_discarded() || !body.is_object()) value_error("the body is no JSON object");
  if (!body.contains("inputs") || !body["inputs"].is_array())
    value_error("a list 'inputs' is needed");
  InferRequest r;
  if (body.contains("id") && !body["id"].is_string()) value_error("'id' must be a string");
  r.id = body.value("id", "");
  const auto& names = model.input_names();
  std::vector<const Json*> given(names.size(), nullptr);
  for (const Json& input : body["inputs"]) {
    const std::string name = name_in(input, "input");
    const auto at =
        static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (at == names.size()) {
      value_error("there is no input '{}'; inputs: {}", name, fmt::join(names, ", "));
    }
    if (given[at]) value_error("input '{}' is given twice", name);
    given[at] = &input;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!given[i]) value_error("input '{}' is missing", names[i]);
    r.inputs.push_back(
        tensor_of(names[i], *given[i], model.input_types()[i], static_cast<int64_t>(text.size())));
  }
  r.outputs = wanted_outputs(body, model.graph().results().size());
  return r;
}

std::string infer_answer(const std::string& model_name, const InferRequest& request,
                         const Tensors& results) {
  Json outputs = Json::array();
  for (size_t i : request.outputs) {
    Json o = tensor_facts(output_name(i), {results[i].dtype(), results[i].shape()});
    Json data = Json::array();
    for (int64_t k = 0; k < results[i].size(); ++k) data.push_back(element(results[i], k));
    o["data"] = std::move(data);
    outputs.push_back(std::move(o));
  }
  Json answer = {{"model_name", model_name}, {"outputs", std::move(outputs)}};
  if (!request.id.empty()) answer["id"] = request.id;
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string model_metadata(const std::string& name, const runtime::Model& model) {
  Json inputs = Json::array(), outputs = Json::array();
  for (size_t i = 0; i < model.input_names().size(); ++i) {
    inputs.push_back(tensor_facts(model.input_names()[i], model.input_types()[i]));
  }
  for (size_t i = 0; i < model.graph().results().size(); ++i) {
    outputs.push_back(tensor_facts(output_name(i), model.graph().results()[i].type()));
  }
  return Json({{"name", name},
               {"versions", Json::array()},
               {"platform", "mycel"},
               {"inputs", std::move(inputs)},
               {"outputs", std::move(outputs)}})
      .dump();
}

std::string server_metadata() {
  return Json({{"name", "mycel"}, {"version", version()}, {"extensions", Json::array()}}).dump();
}

std::string error_answer(const std::string& text) {
  return Json({{"error", text}}).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mycel::lite
