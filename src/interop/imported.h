// What a reader of foreign models gives a converter: the model as one graph, its weights, and for
// each node of the file which nodes of the graph it became. Composite ops are kept as they are.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "runtime/model_file.h"

namespace mycel::interop {

// One node of the file.
struct Origin {
  std::string op;    // "Conv"
  std::string name;  // "/layer1/layer1.0/conv1/Conv"
  std::vector<std::pair<std::string, std::string>>
      classes;                     // of modules by their path, where known
  std::vector<std::string> scope;  // the modules it belongs to, outermost first, where known
  uint32_t begin = 0, end = 0;     // ids of its nodes in the graph
  std::vector<ir::Value> in, out;  // an operand that is absent or no tensor is an empty value
  std::vector<Tensor> given;       // the operands themselves: known where they are constants
  std::vector<std::pair<std::string, std::string>> attrs;  // as text: "direction" "forward"
};

struct ImportedGraph {
  std::shared_ptr<const ir::Graph> graph;  // parameters: inputs, weights, captured
  std::vector<std::string> inputs;
  runtime::NamedTensors weights;
  std::vector<bool> statistics;  // of each weight: not to be moved along a gradient
  Tensors captured;              // constants of the file
  Tensors values;                // what each result of each node is where it follows from weights
  std::vector<size_t> first_value;  // by node id: its first in `values`
  std::vector<Origin> origins;
};

}  // namespace mycel::interop
