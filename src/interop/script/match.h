// Units from a graph: groups of nodes that are a layer (a product with a matrix and a bias, a gated
// recurrence, …) become one, all others calls of ops.
#pragma once

#include "interop/script/reader.h"

namespace mycel::interop::script {

struct Matched {
  Network network;
  int nodes = 0;      // live nodes of the graph
  int in_layers = 0;  // of these: inside of layers
  std::vector<std::string> notes;
};

// UserError kUnsupported naming the nodes that have no words in Python.
Matched match_units(const Recovered& from);

// Patterns that give a layer for the node that comes last in it; claim what they take.
using Pattern = bool (*)(Reader&, const Node&, Unit&);
std::span<const Pattern> layer_patterns();
// The places that a table is read at, without what readers of files put before it so that negative
// places count from the end; `nodes` receives what is left out.
Value places_of(Reader& r, const Value& at, std::vector<const Node*>& nodes);
// LSTM and GRU nodes of a file, whose inside in the graph is a loop.
void match_recurrent(Reader& r, std::vector<std::pair<uint32_t, Unit>>& units);

}  // namespace mycel::interop::script
