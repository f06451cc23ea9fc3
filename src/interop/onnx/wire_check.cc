#include "interop/onnx/wire_check.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace mycel::interop::onnx {
namespace {

constexpr int kMaxDepth = 64;  // protobuf itself stops at 100
constexpr size_t kFreeMemory = 1 << 20;
// Nodes with names of one letter need twelve times their bytes as objects; empty ones would need
// seventy.
constexpr size_t kMemoryPerByte = 16;

// The messages of onnx.proto: fields that are messages, and about what an object takes. Repeated
// numbers, strings and bytes count by field below.
enum Kind : uint8_t {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparse,
  kValueInfo,
  kType,
  kTensorType,
  kElement,
  kMap,
  kShape,
  kDimension,
  kEntry,
  kFunction,
  kOperatorSet,
  kKinds
};

struct Message {
  size_t bytes;
  std::vector<std::pair<uint32_t, Kind>> messages;  // field -> message
  std::vector<uint32_t> strings;                    // repeated strings: an object each
};

const Message& message(Kind k) {
  static const std::vector<Message> all = [] {
    std::vector<Message> m(kKinds);
    m[kModel] = {160, {{7, kGraph}, {8, kOperatorSet}, {25, kFunction}}, {}};
    m[kGraph] = {200,
                 {{1, kNode},
                  {5, kTensor},
                  {11, kValueInfo},
                  {12, kValueInfo},
                  {13, kValueInfo},
                  {15, kSparse}},
                 {}};
    m[kNode] = {136, {{5, kAttribute}}, {1, 2}};
    m[kAttribute] = {
        248,
        {{5, kTensor}, {6, kGraph}, {10, kTensor}, {11, kGraph}, {14, kType}, {22, kSparse}},
        {9}};
    m[kTensor] = {232, {{13, kEntry}}, {6}};
    m[kSparse] = {64, {{1, kTensor}, {2, kTensor}}, {}};
    m[kValueInfo] = {48, {{2, kType}}, {}};
    m[kType] = {
        32, {{1, kTensorType}, {4, kElement}, {5, kMap}, {8, kTensorType}, {9, kElement}}, {}};
    m[kTensorType] = {40, {{2, kShape}}, {}};
    m[kElement] = {32, {{1, kType}}, {}};
    m[kMap] = {40, {{2, kType}}, {}};
    m[kShape] = {48, {{1, kDimension}}, {}};
    m[kDimension] = {32, {}, {}};
    m[kEntry] = {40, {}, {}};
    m[kFunction] = {232, {{7, kNode}, {9, kOperatorSet}, {11, kAttribute}}, {4, 5, 6}};
    m[kOperatorSet] = {40, {}, {}};
    return m;
  }();
  return all[k];
}

class Walk {
 public:
  explicit Walk(std::string_view b) : bytes_(b) {}

  void run(size_t from, size_t to, Kind kind, int depth) {
    if (depth > kMaxDepth) refuse(from, "messages are nested deeper than 64");
    const Message& m = message(kind);
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
  void enter(const Message& m, uint32_t field, size_t from, size_t to, int depth) {
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
    value_error("ONNX: damaged at byte {} of {}: {}", at, bytes_.size(), why);
  }

  std::string_view bytes_;
  size_t memory_ = 0;
};

}  // namespace

void check_wire(std::string_view bytes) {
  if (bytes.empty()) value_error("ONNX: the file is empty");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    value_error(
        "ONNX: {} bytes; a model file has less than 2 GiB, larger weights lie in external "
        "data",
        bytes.size());
  Walk(bytes).run(0, bytes.size(), kModel, 0);
}

}  // namespace mycel::interop::onnx
