// Records of comma-separated values (RFC 4180): fields may be quoted, and then hold delimiters,
// line ends and doubled quotes. Records are numbered in one pass, as lines are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/folder.h"

namespace mycel::data {

class CsvIndex {
 public:
  // `header`: the first record of every file names its columns and is no row.
  CsvIndex(std::vector<BytesPtr> files, char delimiter, bool header);
  int64_t size() const { return static_cast<int64_t>(begins_.size()); }
  // Fields of record i; an OsError naming the file when they do not parse.
  std::vector<std::string> record(int64_t i) const;
  const std::string& file(int64_t i) const { return files_[file_of(i)]->name(); }
  size_t file_of(int64_t i) const;
  // How many records there are up to the end of each file.
  const std::vector<int64_t>& ends() const { return ends_; }
  // The first records, when `header`: the same in all files.
  const std::vector<std::string>& header() const { return header_; }

 private:
  std::vector<BytesPtr> files_;
  char delimiter_;
  std::vector<std::string> header_;
  std::vector<int64_t> ends_;
  std::vector<uint64_t> begins_;
};

// Cuts one record; false when a quoted field is followed by more text, or does not end.
bool parse_csv(std::string_view record, char delimiter, std::vector<std::string>* fields);

}  // namespace mycel::data
