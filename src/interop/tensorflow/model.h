// A file that was read, as interop/onnx.h shows models: which constants are weights, what the
// inputs may be.
#pragma once

#include "interop/compiled.h"
#include "interop/tensorflow/call.h"

namespace mycel::interop::tensorflow {

class ReadModel final : public CompiledModel {
 public:
  explicit ReadModel(File f);

  const std::vector<OnnxPort>& inputs() const override { return inputs_; }
  const std::vector<OnnxPort>& outputs() const override { return outputs_; }
  const runtime::NamedTensors& weights() const override { return weights_; }
  const std::vector<bool>& statistics() const override { return statistics_; }
  OnnxValues evaluate(std::span<const OnnxValue> inputs,
                      std::span<const Tensor> weights) const override;
  // Scripts are made of ONNX files alone: UserError.
  ImportedGraph import_graph(std::span<const Tensor> inputs) const override;

 private:
  void find_weights();
  void check_inputs(std::span<const OnnxValue> inputs) const override;
  const char* format() const { return file_.lite ? "TFLite" : "TensorFlow"; }

  File file_;
  std::vector<OnnxPort> inputs_, outputs_;
  runtime::NamedTensors weights_;
  std::vector<int> weight_slots_;
  std::vector<bool> statistics_;
};

}  // namespace mycel::interop::tensorflow
