// The bytes of a protobuf file walked before protobuf reads them: every field lies inside its
// message, nesting is bounded, and what the messages would take as objects stays in proportion to
// the bytes. protobuf says only that something is wrong; this says where.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace mycel::interop {

// A kind of message: fields that are messages, and about what an object takes. Repeated numbers,
// strings and bytes count by field.
struct WireMessage {
  size_t bytes;
  std::vector<std::pair<uint32_t, int>> messages;  // field -> index of its kind
  std::vector<uint32_t> strings;                   // repeated strings: an object each
};

// ValueError "FORMAT: …" naming the offset. The file is a message of the first kind.
void check_wire(std::string_view bytes, std::span<const WireMessage> kinds, const char* format);

}  // namespace mycel::interop
