// .lite files: a network compiled for the Lite runtime. Layout, little-endian:
//   0    "MYCELITE", version (u32), 0 (u32)
//   16   bytes of the table section, offset and bytes of the data section (u64 each)
//   40   xxh3-64 of the table section with the padding behind it, of the data section, and of the
//        56 bytes before
//   64   table section: FlatBuffers, schema lite_file.fbs, read where it lies
//   …    data section: weights in the order in which kernels read them, the graph; each part at a
//        multiple of 64 bytes
// Its own schema and not the graph file's: what a device reads is steps and places, without names
// of ops that it would need to know. The graph lies beside them for other shapes and other tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lite/runtime/lite_file_generated.h"

namespace mycel::lite {

constexpr uint32_t kLiteFileVersion = 1;
constexpr char kLiteFileMagic[8] = {'M', 'Y', 'C', 'E', 'L', 'I', 'T', 'E'};
constexpr uint64_t kLiteAlignment = 64;

struct LiteFileHead {
  char magic[8];
  uint32_t version;
  uint32_t zero;
  uint64_t table_bytes;
  uint64_t data_offset;
  uint64_t data_bytes;
  uint64_t table_sum;
  uint64_t data_sum;
  uint64_t head_sum;
};
static_assert(sizeof(LiteFileHead) == 64);

constexpr uint64_t lite_aligned(uint64_t n) {
  return (n + kLiteAlignment - 1) / kLiteAlignment * kLiteAlignment;
}

// A file that is mapped, or bytes that the caller keeps.
class LiteFile {
 public:
  ~LiteFile();
  // Null with `problem` set when it cannot be read. `check_data`: compare the checksum of the data
  // section, which touches all of it.
  static std::shared_ptr<const LiteFile> open(const std::string& path, bool check_data,
                                              std::string& problem);
  static std::shared_ptr<const LiteFile> view(std::span<const std::byte> bytes, bool check_data,
                                              std::string& problem);

  const file::File& table() const { return *table_; }
  std::span<const std::byte> data() const { return data_; }
  size_t bytes() const { return all_.size(); }

 private:
  LiteFile() = default;
  std::string read(bool check_data);

  std::span<const std::byte> all_, data_;
  void* mapped_ = nullptr;
  const file::File* table_ = nullptr;
};

bool is_lite_file(std::span<const std::byte> head);
// The whole file around a finished table and its data.
std::string lite_file_bytes(std::span<const std::byte> table, std::span<const std::byte> data);

}  // namespace mycel::lite
