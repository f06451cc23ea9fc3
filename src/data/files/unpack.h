// Packed files that are read from begin to end: gzip, zlib, bzip2, xz and zstd, told apart by their
// first bytes; several put one after the other are one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/files/bytes.h"

namespace mycel::data {

// Whether the name ends as those of packed files do (.gz, .tgz, .bz2, .tbz2, .xz, .txz, .zst).
bool packed_name(const std::string& path);
// The same for a packed tar (.tar.gz, .tgz, …).
bool packed_tar_name(const std::string& path);

class Unpacker;  // of one format

class Unpacked {
 public:
  // OsError when the file is packed in none of these ways.
  explicit Unpacked(BytesPtr file);
  ~Unpacked();
  const std::string& name() const { return file_->name(); }
  // How many unpacked bytes were read.
  uint64_t at() const { return at_; }
  // Exactly n bytes, or false at the end of the file; OsError when it ends in between.
  bool read(uint64_t n, std::string* out);
  // Leaves out bytes up to a place behind this one; false at the end of the file.
  bool skip_to(uint64_t at);
  // A line without its "\n"; false at the end of the file.
  bool line(std::string* out);
  bool done();

 private:
  bool fill();  // false at the end of the file
  BytesPtr file_;
  Scanner scan_;
  std::unique_ptr<Unpacker> unpacker_;
  std::string piece_;  // unpacked bytes not yet read, from piece_at_ on
  size_t piece_at_ = 0;
  uint64_t at_ = 0;
  bool ended_ = false;
};

// Rows made of the lines of files, some of them packed, in order; empty lines are left out. `make`
// is called with the line and the name of its file, on any thread; what it throws is given `owner`
// and the number of the sample.
using MakeLineRow = std::function<Row(const std::string& line, const std::string& file)>;
DatasetPtr line_stream(const std::string& owner, std::vector<std::string> columns,
                       std::vector<std::string> paths, MakeLineRow make);

}  // namespace mycel::data
