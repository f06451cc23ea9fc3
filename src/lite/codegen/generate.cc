#include "lite/codegen/generate.h"

#include <cmath>
#include <random>

#include "base/error.h"
#include "ir/specialize.h"

namespace mycel::lite {
namespace {

// Small numbers: [0, 1) for reals, 0 and 1 for wider integers and bools, which may be indices.
Tensor example(const ir::Type& t, const std::string& name, std::mt19937_64& random) {
  if (!t.shape.known()) {
    throw UserError(ErrorKind::kValue,
                    fmt::format("input '{}' has the unknown shape {}", name, t.shape.str()),
                    "Give example inputs: --input FILE.");
  }
  Tensor x = Tensor::empty(t.dtype, t.shape);
  for (int64_t i = 0; i < t.shape.size(); ++i) {
    const double v = static_cast<double>(random() >> 40) / (1 << 24);
    double e = is_float(t.dtype) ? v : v < 0.5 ? 0 : 1;
    // Bytes are quantized numbers: all of their range.
    if (t.dtype == DType::kInt8) e = std::floor(v * 256) - 128;
    if (t.dtype == DType::kUInt8) e = std::floor(v * 256);
    set_element(x.mutable_raw(), t.dtype, i, e);
  }
  return x;
}

}  // namespace

CSizes generate_c(const runtime::Model& model, const Tensors& given, const CProject& project,
                  const std::string& folder) {
  Tensors inputs = given;
  std::mt19937_64 random(1);
  if (inputs.empty()) {
    for (size_t i = 0; i < model.input_types().size(); ++i) {
      inputs.push_back(example(model.input_types()[i], model.input_names()[i], random));
    }
  }
  const Tensors results = model(inputs);
  std::vector<Shape> shapes;
  for (const Tensor& t : inputs) shapes.push_back(t.shape());
  auto graph = ir::specialize(model.graph(), shapes);
  Tensors weights;
  for (const auto& [name, tensor] : model.weights()) weights.push_back(tensor);
  const Network network = lower(*graph, model.input_names(), weights);
  return write_c_project(network, inputs, results, project, folder);
}

}  // namespace mycel::lite
