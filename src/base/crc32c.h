// CRC-32C (Castagnoli; RFC 3720, appendix B.4), the checksum of TFRecord and event files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mycel {

uint32_t crc32c(const void* data, size_t n);
// The form that is stored beside data which may hold checksums itself.
constexpr uint32_t masked_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace mycel
