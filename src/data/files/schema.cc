#include "data/files/schema.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/files/folder.h"

namespace mycel::data {
namespace {

using nlohmann::json;

SchemaColumn read_column(const std::string& name, const json& j, const std::string& owner) {
  SchemaColumn c;
  c.name = name;
  if (!j.is_object() || !j.contains("type") || !j["type"].is_string())
    value_error("{}: column '{}' of the schema has no \"type\"", owner, name);
  const std::string type = j["type"];
  if (type == "string" || type == "str") {
    c.string = true;
  } else if (!parse_dtype(type, &c.dtype)) {
    value_error("{}: the schema gives column '{}' the type '{}', which there is not", owner, name,
                type);
  }
  if (j.contains("shape") && j["shape"].is_array()) {
    std::vector<int64_t> shape;
    int unknown = 0;
    for (const json& d : j["shape"]) {
      if (!d.is_number_integer() || d.get<int64_t>() < -1)
        value_error("{}: the shape of column '{}' in the schema must be of ints >= -1, got {}",
                    owner, name, j["shape"].dump());
      shape.push_back(d);
      unknown += shape.back() == -1;
    }
    if (unknown > 1 || shape.size() > kMaxRank)
      value_error("{}: the shape of column '{}' in the schema, {}, has more than one -1 or {} dims",
                  owner, name, j["shape"].dump(), kMaxRank);
    c.shape = std::move(shape);
  } else if (j.contains("rank") && j["rank"].is_number_integer() && j["rank"] == 0) {
    c.shape.emplace();
  }
  return c;
}

}  // namespace

Schema read_schema(const std::string& text_or_path, const std::string& owner) {
  const bool inline_text =
      text_or_path.find_first_of("{[") != std::string::npos &&
      text_or_path.find_first_not_of(" \n\t\r") == text_or_path.find_first_of("{[");
  const std::string text = inline_text ? text_or_path : open_file(text_or_path)->text();
  const json j = json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("columns") ||
      !(j["columns"].is_object() || j["columns"].is_array()))
    value_error("{}: the schema {} is no JSON object with \"columns\"", owner,
                inline_text ? text : "'" + text_or_path + "'");
  Schema s;
  if (j.contains("numRows") && j["numRows"].is_number_integer()) s.rows = j["numRows"];
  for (const auto& [key, column] : j["columns"].items()) {
    if (j["columns"].is_object()) {
      s.columns.push_back(read_column(key, column, owner));
      continue;
    }
    if (!column.is_object() || !column.contains("name") || !column["name"].is_string())
      value_error("{}: a column of the schema has no \"name\"", owner);
    s.columns.push_back(read_column(column["name"], column, owner));
  }
  return s;
}

}  // namespace mycel::data
