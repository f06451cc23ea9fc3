#include "data/files/lines.h"

#include <algorithm>

#include "data/index_progress.h"

namespace mycel::data {
namespace {

constexpr uint64_t kPiece = 4096;

}  // namespace

LineIndex::LineIndex(const std::vector<BytesPtr>& files, const Counts& counts) : files_(files) {
  for (const BytesPtr& file : files_) {
    IndexBuild progress(file->name(), static_cast<int64_t>(file->size()));
    Scanner scan(file);
    std::string line;
    uint64_t begin = 0;
    for (int64_t number = 0; scan.line(&line); ++number) {
      if (counts ? counts(line, number) : !line.empty()) begins_.push_back(begin);
      begin = scan.at();
      progress.at(static_cast<int64_t>(begin));
    }
    progress.finish(static_cast<int64_t>(file->size()));
    ends_.push_back(size());
  }
}

size_t LineIndex::file_of(int64_t i) const {
  return std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin();
}

std::string LineIndex::line(int64_t i) const {
  const size_t f = file_of(i);
  const Bytes& file = *files_[f];
  const uint64_t begin = begins_[i];
  // To where the next one begins; lines that do not count may lie in between.
  const uint64_t end = i + 1 < ends_[f] ? begins_[i + 1] : file.size();
  std::string out;
  for (uint64_t at = begin; at < end;) {
    const uint64_t n = std::min(end - at, at == begin ? kPiece : uint64_t{1} << 20);
    const size_t had = out.size();
    out.resize(had + n);
    file.read_at(at, out.data() + had, n);
    if (const size_t newline = out.find('\n', had); newline != out.npos) {
      out.resize(newline);
      break;
    }
    at += n;
  }
  return out;
}

std::string LineIndex::block(int64_t i) const {
  const size_t f = file_of(i);
  const uint64_t end = i + 1 < ends_[f] ? begins_[i + 1] : files_[f]->size();
  return files_[f]->text(begins_[i], end - begins_[i]);
}

std::vector<BytesPtr> open_files(const std::vector<std::string>& paths) {
  std::vector<BytesPtr> out;
  out.reserve(paths.size());
  for (const std::string& p : paths) out.push_back(open_file(p));
  return out;
}

}  // namespace mycel::data
