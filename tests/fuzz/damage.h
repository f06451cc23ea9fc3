// Damaged files for fuzz targets: bytes and whole protobuf fields changed at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/random.h"

namespace mycel::fuzz {

inline std::string varint(uint64_t n) {
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

}  // namespace mycel::fuzz
