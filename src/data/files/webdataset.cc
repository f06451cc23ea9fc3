// WebDataset: tar archives in which files that follow one another and share the part of the path
// before the first dot of the name are a sample ("a/0001.jpg", "a/0001.cls").
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/json_value.h"
#include "data/files/npy.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

struct Sample {
  uint32_t archive;
  std::string key;
  std::map<std::string, std::string> members;  // extension, path
};
struct Samples {
  std::vector<Folder> archives;
  std::vector<Sample> all;
};

// What stands before and behind the first dot of the name.
std::pair<std::string, std::string> cut(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.find('.', slash == path.npos ? 0 : slash + 1);
  if (dot == path.npos) return {path, ""};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

Value value_of(const Folder& archive, const std::string& path, const std::string& extension,
               const ImageReader* decode) {
  const std::string last = extension.substr(extension.rfind('.') + 1);
  if (last == "npy") return read_npy(*archive.open(path));
  const Tensor bytes = archive.read(path);
  std::string text(static_cast<const char*>(bytes.raw()), bytes.bytes());
  if (last == "txt" || last == "text" || last == "transcript") return Value(std::move(text));
  if (last == "json") {
    const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
    if (j.is_discarded()) fail(ErrorKind::kOs, "'{}' is not JSON", archive.path(path));
    return j.is_object() ? Value(std::move(text)) : json_value(j, archive.path(path), extension);
  }
  if (last == "cls" || last == "cls2" || last == "index" || last == "count" || last == "id") {
    int64_t v = 0;
    if (!parse_int(trim(text), &v))
      fail(ErrorKind::kOs, "'{}' holds no whole number", archive.path(path));
    return scalar(v);
  }
  static const std::set<std::string> kImages = {"jpg", "jpeg", "png", "bmp", "tif", "tiff", "webp"};
  if (decode && kImages.contains(last)) return (*decode)(bytes, archive.path(path));
  return bytes;
}

DatasetPtr open(const Options& o) {
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  auto s = std::make_shared<Samples>();
  for (const std::string& path : paths) {
    s->archives.emplace_back(path);
    for (const std::string& file : s->archives.back().all_files()) {
      auto [key, extension] = cut(file);
      if (extension.empty()) continue;
      const auto archive = static_cast<uint32_t>(s->archives.size()) - 1;
      if (s->all.empty() || s->all.back().archive != archive || s->all.back().key != key)
        s->all.push_back({archive, key, {}});
      s->all.back().members[extension] = file;
    }
  }
  std::vector<std::string> columns = o.strings("columns_list");
  if (columns.empty() && !s->all.empty()) {
    for (const auto& [extension, _] : s->all[0].members) columns.push_back(extension);
  }
  std::shared_ptr<const ImageReader> decode;
  if (o.boolean("decode")) decode = std::make_shared<const ImageReader>(true);
  return file_rows(
      o.owner(), columns, static_cast<int64_t>(s->all.size()),
      [s, columns, decode](int64_t i) {
        const Sample& sample = s->all[i];
        const Folder& archive = s->archives[sample.archive];
        Row row;
        for (const std::string& c : columns) {
          if (c == "__key__") {
            row.emplace_back(sample.key);
            continue;
          }
          const auto it = sample.members.find(c);
          if (it == sample.members.end()) {
            std::vector<std::string> has;
            for (const auto& [extension, _] : sample.members) has.push_back(extension);
            fail(ErrorKind::kKey, "'{}' has no file with the extension '{}', only {}",
                 archive.path(sample.key), c, fmt::join(has, ", "));
          }
          row.push_back(value_of(archive, it->second, c, decode.get()));
        }
        return row;
      },
      paths[0]);
}

const SourceDef kWeb{
    .name = "WebDataset",
    .doc =
        "Tar archives (or zip) of samples: neighbouring files whose names are equal up to the "
        "first dot. A column for each extension: those of `columns_list` (__key__: the name), "
        "or those of the first sample in order. Values: txt and json objects as string [], "
        "other json as arrays, cls, index, id and count as int64 [], npy as an array, all else "
        "uint8 [bytes], images with `decode` [h, w, 3].",
    .args =
        with({"dataset_files: strings", "columns_list: strings? = None", "decode: bool = False"},
             kRowArgs),
    .open = open,
};

}  // namespace

SourceDefs webdataset_sources() { return {&kWeb}; }

}  // namespace mycel::data
