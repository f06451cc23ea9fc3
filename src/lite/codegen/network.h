// A network as a list of loop nests over fixed places: what is left of a graph when all shapes are
// known, weights are constants and every op is its own loops. The passes of the compiler come first
// (ops are fused, constants folded); then each step gets places for its operands in the caller's
// buffers, among the constants, or in one arena that is planned here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "loops/nest.h"
#include "tensor/tensor.h"

namespace mycel::lite {

struct Place {
  enum Kind : uint8_t { kInput, kOutput, kConstant, kArena } kind = kArena;
  size_t index = 0;  // which input, output or constant; byte offset in the arena
};

// A nest run once, or bytes copied.
struct Step {
  std::string op;      // for readers: "conv2d", "fused"
  std::string source;  // the user's line, or ""
  int nest = -1;       // of Network::nests; -1: a copy of `bytes` from places[0] to places[1]
  size_t bytes = 0;
  std::vector<Place> places;  // inputs, outputs, scratch
};

struct Network {
  ir::Types inputs, outputs;
  std::vector<std::string> input_names;
  Tensors constants;
  std::vector<loops::Nest> nests;  // different ones; steps that do the same share
  std::vector<Step> steps;
  size_t arena_bytes = 0;
  size_t alignment = 8;  // of the arena and of every offset in it
};

// `graph`: parameters are the inputs, then one per weight. UserError naming the op and the user's
// line for what has no loops of its own (sorting, decompositions, random states of the process,
// loops that depend on values), and for dims that are unknown.
Network lower(const ir::Graph& graph, const std::vector<std::string>& input_names,
              const Tensors& weights);

}  // namespace mycel::lite
