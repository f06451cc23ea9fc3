// What the bodies of one plan share while it is being made, and what a body is until it is written.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/type.h"
#include "lite/plan/planner.h"
#include "loops/nest.h"

namespace mycel::lite {

struct PlannedPlace {
  file::PlaceKind kind = file::PlaceKind::None;
  uint64_t at = 0, bytes = 0;
};

struct PlannedBody;

struct PlannedStep {
  file::StepKind kind = file::StepKind::Nest;
  std::string op, source, attrs;
  int nest = -1;
  std::vector<int> blocks;           // of operands, results, scratch
  std::vector<uint64_t> bytes;       // of each
  std::vector<PlannedPlace> places;  // filled in once the arena is planned
  std::vector<int64_t> numbers;
  std::vector<float> reals;
  std::vector<PlannedBody> bodies;
  ir::Types in_types, out_types;
};

struct PlannedBody {
  ir::Types inputs, outputs;
  std::vector<std::string> input_names;
  std::vector<PlannedStep> steps;
  uint64_t arena = 0;
};

struct Planner::State {
  const ir::Graph& graph;
  size_t inputs;
  PartWriter write_part;
  PlannedBody body;
  std::vector<ConstantUse> constants;
  std::map<std::pair<int, int>, int> weight_forms;  // (weight, packing) -> constant
  std::unordered_map<const void*, int> values;      // memory of a graph's constant -> constant
  std::vector<loops::Nest> nests;
  std::unordered_map<std::string, int> nest_keys;

  int constant_of(int weight, Packing packing, int64_t groups);
  int constant_of(const Tensor& value);
  int nest_of(loops::Nest nest);
};

// Steps of a graph whose first `inputs` parameters are buffers of the caller; the others are
// weights of the plan (of the main graph) or there are none (of a region).
PlannedBody plan_body(Planner::State& state, const ir::Graph& g, size_t inputs, int depth);

}  // namespace mycel::lite
