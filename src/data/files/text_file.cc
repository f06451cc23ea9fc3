// Sources whose rows are lines: TextFileDataset and JsonLinesDataset.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/json_value.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"

namespace mycel::data {
namespace {

DatasetPtr open_text(const Options& o) {
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  const auto lines = std::make_shared<const LineIndex>(open_files(paths));
  return file_rows(
      o.owner(), {"text"}, lines->size(),
      [lines](int64_t i) -> Row { return {Value(lines->line(i))}; }, paths[0]);
}

nlohmann::json parse_line(const LineIndex& lines, int64_t i) {
  nlohmann::json j = nlohmann::json::parse(lines.line(i), nullptr, false);
  if (!j.is_object()) fail(ErrorKind::kOs, "'{}': the line is no JSON object", lines.file(i));
  return j;
}

DatasetPtr open_json_lines(const Options& o) {
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  const auto lines = std::make_shared<const LineIndex>(
      open_files(paths), [](std::string_view line, int64_t) { return !trim(line).empty(); });
  std::vector<std::string> columns = o.strings("columns_list");
  if (columns.empty() && lines->size() > 0) {
    const nlohmann::json first = parse_line(*lines, 0);
    for (const auto& [name, value] : first.items()) columns.push_back(name);
  }
  return file_rows(
      o.owner(), columns, lines->size(),
      [lines, columns](int64_t i) {
        const nlohmann::json j = parse_line(*lines, i);
        Row row;
        for (const std::string& c : columns) {
          const auto it = j.find(c);
          if (it == j.end())
            fail(ErrorKind::kKey, "'{}': the object has no member '{}'", lines->file(i), c);
          row.push_back(json_value(*it, lines->file(i), c));
        }
        return row;
      },
      paths[0]);
}

const SourceDef kTextFile{
    .name = "TextFileDataset",
    .doc =
        "Lines of text files, UTF-8; empty lines are left out. Files are read in order of their "
        "names. Column: text, string [].",
    .args = with({"dataset_files: strings"}, kTextArgs),
    .open = open_text,
};

const SourceDef kJsonLines{
    .name = "JsonLinesDataset",
    .doc =
        "Files with a JSON object a line. Columns: the members that `columns_list` names, or "
        "those of the first line in order of names. Values: true and false as bool, integers as "
        "int64, other numbers as float64, texts as string, lists of these as arrays; an object "
        "or null as its JSON text.",
    .args = with({"dataset_files: strings", "columns_list: strings? = None"}, kTextArgs),
    .open = open_json_lines,
};

}  // namespace

SourceDefs text_file_sources() { return {&kTextFile, &kJsonLines}; }

}  // namespace mycel::data
