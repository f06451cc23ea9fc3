// Sources whose rows are lines: TextFileDataset and JsonLinesDataset.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/json_value.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/files/unpack.h"
#include "data/group_order.h"

namespace mycel::data {
namespace {

DatasetPtr open_text(const Options& o) {
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  if (std::any_of(paths.begin(), paths.end(), packed_name)) {
    return line_stream(o.owner(), {"text"}, paths,
                       [](const std::string& line, const std::string&) -> Row { return {line}; });
  }
  const auto lines = std::make_shared<const LineIndex>(open_files(paths));
  return in_files(file_rows(
                      o.owner(), {"text"}, lines->size(),
                      [lines](int64_t i) -> Row { return {Value(lines->line(i))}; }, paths[0]),
                  lines->ends());
}

nlohmann::json parse_line(const std::string& line, const std::string& file) {
  nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
  if (!j.is_object()) fail(ErrorKind::kOs, "'{}': the line is no JSON object", file);
  return j;
}

using Columns = std::vector<std::string>;

Columns members_of(const std::string& line, const std::string& file) {
  Columns out;
  const nlohmann::json first = parse_line(line, file);
  for (const auto& [name, value] : first.items()) out.push_back(name);
  return out;
}

Row row_of(const std::string& line, const std::string& file, const Columns& columns) {
  const nlohmann::json j = parse_line(line, file);
  Row row;
  for (const std::string& c : columns) {
    const auto it = j.find(c);
    if (it == j.end()) fail(ErrorKind::kKey, "'{}': the object has no member '{}'", file, c);
    row.push_back(json_value(*it, file, c));
  }
  return row;
}

DatasetPtr packed_json_lines(const Options& o, const std::vector<std::string>& paths) {
  Columns columns = o.strings("columns_list");
  if (columns.empty()) {
    const auto find = [&](const std::string& line, const std::string& file) -> Row {
      columns = members_of(line, file);
      return {};
    };
    Job first;
    const DatasetPtr lines = line_stream(o.owner(), {"line"}, paths, find);
    if (!lines->iterate(0)->next(&first)) value_error("{}: there are no lines", o.owner());
    first();
  }
  return line_stream(o.owner(), columns, paths,
                     [columns](const std::string& line, const std::string& file) {
                       return row_of(line, file, columns);
                     });
}

DatasetPtr open_json_lines(const Options& o) {
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  if (std::any_of(paths.begin(), paths.end(), packed_name)) return packed_json_lines(o, paths);
  const auto lines = std::make_shared<const LineIndex>(
      open_files(paths), [](std::string_view line, int64_t) { return !trim(line).empty(); });
  Columns columns = o.strings("columns_list");
  if (columns.empty() && lines->size() > 0) columns = members_of(lines->line(0), lines->file(0));
  return in_files(
      file_rows(
          o.owner(), columns, lines->size(),
          [lines, columns](int64_t i) { return row_of(lines->line(i), lines->file(i), columns); },
          paths[0]),
      lines->ends());
}

const SourceDef kTextFile{
    .name = "TextFileDataset",
    .doc =
        "Lines of text files, UTF-8, also packed (.gz, .bz2, .xz, .zst; these are a stream); empty "
        "lines are left out. Files are read in order of their names. Column: text, string [].",
    .args = with({"dataset_files: strings"}, kTextArgs),
    .open = open_text,
};

const SourceDef kJsonLines{
    .name = "JsonLinesDataset",
    .doc =
        "Files with a JSON object a line, also packed (.gz, .bz2, .xz, .zst; these are a stream). "
        "Columns: the members that `columns_list` names, or "
        "those of the first line in order of names. Values: true and false as bool, integers as "
        "int64, other numbers as float64, texts as string, lists of these as arrays; an object "
        "or null as its JSON text.",
    .args = with({"dataset_files: strings", "columns_list: strings? = None"}, kTextArgs),
    .open = open_json_lines,
};

}  // namespace

SourceDefs text_file_sources() { return {&kTextFile, &kJsonLines}; }

}  // namespace mycel::data
