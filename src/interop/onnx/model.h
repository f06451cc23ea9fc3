// A model that was read, as interop/onnx.h shows it: which initializers are weights, what the
// inputs may be, and programs compiled for the inputs that came.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "interop/onnx.h"
#include "interop/onnx/file.h"
#include "runtime/plan.h"

namespace mycel::interop::onnx {

// A model compiled for inputs of some types, and for the values of some of them.
struct Program {
  std::shared_ptr<const runtime::Plan> plan;
  std::vector<size_t> inputs;  // the tensors that are parameters, by position
  Tensors captured;            // weights and constants; empty: the next random key
  OnnxValues outputs;          // their structure; tensors are filled in from the results
};

class ReadModel final : public OnnxModel {
 public:
  ReadModel(std::string_view bytes, const std::string& folder);

  const std::vector<OnnxPort>& inputs() const override { return inputs_; }
  const std::vector<OnnxPort>& outputs() const override { return outputs_; }
  const runtime::NamedTensors& weights() const override { return weights_; }
  const std::vector<bool>& statistics() const override { return statistics_; }
  OnnxValues evaluate(std::span<const OnnxValue> inputs,
                      std::span<const Tensor> weights) const override;
  OnnxValues run(std::span<const OnnxValue> inputs) override;
  ImportedGraph import_graph(std::span<const Tensor> inputs) const override;
  std::string how() const override;

 private:
  void find_weights();
  void check_inputs(std::span<const OnnxValue> inputs) const;
  std::shared_ptr<const Program> compile(std::span<const OnnxValue> inputs,
                                         const std::set<size_t>& fixed) const;
  std::shared_ptr<const Program> program_for(std::span<const OnnxValue> inputs,
                                             const Tensors& tensors, std::string* why);

  File file_;
  std::vector<OnnxPort> inputs_, outputs_;
  std::vector<const pb::Type*> input_types_;
  runtime::NamedTensors weights_;
  std::vector<bool> statistics_;

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;  // by types and fixed values
  std::deque<std::string> order_;
  std::map<std::string, std::set<size_t>> fixed_;  // by types: inputs whose values are needed
  std::map<std::string, std::string> uncompiled_;  // by types: why
  std::string how_;
};

}  // namespace mycel::interop::onnx
