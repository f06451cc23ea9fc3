// The bytes of a MindRecord file (data/mindrecord.h):
//
//   uint64 length, JSON header, zeros up to header_size; then pages of page_size bytes, the last
//   one cut. A page holds blobs or raw fields of consecutive rows, each row as uint64 length and
//   bytes:
//     raw:  the numbers and strings as a MessagePack map ({"id": 0} without any);
//     blob: the bytes and arrays in order of names; of several, each with a big-endian uint64
//           length; without any, four zeros. Arrays of ints are packed (pack_ints).
//   Rows of one blob page are a row group; the header says where groups begin in a raw page.
//   The index, an SQLite table INDEXES, has page and span of every row, and the indexed fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/files/bytes.h"
#include "data/mindrecord.h"

namespace mycel::data {

struct RecordPage {
  int64_t id = 0, type_id = 0, used = 0, first_row = 0, end_row = 0;
  bool blob = false;
  std::vector<std::pair<int64_t, int64_t>> groups;  // id, offset in the page
};

struct RecordHeader {
  int64_t header_bytes = 0, page_bytes = 0, saved_bytes = 0, shard = 0;
  std::vector<RecordField> fields;  // sorted by name
  std::string description;
  std::vector<std::string> index, shards;
  std::vector<RecordPage> pages;

  int64_t page_begin(int64_t id) const { return header_bytes + id * page_bytes; }
  int64_t rows() const;
  std::string json() const;
};

inline bool is_blob(const RecordField& f) { return f.type == "bytes" || f.shape.has_value(); }

// OsError naming the file when it is not sound.
RecordHeader read_record_header(const Bytes& file);

// n as big-endian uint32, two bits a value (0 to 3 for 1, 2, 4, 8 bytes; the first value in the
// highest bits), then the values, little-endian, each in as few bytes as hold it with its sign.
std::string pack_ints(const std::vector<int64_t>& values);
// False when it is not that.
bool unpack_ints(std::string_view text, std::vector<int64_t>* out);

std::string little_endian(uint64_t v);
std::string big_endian(uint64_t v);

// Blob or raw part of a row, with its length in front. `values` in order of the fields; `saved`
// grows by what packing saved.
std::string blob_bytes(const std::vector<RecordField>& fields, const Row& values, int64_t* saved);
std::string raw_bytes(const std::vector<RecordField>& fields, const Row& values);

}  // namespace mycel::data
