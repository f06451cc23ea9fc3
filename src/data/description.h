// A pipeline as a graph, with what its parts did so far: for people as text (describe), for
// dashboards as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/reader.h"

namespace mycel::data {

struct PipelineNode {
  std::string text;   // "batch(32)"
  int64_t rows = -1;  // an epoch; -1: not known
  int64_t made = 0;
  double seconds = 0,
         own_seconds = 0;  // to make them, with and without its inputs; summed over threads
  std::vector<std::string> columns;
  std::vector<PipelineNode> inputs;
};
PipelineNode pipeline_tree(const Dataset& dataset);

// One line a dataset, indented by depth: rows made, time of its own, rows a second; below them the
// queue of the reader that gave a row last, while it makes rows ahead.
std::string describe(const Dataset& dataset);

// {"pipeline": {"text", "rows" (or null), "made", "seconds", "own_seconds", "rows_a_second" (or
// null), "columns", "inputs": [...]}, "queue": {"workers", "ahead", "ahead_at_most", "fill",
// "bytes", "rows", "waits", "wait_seconds"}}: rows that are made or being made, how many may be,
// their share, bytes of those made, and how often and long the reader had to wait. Of a reader also
// "position": {"epoch", "row"}; of a dataset the queue is that of the reader that gave a row last.
std::string describe_json(const Dataset& dataset);
std::string describe_json(const Reader& reader);

}  // namespace mycel::data
