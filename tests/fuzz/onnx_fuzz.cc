// Damaged ONNX files in any number: bytes and whole fields of models are changed at random and
// read, which must give a model or a UserError that says where. Build with
// -DMYCEL_SANITIZE=address,undefined:
//   mycel_onnx_fuzz COUNT SEED FILE...
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "damage.h"
#include "interop/onnx/file.h"

namespace mycel::interop::onnx {
// The reader alone is looked at: to it every op is known.
bool is_known_op(const File&, const pb::Node&) { return true; }
}  // namespace mycel::interop::onnx

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: mycel_onnx_fuzz COUNT SEED FILE...\n");
    return 2;
  }
  std::vector<std::string> files;
  for (int i = 3; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  mycel::fuzz::Damage damage(std::strtoull(argv[2], nullptr, 10));
  uint64_t read = 0, refused = 0;
  for (uint64_t i = 0, n = std::strtoull(argv[1], nullptr, 10); i < n; ++i) {
    std::string data = damage(files[damage.below(files.size())]);
    try {
      mycel::interop::onnx::File file(data, "");
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
