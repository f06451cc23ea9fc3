// A network's graph with what a reader needs to know of each value: whether it follows from weights
// alone, who uses it, and which numbers in it follow from the extents that the file leaves open.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "interop/imported.h"

namespace mycel::interop::script {

// An extent of the inputs that may be anything: the graph was made for `base`.
struct Extent {
  std::string name;  // "batch"
  int input = 0, dim = 0;
  int64_t base = 0;
};

// A number of an attribute: times * extent + plus.
struct Follows {
  int extent = 0;
  int64_t times = 1, plus = 0;
};

struct Key {
  uint32_t node, index;
  auto operator<=>(const Key&) const = default;
};
inline Key key_of(const ir::Value& v) { return {v.node->id, v.index}; }

struct Recovered {
  ImportedGraph source;
  std::vector<Extent> extents;
  std::vector<std::string> fixed;  // extents that had to be fixed, each with the reason
  // (node, attribute, position) of a list, or of one number.
  std::map<std::tuple<uint32_t, int, int>, Follows> sizes;
  // (node, result, dim): the extent that a dim of a value is.
  std::map<std::tuple<uint32_t, uint32_t, int>, int> dims;
  // Constants whose rows along dim 0 … are alike and as many as an extent: kept with one.
  std::map<uint32_t, std::pair<int, int>> rows;  // param node -> (dim, extent)

  const ir::Graph& graph() const { return *source.graph; }
};

// From a model file of Mycel, or any reader that gives a traced model.
Recovered recover(const runtime::TracedModel& model);

}  // namespace mycel::interop::script
