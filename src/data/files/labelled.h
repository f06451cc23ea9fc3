// Pictures of a folder with one label each, which many published data sets are.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/files/rows.h"

namespace mycel::data {

template <typename Label>
struct Labelled {
  Folder folder;
  std::vector<std::string> files;
  std::vector<Label> labels;

  explicit Labelled(const std::string& dir) : folder(dir) {}
  void add(std::string file, Label label) {
    files.push_back(std::move(file));
    labels.push_back(std::move(label));
  }
};

inline Value value_of(uint32_t v) { return scalar(v); }
inline Value value_of(int32_t v) { return scalar(v); }
inline Value value_of(const std::string& v) { return Value(v); }

// Whether `decode` asks for pixels.
inline bool decodes(const Options& o) { return !o.none("decode") && o.boolean("decode"); }

// Rows of the columns "image" and `label`, decoded where the argument `decode` says so.
template <typename Label>
DatasetPtr rows_of(const Options& o, std::shared_ptr<const Labelled<Label>> p, Classes classes,
                   const char* label = "label") {
  const ImageReader read(decodes(o));
  const auto size = static_cast<int64_t>(p->files.size());
  const std::string where = p->folder.path();
  return file_rows(
      o.owner(), {"image", label}, size,
      [p, read](int64_t i) -> Row {
        return {read(p->folder, p->files[i]), value_of(p->labels[i])};
      },
      where, std::move(classes));
}

// Lines of a text file without spaces at their ends; empty ones left out.
std::vector<std::string> trimmed_lines(const BytesPtr& file);
// The words of a line between spaces or tabs.
std::vector<std::string> words_of(std::string_view line);

}  // namespace mycel::data
