// From a graph whose shapes are known to the steps that the Lite runtime takes: contractions get
// kernels of their own, everything else is the loop nest of its record; results that are not needed
// at the same time share the arena. The same code runs in the converter, for networks of fixed
// shapes, and on the device, when inputs of other shapes come.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lite/runtime/lite_file_generated.h"
#include "lite/runtime/packing.h"

namespace mycel::lite {

// A constant that a plan reads: a weight in some order, or a tensor of the graph.
struct ConstantUse {
  int weight = -1;
  Packing packing = Packing::kPlain;
  int64_t groups = 1;
  Tensor value;  // where weight is -1
};

using ConstantOffsets = std::vector<flatbuffers::Offset<file::Constant>>;

// What a delegate gets of a part of the network: bytes that become a constant.
using PartWriter = std::string (*)(const ir::Graph& part);

class Planner {
 public:
  // `inputs`: how many of the graph's parameters are; the others are weights, in order.
  Planner(const ir::Graph& graph, size_t inputs, PartWriter write_part = nullptr);
  ~Planner();
  // UserError kUnsupported naming op and line for what the runtime cannot run, or for dims that
  // depend on values.
  void plan();
  const std::vector<ConstantUse>& constants() const;
  size_t arena_bytes() const;
  // `constants`: one each, in order.
  flatbuffers::Offset<file::Plan> write(flatbuffers::FlatBufferBuilder& to,
                                        const ConstantOffsets& constants);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

flatbuffers::Offset<file::Port> write_port(flatbuffers::FlatBufferBuilder& to,
                                           const std::string& name, const ir::Type& type);

}  // namespace mycel::lite
