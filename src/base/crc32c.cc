#include "base/crc32c.h"

#include <array>
#include <cstring>

namespace mycel {
namespace {

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c & 1 ? (c >> 1) ^ 0x82F63B78u : c >> 1;
    t[i] = c;
  }
  return t;
}();

uint32_t by_table(uint32_t crc, const unsigned char* p, size_t n) {
  for (; n > 0; --n) crc = kTable[(crc ^ *p++) & 255] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t crc, const unsigned char* p,
                                                          size_t n) {
  uint64_t c = crc;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, 8);
    c = __builtin_ia32_crc32di(c, word);
  }
  crc = static_cast<uint32_t>(c);
  for (; n > 0; --n) crc = __builtin_ia32_crc32qi(crc, *p++);
  return crc;
}
#endif

}  // namespace

uint32_t crc32c(const void* data, size_t n) {
  const auto* p = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  static const bool kFast = __builtin_cpu_supports("sse4.2");
  if (kFast) return ~by_instruction(~0u, p, n);
#endif
  return ~by_table(~0u, p, n);
}

}  // namespace mycel
