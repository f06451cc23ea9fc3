#include "data/files/csv.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "data/index_progress.h"

namespace mycel::data {
namespace {

// Where records end: a line end outside of quotes.
class Cutter {
 public:
  explicit Cutter(char delimiter) : delimiter_(delimiter) {}
  // True when `c` ends a record.
  bool ends(char c) {
    switch (state_) {
      case State::kStart:
        state_ = c == '"' ? State::kQuoted : c == delimiter_ || c == '\n' ? state_ : State::kPlain;
        break;
      case State::kPlain:
        if (c == delimiter_ || c == '\n') state_ = State::kStart;
        break;
      case State::kQuoted:
        if (c == '"') state_ = State::kAfterQuote;
        return false;
      case State::kAfterQuote:
        state_ = c == '"'                       ? State::kQuoted
                 : c == delimiter_ || c == '\n' ? State::kStart
                                                : State::kPlain;
        break;
    }
    return c == '\n';
  }

 private:
  enum class State { kStart, kPlain, kQuoted, kAfterQuote };
  State state_ = State::kStart;
  char delimiter_;
};

std::string_view without_line_end(std::string_view s) {
  if (s.ends_with('\n')) s.remove_suffix(1);
  if (s.ends_with('\r')) s.remove_suffix(1);
  return s;
}

}  // namespace

bool parse_csv(std::string_view s, char delimiter, std::vector<std::string>* fields) {
  fields->clear();
  while (true) {
    std::string field;
    if (s.starts_with('"')) {
      s.remove_prefix(1);
      while (true) {
        const size_t quote = s.find('"');
        if (quote == s.npos) return false;
        field.append(s.substr(0, quote));
        s.remove_prefix(quote + 1);
        if (!s.starts_with('"')) break;
        field += '"';
        s.remove_prefix(1);
      }
      if (!s.empty() && s[0] != delimiter) return false;
    } else {
      const size_t end = std::min(s.find(delimiter), s.size());
      field = s.substr(0, end);
      s.remove_prefix(end);
    }
    fields->push_back(std::move(field));
    if (s.empty()) return true;
    s.remove_prefix(1);
  }
}

CsvIndex::CsvIndex(std::vector<BytesPtr> files, char delimiter, bool header)
    : files_(std::move(files)), delimiter_(delimiter) {
  for (const BytesPtr& file : files_) {
    IndexBuild progress(file->name(), static_cast<int64_t>(file->size()));
    Scanner scan(file);
    Cutter cutter(delimiter);
    uint64_t begin = 0;
    bool first = header;
    char last = 0;  // the character before the one that is looked at
    // A record from `begin` to `end`.
    const auto record = [&](uint64_t end) {
      if (first) {
        std::vector<std::string> names;
        const std::string text = file->text(begin, end - begin);
        if (!parse_csv(without_line_end(text), delimiter, &names))
          fail(ErrorKind::kOs, "'{}': the first line, which names the columns, does not parse",
               file->name());
        if (!header_.empty() && names != header_)
          fail(ErrorKind::kOs, "'{}' has the columns {}, but '{}' has {}", file->name(),
               fmt::join(names, ", "), files_[0]->name(), fmt::join(header_, ", "));
        header_ = std::move(names);
        first = false;
      } else {
        begins_.push_back(begin);
      }
    };
    while (!scan.done()) {
      const std::string_view some =
          scan.peek(std::min<uint64_t>(1 << 16, file->size() - scan.at()));
      const uint64_t at = scan.at();
      for (size_t k = 0; k < some.size(); ++k) {
        const char before = std::exchange(last, some[k]);
        if (!cutter.ends(some[k])) continue;
        const uint64_t end = at + k + 1;
        // An empty line is no record; "\r\n" is one too.
        if (end - begin > (before == '\r' ? 2u : 1u)) record(end);
        begin = end;
      }
      scan.skip(some.size());
      progress.at(static_cast<int64_t>(scan.at()));
    }
    if (begin < file->size()) record(file->size());
    progress.finish(static_cast<int64_t>(file->size()));
    ends_.push_back(size());
  }
}

size_t CsvIndex::file_of(int64_t i) const {
  return std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin();
}

std::vector<std::string> CsvIndex::record(int64_t i) const {
  const size_t f = file_of(i);
  const Bytes& file = *files_[f];
  const uint64_t end = i + 1 < ends_[f] ? begins_[i + 1] : file.size();
  std::string text = file.text(begins_[i], end - begins_[i]);
  // Empty lines may follow.
  while (text.size() > 2 && text.ends_with('\n')) {
    const std::string_view less = without_line_end(text);
    if (!less.ends_with('\n') && !less.ends_with('\r')) break;
    text.resize(less.size());
  }
  std::vector<std::string> fields;
  if (!parse_csv(without_line_end(text), delimiter_, &fields))
    fail(ErrorKind::kOs, "'{}': a quoted field goes on after its quote, or does not end",
         file.name());
  return fields;
}

}  // namespace mycel::data
