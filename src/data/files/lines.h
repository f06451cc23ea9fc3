// The lines of text files, numbered: one pass notes where each begins, so that line i is read from
// where it lies and a shuffle is global.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/folder.h"

namespace mycel::data {

class LineIndex {
 public:
  // Which lines count, given the line without its end and its number in the file from 0; by
  // default those that are not empty.
  using Counts = std::function<bool(std::string_view line, int64_t number)>;
  LineIndex() = default;
  explicit LineIndex(const std::vector<BytesPtr>& files, const Counts& counts = {});

  int64_t size() const { return static_cast<int64_t>(begins_.size()); }
  // Without "\n"; "\r" stays, as in the published sources.
  std::string line(int64_t i) const;
  // From line i to the next that counts, or the end of the file.
  std::string block(int64_t i) const;
  // The name of the file line i is in; its place among `files`.
  const std::string& file(int64_t i) const { return files_[file_of(i)]->name(); }
  size_t file_of(int64_t i) const;
  // How many lines there are up to the end of each file.
  const std::vector<int64_t>& ends() const { return ends_; }

 private:
  std::vector<BytesPtr> files_;
  std::vector<int64_t> ends_;
  std::vector<uint64_t> begins_;
};

std::vector<BytesPtr> open_files(const std::vector<std::string>& paths);

}  // namespace mycel::data
