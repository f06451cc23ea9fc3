// What an event file holds, apart from its encoding: write.h makes records of these, read.h gets
// them back. A value belongs to a tag ("loss/auto") and a step of a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::insight {

// Counts of the finite elements in buckets; limits[i] is the right edge of bucket i.
struct Distribution {
  double min = 0, max = 0, count = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits, buckets;
};

// A PNG file.
struct Picture {
  int64_t height = 0, width = 0;
  int channels = 3;
  std::string png;
};

// Names of plug-ins of TensorBoard, and ours for what it does not know.
constexpr const char* kTextPlugin = "text";
constexpr const char* kTensorPlugin = "tensor";
constexpr const char* kHParamsPlugin = "hparams";
// JSON as text: tags are "environment", "dataset_graph/…", "graph/…", "lineage/…".
constexpr const char* kRecordPlugin = "mycel";

using HParam = std::variant<double, std::string, bool>;
using HParams = std::map<std::string, HParam>;

}  // namespace mycel::insight
