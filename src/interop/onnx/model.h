// A model that was read, as interop/onnx.h shows it: which initializers are weights and what
// the inputs may be.
#pragma once

#include <string>

#include "interop/compiled.h"
#include "interop/onnx/file.h"

namespace mycel::interop::onnx {

class ReadModel final : public CompiledModel {
 public:
  ReadModel(std::string_view bytes, const std::string& folder);

  const std::vector<OnnxPort>& inputs() const override { return inputs_; }
  const std::vector<OnnxPort>& outputs() const override { return outputs_; }
  const runtime::NamedTensors& weights() const override { return weights_; }
  const std::vector<bool>& statistics() const override { return statistics_; }
  OnnxValues evaluate(std::span<const OnnxValue> inputs,
                      std::span<const Tensor> weights) const override;
  ImportedGraph import_graph(std::span<const Tensor> inputs) const override;

 private:
  void find_weights();
  void check_inputs(std::span<const OnnxValue> inputs) const override;

  File file_;
  std::vector<OnnxPort> inputs_, outputs_;
  std::vector<const pb::Type*> input_types_;
  runtime::NamedTensors weights_;
  std::vector<bool> statistics_;
};

}  // namespace mycel::interop::onnx
