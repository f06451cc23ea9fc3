// CSVDataset.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "data/files/arguments.h"
#include "data/files/csv.h"
#include "data/files/lines.h"
#include "data/files/records.h"
#include "data/files/rows.h"
#include "data/group_order.h"

namespace mycel::data {
namespace {

enum class Field { kString, kInt, kReal };

std::vector<Field> kinds_of(const Options& o, size_t columns) {
  if (o.none("column_defaults")) return std::vector<Field>(columns, Field::kString);
  const Option& given = o["column_defaults"];
  if (!given.is<Option::List>())
    type_error("{}: 'column_defaults' must be a list, got {}", o.owner(), given.str());
  std::vector<Field> out;
  for (const Option& v : given.get<Option::List>()) {
    if (v.is<int64_t>()) {
      out.push_back(Field::kInt);
    } else if (v.is<double>()) {
      out.push_back(Field::kReal);
    } else if (v.is<std::string>()) {
      out.push_back(Field::kString);
    } else {
      type_error("{}: 'column_defaults' must hold ints, floats and strs, got {}", o.owner(),
                 v.str());
    }
  }
  if (out.size() != columns)
    value_error("{}: 'column_defaults' has {} values, but there are {} columns", o.owner(),
                out.size(), columns);
  return out;
}

Value value_of(Field kind, std::string text, const std::string& column, const std::string& file) {
  const auto no = [&](const char* what) {
    fail(ErrorKind::kOs, "'{}': column '{}' is {}, but holds '{}'", file, column, what, text);
  };
  if (kind == Field::kInt) {
    int64_t v = 0;
    if (!parse_int(trim(text), &v) || v != static_cast<int32_t>(v)) no("int32");
    return scalar(static_cast<int32_t>(v));
  }
  if (kind == Field::kReal) {
    double v = 0;
    if (!parse_real(trim(text), &v)) no("float32");
    return scalar(static_cast<float>(v));
  }
  return Value(std::move(text));
}

DatasetPtr open(const Options& o) {
  const std::string& delimiter = o.string("field_delim");
  if (delimiter.size() != 1 || std::string("\"\n\r").find(delimiter) != std::string::npos)
    o.fail("field_delim", "must be one character, no quote and no line end, got '{}'", delimiter);
  const auto paths = find_files(o.strings("dataset_files"), o.owner());
  const bool header = o.none("column_names");
  const auto index = std::make_shared<const CsvIndex>(open_files(paths), delimiter[0], header);
  const std::vector<std::string> columns = header ? index->header() : o.strings("column_names");
  const std::vector<Field> kinds = kinds_of(o, columns.size());
  return in_files(
      file_rows(
          o.owner(), columns, index->size(),
          [index, columns, kinds](int64_t i) {
            std::vector<std::string> fields = index->record(i);
            if (fields.size() != columns.size())
              fail(ErrorKind::kOs, "'{}': the record has {} fields, but there are {} columns ({})",
                   index->file(i), fields.size(), columns.size(), fmt::join(columns, ", "));
            Row row;
            for (size_t c = 0; c < columns.size(); ++c)
              row.push_back(value_of(kinds[c], std::move(fields[c]), columns[c], index->file(i)));
            return row;
          },
          paths[0]),
      index->ends());
}

const SourceDef kCsv{
    .name = "CSVDataset",
    .doc =
        "Comma-separated values (RFC 4180); `field_delim` is the comma. `column_names`: names; "
        "otherwise the first record of every file holds them. `column_defaults`: a value for "
        "each column, whose kind is that of the column: int as int32, float as float32, str as "
        "string; without it all are strings []. Empty lines are left out.",
    .args = with({"dataset_files: strings", "field_delim: string = ','",
                  "column_defaults: any? = None", "column_names: strings? = None"},
                 kTextArgs),
    .open = open,
};

}  // namespace

SourceDefs csv_sources() { return {&kCsv}; }

}  // namespace mycel::data
