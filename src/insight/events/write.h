// Values as the bytes of one record of an event file (format.h). `when`: seconds since 1970.
#pragma once

#include "insight/events/values.h"
#include "ir/graph.h"

namespace mycel::insight {

// A value's place.
struct Place {
  double when = 0;
  int64_t step = 0;
  std::string tag;
};

std::string first_event(double when);  // says which format follows
std::string scalar_event(const Place& at, double value);
std::string histogram_event(const Place& at, const Distribution& value);
std::string picture_event(const Place& at, const Picture& value);
// Elements as they lie in memory; complex ones too.
std::string tensor_event(const Place& at, const Tensor& value);
// `plugin`: kTextPlugin or kRecordPlugin.
std::string text_event(const Place& at, const std::string& value, const char* plugin);
// A graph for TensorBoard: nodes with operands, types and shapes; a region's nodes stand under the
// name of the node that has it.
std::string graph_event(double when, const ir::Graph& graph);
std::string session_start_event(double when, const HParams& params, const std::string& group);
std::string session_end_event(double when, bool success);

}  // namespace mycel::insight
