// tf.train.Example (tensorflow/core/example): named lists of bytes, float32 or int64, in the wire
// format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding). Read by hand,
// without copies: three small messages do not justify a run-time library that breaks when another
// one is loaded into the same process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mycel::data {

struct Feature {
  enum class Kind { kNone, kBytes, kFloat, kInt };
  Kind kind = Kind::kNone;
  std::vector<std::string_view> bytes;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  size_t size() const { return bytes.size() + floats.size() + ints.size(); }
};

// By name, the last of equal ones. Views point into `text`. False when it is no Example.
bool parse_example(std::string_view text, std::map<std::string_view, Feature>* out);

// For writers of files: the same the other way.
std::string write_example(const std::map<std::string, Feature>& features);

}  // namespace mycel::data
