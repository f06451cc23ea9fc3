// Exported networks: a traced graph with its weights in one file (ir/graph_file.h), and Model,
// which maps such a file and runs it without Python and without the code that built the network.
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
  // The weights stay in the file, mapped. UserError kOs when it cannot be opened; kValue naming the
  // file when it is truncated, damaged, no exported network, or written by a newer version.
  static Model load(const std::string& path);
  // A network that is in memory already; `name` stands for the file's in messages.
  static Model of(const TracedModel& traced, const std::string& name);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // Compiles at the first call, and again for other shapes where dims are unknown (written "?").
  // Safe to call from several threads. ValueError when number, dtype or shape of the inputs differ
  // from those at export.
  Tensors operator()(std::span<const Tensor> inputs) const;

  const std::vector<std::string>& input_names() const { return input_names_; }
  const ir::Types& input_types() const { return input_types_; }
  const NamedTensors& weights() const { return weights_; }
  const ir::Graph& graph() const { return *graph_; }
  size_t plans() const;  // how many shapes it is compiled for

 private:
  struct Plans;
  Model();
  void check(std::span<const Tensor> inputs) const;
  std::shared_ptr<const Plan> plan_for(std::span<const Tensor> inputs) const;

  std::string path_;
  std::shared_ptr<const ir::Graph> graph_;
  std::vector<std::string> input_names_;
  ir::Types input_types_;
  NamedTensors weights_;
  std::unique_ptr<Plans> plans_;
};

}  // namespace mycel::runtime

namespace mycel {
using runtime::Model;
}
