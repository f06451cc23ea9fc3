#include "mutated_safetensors.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "test_paths.h"

namespace mycel {
namespace {

Bytes read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// What a header's numbers and texts may be turned into.
constexpr const char* kPieces[] = {"0",
                                   "-1",
                                   "18446744073709551615",
                                   "9223372036854775808",
                                   "1e9",
                                   "null",
                                   "true",
                                   "[",
                                   "]",
                                   "{",
                                   "}",
                                   ",",
                                   ":",
                                   "\"",
                                   "\"F8_E5M2\"",
                                   "\"shape\"",
                                   "\"dtype\":\"F64\"",
                                   "[[[[",
                                   "\\u0000",
                                   "\xff"};

void mutate(Bytes* b, Philox* draw) {
  const auto at = [&] { return static_cast<std::ptrdiff_t>(draw->below(b->size() + 1)); };
  switch (draw->below(7)) {
    case 0:  // flip a bit
      if (!b->empty()) (*b)[draw->below(b->size())] ^= static_cast<char>(1 << draw->below(8));
      break;
    case 1:  // any byte
      if (!b->empty()) (*b)[draw->below(b->size())] = static_cast<char>(draw->next32());
      break;
    case 2:  // truncate
      b->resize(draw->below(b->size() + 1));
      break;
    case 3: {  // insert a piece of syntax
      const char* piece = kPieces[draw->below(std::size(kPieces))];
      b->insert(b->begin() + at(), piece, piece + std::strlen(piece));
      break;
    }
    case 4: {  // remove a stretch
      const auto from = at();
      const auto n = std::min<std::ptrdiff_t>(b->end() - b->begin() - from, 1 + draw->below(20));
      b->erase(b->begin() + from, b->begin() + from + n);
      break;
    }
    case 5: {  // repeat a stretch elsewhere
      const auto from = at();
      const auto n = std::min<std::ptrdiff_t>(b->end() - b->begin() - from, draw->below(80));
      const Bytes part(b->begin() + from, b->begin() + from + n);
      b->insert(b->begin() + at(), part.begin(), part.end());
      break;
    }
    default: {  // another header length
      const uint64_t length = draw->below(2) ? draw->next64() : draw->below(2000);
      if (b->size() >= 8) std::memcpy(b->data(), &length, 8);
    }
  }
}

}  // namespace

std::vector<Bytes> whole_safetensors() {
  const char* header = R"({"a":{"dtype":"F32","shape":[2,1],)"
                       R"("data_offsets":[0,8]},"__metadata__":)"
                       R"({"mycel.complex":"[]"}})";
  Bytes b(8);
  const uint64_t length = std::strlen(header);
  std::memcpy(b.data(), &length, 8);
  b.insert(b.end(), header, header + length);
  b.resize(b.size() + 8);
  return {read(MYCEL_SOURCE_DIR "/tests/data/every_dtype.safetensors"), b};
}

Bytes damaged_safetensors(const std::vector<Bytes>& whole, uint64_t at, Philox* draw) {
  Bytes b = whole[at % whole.size()];
  for (uint64_t n = 1 + draw->below(3); n > 0; --n) mutate(&b, draw);
  if (at % 4 < 2 && b.size() > 8) {
    const auto close = std::string_view(b.data(), b.size()).rfind('}');
    const uint64_t length = close == std::string_view::npos || close < 8 ? 0 : close - 7;
    std::memcpy(b.data(), &length, 8);
  }
  return b;
}

}  // namespace mycel
