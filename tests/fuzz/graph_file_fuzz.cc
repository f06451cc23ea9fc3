// mycel_graph_file_fuzz [rounds [seed [file…]]]: what the ci test does with few damaged model
// files, with any number of them, and with model files of one's own. Built without kernels, so that
// the sanitizers cover all of it:
//   cmake -S . -B build-asan -G Ninja -DMYCEL_SANITIZE=address,undefined -DMYCEL_PYTHON=OFF
//   cmake --build build-asan --target mycel_graph_file_fuzz
//   build-asan/bin/mycel_graph_file_fuzz 1000000
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "mutated_graph_files.h"

int main(int argc, char** argv) {
  int64_t rounds = argc > 1 ? std::atoll(argv[1]) : 10000;
  uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::vector<std::string> files;
  for (int i = 3; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    if (!in) {
      fmt::print(stderr, "cannot read '{}'\n", argv[i]);
      return 2;
    }
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  mycel::fuzz::Outcome o = mycel::fuzz::mutate_graph_files(seed, rounds, {}, files);
  fmt::print("{} damaged model files: {} refused, {} loaded as sound graphs\n",
             o.loaded + o.refused, o.refused, o.loaded);
  if (o.failure.empty()) return 0;
  fmt::print(stderr, "{}\n", o.failure);
  return 1;
}
