#include "interop/wire_check.h"

#include <limits>

#include "base/error.h"

namespace mycel::interop {
namespace {

constexpr int kMaxDepth = 64;  // protobuf itself stops at 100
constexpr size_t kFreeMemory = 1 << 20;
// Nodes with names of one letter need twelve times their bytes as objects; empty ones would need
// seventy.
constexpr size_t kMemoryPerByte = 16;

class Walk {
 public:
  Walk(std::string_view b, std::span<const WireMessage> kinds, const char* format)
      : bytes_(b), kinds_(kinds), format_(format) {}

  void run(size_t from, size_t to, int kind, int depth) {
    if (depth > kMaxDepth) refuse(from, "messages are nested deeper than 64");
    const WireMessage& m = kinds_[static_cast<size_t>(kind)];
    count(m.bytes, from);
    for (size_t at = from; at < to;) {
      size_t start = at;
      uint64_t tag = varint(at, to);
      uint64_t field = tag >> 3;
      if (field == 0 || field > 536870911) refuse(start, "no field has this number");
      switch (tag & 7) {
        case 0:
          (void)varint(at, to);
          count(8, start);
          break;
        case 1:
          skip(at, to, 8, start);
          break;
        case 5:
          skip(at, to, 4, start);
          break;
        case 2: {
          uint64_t length = varint(at, to);
          if (length > to - at) refuse(start, "a field ends behind its message");
          enter(m, static_cast<uint32_t>(field), at, at + length, depth);
          at += length;
          break;
        }
        default:
          refuse(start, "a group, or no wire type");
      }
    }
  }

 private:
  void enter(const WireMessage& m, uint32_t field, size_t from, size_t to, int depth) {
    for (auto [number, kind] : m.messages) {
      if (number == field) return run(from, to, kind, depth + 1);
    }
    for (uint32_t number : m.strings) {
      if (number == field) count(40, from);
    }
    count(to - from, from);
  }
  uint64_t varint(size_t& at, size_t end) {
    size_t start = at;
    uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at >= end) refuse(start, "the file ends inside a number");
      uint8_t b = static_cast<uint8_t>(bytes_[at++]);
      v |= static_cast<uint64_t>(b & 0x7f) << (shift & 63);
      if (!(b & 0x80)) return v;
    }
    refuse(start, "a number of more than ten bytes");
  }
  void skip(size_t& at, size_t end, size_t n, size_t start) {
    if (n > end - at) refuse(start, "a field ends behind its message");
    at += n;
    count(n, start);
  }
  void count(size_t n, size_t at) {
    memory_ += n;
    if (memory_ > kFreeMemory + kMemoryPerByte * bytes_.size())
      refuse(at, "its messages would take more than 16 times its size in memory");
  }
  [[noreturn]] void refuse(size_t at, const char* why) {
    value_error("{}: damaged at byte {} of {}: {}", format_, at, bytes_.size(), why);
  }

  std::string_view bytes_;
  std::span<const WireMessage> kinds_;
  const char* format_;
  size_t memory_ = 0;
};

}  // namespace

void check_wire(std::string_view bytes, std::span<const WireMessage> kinds, const char* format) {
  if (bytes.empty()) value_error("{}: the file is empty", format);
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    value_error(
        "{}: {} bytes; a model file has less than 2 GiB, larger weights lie in external data",
        format, bytes.size());
  Walk(bytes, kinds, format).run(0, bytes.size(), 0, 0);
}

}  // namespace mycel::interop
