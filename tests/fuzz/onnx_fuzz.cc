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
#include "base/random.h"
#include "interop/onnx/file.h"

namespace mycel::interop::onnx {
// The reader alone is looked at: to it every op is known.
bool is_known_op(const File&, const pb::Node&) { return true; }
}  // namespace mycel::interop::onnx

namespace {

std::string varint(uint64_t n) {
  std::string out;
  for (; n > 0x7f; n >>= 7) out += static_cast<char>((n & 0x7f) | 0x80);
  return out + static_cast<char>(n);
}

class Damage {
 public:
  explicit Damage(uint64_t seed) : draw_(seed, 0) {}

  std::string operator()(std::string data) {
    for (uint64_t k = 0, n = 1 + below(6); k < n; ++k) once(data);
    return data;
  }
  uint64_t below(uint64_t n) { return n ? draw_.next64() % n : 0; }

 private:
  void once(std::string& data) {
    if (data.empty()) return;
    size_t at = below(data.size()), length = below(std::min<size_t>(data.size() - at, 48) + 1);
    switch (below(8)) {
      case 0:
        data[at] = static_cast<char>(data[at] ^ 1 << below(8));
        return;
      case 1:
        data[at] = static_cast<char>(draw_.next32());
        return;
      case 2:
        data.erase(at, length);
        return;
      case 3:
        data.insert(below(data.size()), data.substr(at, length));
        return;
      case 4:
        data.resize(at);
        return;
      case 5: {  // a field of its own: a tag, a length or a number at its limits
        static constexpr uint64_t kLimits[] = {0, 1, 127, 1u << 31, ~0ull, 1ull << 62, 0x7fffffff};
        data.insert(at, varint(1 + below(30) * 8 + below(6)) + varint(kLimits[below(7)]));
        return;
      }
      case 6: {  // the rest inside of one more message
        std::string rest = data.substr(at);
        data = data.substr(0, at) + varint((1 + below(15)) << 3 | 2) + varint(rest.size()) + rest;
        return;
      }
      default:
        data.replace(at, length, std::string(length, below(2) ? '\xff' : '\0'));
        return;
    }
  }

  mycel::Philox draw_;
};

}  // namespace

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
  Damage damage(std::strtoull(argv[2], nullptr, 10));
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
