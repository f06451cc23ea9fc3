// Graph: a TFLite subgraph or a GraphDef as both readers leave it: slots (what an edge carries),
// constants in some of them, and nodes in an order in which they can run. Attributes have TF's
// names whichever file they come from, so that one record (record.h) builds an op of both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::interop::tensorflow {

using Ints = std::vector<int64_t>;

// real = scale (stored - zero), one number for all or one for each index of `axis`.
struct Quantization {
  std::vector<float> scale;
  Ints zero;
  int axis = 0;

  bool by_channel() const { return scale.size() > 1; }
};

struct Slot {
  std::string name;
  DType dtype = DType::kFloat32;
  bool typed = false;  // dtype, and shape where `ranked`, are those of the file
  bool ranked = false;
  Shape shape;                // unknown dims where the file leaves them open
  Quantization quantization;  // no scale: none
  Tensor constant;            // empty: computed or given
};

using AttrValue =
    std::variant<int64_t, double, bool, std::string, Ints, std::vector<double>, DType, Tensor>;

struct Node {
  std::string op;  // as the record names it: "CONV_2D" or "Conv2D"
  std::string name;
  int at = 0;                // in the file
  std::vector<int> in, out;  // slots; -1: none
  std::vector<std::pair<std::string, AttrValue>> attrs;
  std::vector<std::pair<std::string, int>> graphs;  // by attribute: index of File::graphs

  const AttrValue* attr(std::string_view key) const {
    for (const auto& [k, v] : attrs) {
      if (k == key) return &v;
    }
    return nullptr;
  }
};

struct Graph {
  std::string name;
  std::vector<Slot> slots;
  std::vector<int> inputs, outputs;
  std::vector<Node> nodes;
};

struct File {
  bool lite = false;          // TFLite; else a GraphDef
  std::vector<Graph> graphs;  // the first is the model
};

// UserError kValue naming the offset, tensor or node where the bytes are damaged; kUnsupported for
// what no record builds.
File read_lite(std::string_view bytes);
// `inputs`, `outputs`: names of nodes; empty: the placeholders, and what nothing reads.
File read_graph_def(std::string_view bytes, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs);

}  // namespace mycel::interop::tensorflow
