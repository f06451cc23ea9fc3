// Damaged TFLite files and TensorFlow graphs in any number, read as onnx_fuzz.cc reads ONNX. Build
// with -DMYCEL_SANITIZE=address,undefined:
//   mycel_tensorflow_fuzz lite|graph COUNT SEED FILE...
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "damage.h"
#include "interop/tensorflow/graph.h"
#include "interop/tensorflow/record.h"

namespace mycel::interop::tensorflow {
// The readers alone are looked at: to them every op is known.
namespace {
constexpr Record kAny{1, "ANY", "Any"};
}
const Record* find_lite_record(int) { return &kAny; }
const Record* find_record(bool, std::string_view) { return &kAny; }
}  // namespace mycel::interop::tensorflow

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: mycel_tensorflow_fuzz lite|graph COUNT SEED FILE...\n");
    return 2;
  }
  std::vector<std::string> files;
  for (int i = 4; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  const bool lite = std::strcmp(argv[1], "lite") == 0;
  mycel::fuzz::Damage damage(std::strtoull(argv[3], nullptr, 10));
  uint64_t read = 0, refused = 0;
  for (uint64_t i = 0, n = std::strtoull(argv[2], nullptr, 10); i < n; ++i) {
    std::string data = damage(files[damage.below(files.size())]);
    try {
      if (lite)
        (void)mycel::interop::tensorflow::read_lite(data);
      else
        (void)mycel::interop::tensorflow::read_graph_def(data, {}, {});
      ++read;
    } catch (const mycel::UserError& e) {
      if (e.message().empty()) std::abort();
      ++refused;
    }
  }
  std::printf("%llu read, %llu refused\n", static_cast<unsigned long long>(read),
              static_cast<unsigned long long>(refused));
  return 0;
}
