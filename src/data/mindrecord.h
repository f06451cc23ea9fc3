// MindRecord files, in the published format (version 3.0), so that files go both ways: rows of
// named fields in one data file a shard, each with an SQLite index beside it (<file>.db). They are
// read by the source MindDataset; here is what writes them and looks into them.
//
//   auto w = write_records({.path = "train.mindrecord",
//                           .fields = {{"label", "int32"}, {"image", "bytes"}}});
//   w->write({{label, image}, …});  // values in the order of w->fields(): sorted by name
//   w->commit();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/value.h"

namespace mycel::data {

struct RecordField {
  std::string name, type;  // int32, int64, float32, float64, string, bytes
  // An array of numbers; one dim may be -1.
  std::optional<std::vector<int64_t>> shape = {};
};

struct RecordFile {
  std::string path;
  int64_t shards = 1;  // more: <path>0, <path>1, … (as many digits as the last one needs)
  bool overwrite = false;
  bool append = false;  // to a file of one shard; fields and sizes are taken from it
  std::vector<RecordField> fields = {};
  std::string description = {};
  // Fields that can be searched; all numbers and strings when empty.
  std::vector<std::string> index = {};
  int64_t header_bytes = int64_t{16} << 20;  // 16 KiB to 128 MiB, a multiple of 4
  int64_t page_bytes = int64_t{32} << 20;    // 32 KiB to 256 MiB; no row may be larger
};

class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  virtual const std::vector<RecordField>& fields() const = 0;
  // Spreads the rows over the shards, each a run of neighbours. A number is a 0-d tensor of any
  // int or float dtype (ints for int fields), bytes are uint8 [n]. TypeError or ValueError naming
  // row and field, before any row is written.
  virtual void write(const std::vector<Row>& rows) = 0;
  // Writes headers and indexes; nothing can be read before. To be called once.
  virtual void commit() = 0;
};

// OsError when a file is there and neither overwrite nor append is set.
std::unique_ptr<RecordWriter> write_records(const RecordFile& file);

// The header of a file, as JSON.
std::string record_header(const std::string& path);
// The files of all shards that the header of one of them names.
std::vector<std::string> record_files(const std::string& path);
// The index fields of files.
std::vector<std::string> record_index_fields(const std::vector<std::string>& paths);
// Values of an index field with how many rows have each, sorted as the database sorts them.
std::vector<std::pair<std::string, int64_t>> record_categories(
    const std::vector<std::string>& paths, const std::string& field);
// Numbers of the rows, as MindDataset counts them, in which `field` is `value`.
std::vector<int64_t> find_records(const std::vector<std::string>& paths, const std::string& field,
                                  const std::string& value);

// What libmycel_media provides for this.
struct RecordFormat {
  std::unique_ptr<RecordWriter> (*write)(const RecordFile&);
  std::string (*header)(const std::string&);
  std::vector<std::string> (*files)(const std::string&);
  std::vector<std::string> (*index_fields)(const std::vector<std::string>&);
  std::vector<std::pair<std::string, int64_t>> (*categories)(const std::vector<std::string>&,
                                                             const std::string&);
  std::vector<int64_t> (*find)(const std::vector<std::string>&, const std::string&,
                               const std::string&);
};

}  // namespace mycel::data
