#include "data/files/rows.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "data/transform.h"

namespace mycel::data {
namespace {

class FileRows final : public IndexedDataset {
 public:
  FileRows(std::string owner, std::vector<std::string> columns, int64_t size, MakeRow make,
           const std::string& where, Classes classes)
      : owner_(std::move(owner)),
        columns_(std::move(columns)),
        size_(size),
        make_(std::move(make)),
        where_(where),
        classes_(std::move(classes)) {}
  Classes class_indexing() const override { return classes_; }
  const std::vector<std::string>& columns() const override { return columns_; }
  int64_t size() const override { return size_; }
  Row row(int64_t i) const override {
    try {
      return make_(i);
    } catch (UserError& e) {
      e.prefix(fmt::format("{}: sample {}: ", owner_, i));
      throw;
    }
  }
  std::string describe() const override { return fmt::format("{}('{}')", owner_, where_); }

 private:
  std::string owner_;
  std::vector<std::string> columns_;
  int64_t size_;
  MakeRow make_;
  std::string where_;
  Classes classes_;
};

}  // namespace

DatasetPtr file_rows(const std::string& owner, std::vector<std::string> columns, int64_t size,
                     MakeRow make, const std::string& where, Classes classes) {
  if (size <= 0) value_error("{}: there are no samples in '{}'", owner, where);
  return std::make_shared<FileRows>(owner, std::move(columns), size, std::move(make), where,
                                    std::move(classes));
}

ImageReader::ImageReader(bool decode) {
  if (decode) decode_ = make_transform("vision.Decode");
}

Value ImageReader::operator()(const Folder& folder, const std::string& relative) const {
  return (*this)(folder.read(relative), decode_ ? folder.path(relative) : std::string());
}

Value ImageReader::operator()(Tensor encoded, const std::string& file) const {
  if (!decode_) return encoded;
  Row row;
  row.emplace_back(std::move(encoded));
  Philox no_draw(0);
  try {
    decode_->run(&row, no_draw);
  } catch (UserError& e) {
    e.prefix(fmt::format("'{}': ", file));
    throw;
  }
  return row[0];
}

std::string one_of(const Options& o, const char* name, const std::vector<std::string>& allowed,
                   const std::string& fallback) {
  if (o.none(name)) return fallback;
  const std::string& v = o.string(name);
  if (std::find(allowed.begin(), allowed.end(), v) == allowed.end())
    o.fail(name, "must be one of {}, got '{}'", fmt::join(allowed, ", "), v);
  return v;
}

std::vector<std::pair<std::string, Option>> pairs(const Options& o, const char* name) {
  std::vector<std::pair<std::string, Option>> out;
  const Option& v = o[name];
  if (v.none()) return out;
  const auto wrong = [&] {
    type_error("{}: '{}' must be a dict with str keys, got {}", o.owner(), name, v.str());
  };
  if (!v.is<Option::List>()) wrong();
  for (const Option& p : v.get<Option::List>()) {
    if (!p.is<Option::List>() || p.get<Option::List>().size() != 2 ||
        !p.get<Option::List>()[0].is<std::string>())
      wrong();
    out.emplace_back(p.get<Option::List>()[0].get<std::string>(), p.get<Option::List>()[1]);
  }
  return out;
}

bool parse_int(std::string_view text, int64_t* out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_real(std::string_view text, double* out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (true) {
    const size_t end = text.find(at);
    out.emplace_back(text.substr(0, end));
    if (end == text.npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  const char* kSpace = " \t\r\n\f\v";
  const size_t from = text.find_first_not_of(kSpace);
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

}  // namespace mycel::data
