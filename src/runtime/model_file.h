// Exported networks: a traced graph with its weights in one file, and Model, which loads and runs
// it without Python and without the code that built the network. The file is a safetensors file
// (readable by any tool that knows the format) whose metadata hold the graph's text and the version
// of this layout:
//   mycel.model    version of the layout, a number
//   mycel.inputs   how many of the graph's parameters are inputs; the rest are the file's tensors
//   in order mycel.graph    ir/text.h
// Written atomically (base/file_io.h), so a reader meets the old file or the new one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "runtime/plan.h"
#include "runtime/transforms.h"

namespace mycel::runtime {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// A network as a pure function of its inputs, with the tensors that it read from outside.
struct TracedModel {
  std::shared_ptr<const ir::Graph> graph;  // parameters: inputs, then one per weight
  std::vector<std::string> inputs;
  NamedTensors weights;  // distinct names
};

// Runs `f` over inputs of these types and records it. `known` names the tensors that it reads;
// others are called "constant.0", …. ValueError when it draws random numbers: what is exported must
// repeat.
TracedModel trace_model(const Fn& f, std::span<const Tensor> inputs, const NamedTensors& known = {},
                        std::vector<std::string> input_names = {});

// UserError kOs when the file cannot be written; the old one stays then.
void save_model(const std::string& path, const TracedModel& model);

class Model {
 public:
  // UserError kOs when the file cannot be read; kValue naming the file when it is truncated, no
  // exported network, or written by a newer version.
  static Model load(const std::string& path);

  // ValueError when number, dtype or shape of the inputs differ from those at export.
  Tensors operator()(std::span<const Tensor> inputs) const;

  const std::vector<std::string>& input_names() const { return input_names_; }
  const ir::Types& input_types() const { return input_types_; }
  const NamedTensors& weights() const { return weights_; }
  const ir::Graph& graph() const { return *graph_; }

 private:
  Model() = default;
  void check(std::span<const Tensor> inputs) const;

  std::string path_;
  std::shared_ptr<const ir::Graph> graph_;
  std::shared_ptr<const Plan> plan_;
  std::vector<std::string> input_names_;
  ir::Types input_types_;
  NamedTensors weights_;
};

}  // namespace mycel::runtime
