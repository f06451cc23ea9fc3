// Models of other frameworks: ONNX in and out, TFLite and TensorFlow graphs in. A model is traced
// over the types that its inputs declare.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "interop/onnx.h"
#include "interop/tensorflow.h"
#include "lite/convert/formats.h"

namespace mycel::lite {
namespace {

// "float32[batch, 3]" as a type; named dims are unknown.
ir::Type type_of(const interop::OnnxPort& port) {
  const size_t open = port.type.find('[');
  ir::Type type;
  if (open == std::string::npos || !port.type.ends_with("]") ||
      !parse_dtype(port.type.substr(0, open), &type.dtype)) {
    throw UserError(ErrorKind::kUnsupported,
                    fmt::format("input '{}' is a {}", port.name, port.type),
                    "Networks that are converted take tensors of known rank.");
  }
  std::vector<int64_t> dims;
  for (size_t at = open + 1; at + 1 < port.type.size();) {
    size_t end = port.type.find_first_of(",]", at);
    std::string dim = port.type.substr(at, end - at);
    const bool digits = !dim.empty() && std::all_of(dim.begin(), dim.end(), [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    dims.push_back(digits && dim.size() < 18 ? std::stoll(dim) : kUnknownDim);
    at = port.type.find_first_not_of(" ,", end);
    if (at == std::string::npos) break;
  }
  type.shape = Shape(dims);
  return type;
}

runtime::TracedModel traced(const std::shared_ptr<interop::OnnxModel>& model,
                            const std::string& path, const ConvertOptions& options) {
  std::vector<std::string> names;
  ir::Types types;
  for (const interop::OnnxPort& p : model->inputs()) {
    names.push_back(p.name);
    types.push_back(type_of(p));
  }
  types = with_shapes(names, types, options);
  Tensors inputs;
  for (const ir::Type& t : types) inputs.push_back(ir::abstract_of(t));
  auto f = [&](std::span<const Tensor> x) {
    std::vector<interop::OnnxValue> values(x.begin(), x.end());
    Tensors out;
    for (const interop::OnnxValue& v : model->evaluate(values)) {
      if (v.kind != interop::OnnxValue::Kind::kTensor) {
        fail(ErrorKind::kUnsupported, "output '{}' is no tensor",
             model->outputs()[out.size()].name);
      }
      out.push_back(v.tensor);
    }
    return out;
  };
  try {
    return runtime::trace_model(f, inputs, model->weights(), names);
  } catch (UserError& e) {
    e.prefix(fmt::format("'{}': ", path));
    throw;
  }
}

}  // namespace

bool is_onnx(const std::string& path, std::string_view) { return path.ends_with(".onnx"); }

runtime::TracedModel read_onnx(const std::string& path, const ConvertOptions& options) {
  return traced(interop::load_onnx(path), path, options);
}

bool is_tflite(const std::string&, std::string_view head) {
  return head.size() >= 8 && head.substr(4, 4) == "TFL3";
}

runtime::TracedModel read_tflite(const std::string& path, const ConvertOptions& options) {
  return traced(interop::load_tflite(path), path, options);
}

bool is_graph_def(const std::string& path, std::string_view) { return path.ends_with(".pb"); }

runtime::TracedModel read_graph_def(const std::string& path, const ConvertOptions& options) {
  return traced(interop::load_tensorflow(path), path, options);
}

std::vector<std::string> write_onnx(const runtime::TracedModel& model, const std::string& path,
                                    const ConvertOptions&) {
  interop::save_onnx(path, model);
  return {};
}

}  // namespace mycel::lite
