// --quantize int8 --calibrate FILE: samples are read and the network is quantized.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "lite/convert/formats.h"
#include "tensor/safetensors.h"

namespace mycel::lite {
namespace {

// A tensor of several samples, cut along the first dim into pieces of the input's shape.
Tensors pieces(const Tensor& all, const ir::Type& type, const std::string& name) {
  const Shape& s = type.shape;
  const bool own_dim = all.rank() == s.rank() + 1;  // samples of inputs without a batch
  bool fits = s.known() && all.dtype() == type.dtype && (own_dim || all.rank() == s.rank());
  const int64_t rows = !fits ? 0 : own_dim ? 1 : s.rank() == 0 ? 0 : s[0];
  for (int d = own_dim ? 0 : 1; fits && d < s.rank(); ++d)
    fits = all.dim(own_dim ? d + 1 : d) == s[d];
  if (!fits || rows == 0 || all.dim(0) < rows) {
    value_error("calibration: input '{}' is {}; the file has {}", name, type.str(), all.describe());
  }
  Tensors out;
  for (int64_t at = 0; at + rows <= all.dim(0); at += rows) {
    out.push_back(all.view(s, at / rows * s.size()));
  }
  return out;
}

std::vector<Tensors> samples_of(const runtime::TracedModel& model, const std::string& path) {
  Checkpoint file = load_safetensors(path);
  std::vector<Tensors> samples;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const std::string& name = model.inputs[i];
    auto it = std::find_if(file.tensors.begin(), file.tensors.end(),
                           [&](const auto& t) { return t.first == name; });
    if (it == file.tensors.end() && model.inputs.size() == 1 && file.tensors.size() == 1)
      it = file.tensors.begin();
    if (it == file.tensors.end()) value_error("'{}' has no samples of input '{}'", path, name);
    Tensors of_input = pieces(it->second, model.graph->params()[i].type(), name);
    if (i == 0) samples.resize(of_input.size());
    if (of_input.size() != samples.size()) {
      value_error("'{}': {} samples of input '{}', {} of '{}'", path, of_input.size(), name,
                  samples.size(), model.inputs[0]);
    }
    for (size_t k = 0; k < samples.size(); ++k) samples[k].push_back(of_input[k]);
  }
  return samples;
}

}  // namespace

runtime::TracedModel quantize_change(runtime::TracedModel model, const ConvertOptions& options,
                                     std::vector<std::string>& report) {
  if (options.quantize != "int8") {
    if (!options.quantize.empty() && options.quantize != "fp16")
      value_error("quantize '{}': allowed: int8, fp16", options.quantize);
    return model;
  }
  if (options.calibrate.empty()) {
    throw UserError(ErrorKind::kValue, "int8 needs samples of the inputs",
                    "Give a safetensors file of them: --calibrate FILE.");
  }
  std::vector<Tensors> samples = samples_of(model, options.calibrate);
  QuantizedModel to = quantize(model, samples, options.quantizing);
  for (std::string& line : to.report.lines()) report.push_back(std::move(line));
  return std::move(to.model);
}

}  // namespace mycel::lite
