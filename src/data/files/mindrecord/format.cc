#include "data/files/mindrecord/format.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace mycel::data {
namespace {

using nlohmann::json;

constexpr int64_t kLargestHeader = int64_t{128} << 20;

[[noreturn]] void no_header(const Bytes& file, const char* why) {
  fail(ErrorKind::kOs, "'{}' is no sound MindRecord file: {}", file.name(), why);
}

RecordPage read_page(const json& j) {
  RecordPage p;
  p.id = j.at("page_id").get<int64_t>();
  p.type_id = j.at("page_type_id").get<int64_t>();
  p.used = j.at("page_size").get<int64_t>();
  p.first_row = j.at("start_row_id").get<int64_t>();
  p.end_row = j.at("end_row_id").get<int64_t>();
  p.blob = j.at("page_type").get<std::string>() == "BLOB_DATA";
  for (const json& g : j.at("row_group_ids"))
    p.groups.emplace_back(g.at("id").get<int64_t>(), g.at("offset").get<int64_t>());
  return p;
}

RecordHeader parse(const json& j) {
  RecordHeader h;
  h.header_bytes = j.at("header_size").get<int64_t>();
  h.page_bytes = j.at("page_size").get<int64_t>();
  if (j.contains("compression_size")) h.saved_bytes = j["compression_size"].get<int64_t>();
  h.shard = j.at("shard_id").get<int64_t>();
  h.shards = j.at("shard_addresses").get<std::vector<std::string>>();
  const json& schema = j.at("schema").at(0);
  if (schema.contains("desc") && schema["desc"].is_string()) h.description = schema["desc"];
  for (const auto& [name, f] : schema.at("schema").items()) {
    RecordField field{name, f.at("type").get<std::string>()};
    if (f.contains("shape")) field.shape = f["shape"].get<std::vector<int64_t>>();
    h.fields.push_back(std::move(field));
  }
  if (j.contains("index_fields") && j["index_fields"].is_array()) {
    for (const json& f : j["index_fields"])
      h.index.push_back(f.at("index_field").get<std::string>());
  }
  for (const json& p : j.at("page")) h.pages.push_back(read_page(p));
  return h;
}

}  // namespace

int64_t RecordHeader::rows() const {
  int64_t n = 0;
  for (const RecordPage& p : pages) {
    if (p.blob) n = std::max(n, p.end_row);
  }
  return n;
}

RecordHeader read_record_header(const Bytes& file) {
  uint64_t length = 0;
  if (file.size() < 8)
    no_header(file, "it is too short; a writer that does not commit leaves such");
  file.read_at(0, &length, 8);
  if (length == 0) no_header(file, "it has no header; a writer that does not commit leaves such");
  if (length > kLargestHeader || length > file.size() - 8)
    no_header(file, "the length of its header is wrong");
  const json j = json::parse(file.text(8, length), nullptr, false);
  if (!j.is_object()) no_header(file, "its header is not JSON");
  RecordHeader h;
  try {
    h = parse(j);
  } catch (const json::exception&) {
    no_header(file, "its header lacks what a MindRecord file of version 3.0 has");
  }
  const auto in = [](int64_t v, int64_t low, int64_t high) { return v >= low && v <= high; };
  bool sound = in(h.header_bytes, 1, kLargestHeader) && in(h.page_bytes, 1, int64_t{1} << 30) &&
               !h.fields.empty() && !h.shards.empty();
  for (const RecordPage& p : h.pages)
    sound = sound && in(p.id, 0, int64_t{1} << 30) && in(p.used, 0, h.page_bytes);
  for (const RecordField& f : h.fields)
    sound = sound && (!f.shape || f.shape->size() <= static_cast<size_t>(kMaxRank));
  if (!sound) no_header(file, "numbers in its header are out of range");
  return h;
}

std::string RecordHeader::json() const {
  using nlohmann::json;
  json fields_json = json::object(), blobs = json::array(), index_json = json::array();
  for (const RecordField& f : fields) {
    fields_json[f.name] = {{"type", f.type}};
    if (f.shape) fields_json[f.name]["shape"] = *f.shape;
    if (is_blob(f)) blobs.push_back(f.name);
  }
  for (const std::string& f : index) index_json.push_back({{"index_field", f}, {"schema_id", 0}});
  json pages_json = json::array();
  for (const RecordPage& p : pages) {
    json groups = json::array();
    for (const auto& [id, offset] : p.groups) groups.push_back({{"id", id}, {"offset", offset}});
    pages_json.push_back({{"end_row_id", p.end_row},
                          {"page_id", p.id},
                          {"page_size", p.used},
                          {"page_type", p.blob ? "BLOB_DATA" : "RAW_DATA"},
                          {"page_type_id", p.type_id},
                          {"row_group_ids", groups},
                          {"shard_id", shard},
                          {"start_row_id", p.first_row}});
  }
  const json all = {
      {"header_size", header_bytes},
      {"index_fields", index.empty() ? json() : index_json},
      {"page", pages_json},
      {"page_size", page_bytes},
      {"compression_size", saved_bytes},
      {"schema",
       json::array({{{"blob_fields", blobs}, {"desc", description}, {"schema", fields_json}}})},
      {"shard_addresses", shards},
      {"shard_id", shard},
      {"statistics", nullptr},
      {"version", "3.0"}};
  return all.dump();
}

std::string little_endian(uint64_t v) {
  std::string s(8, '\0');
  for (int i = 0; i < 8; ++i) s[i] = static_cast<char>(v >> 8 * i);
  return s;
}
std::string big_endian(uint64_t v) {
  std::string s = little_endian(v);
  std::reverse(s.begin(), s.end());
  return s;
}

std::string pack_ints(const std::vector<int64_t>& values) {
  const size_t n = values.size();
  std::string out = big_endian(n).substr(4);
  out.resize(4 + (n + 3) / 4);
  for (size_t i = 0; i < n; ++i) {
    const int64_t v = values[i];
    const int code = v == static_cast<int8_t>(v)    ? 0
                     : v == static_cast<int16_t>(v) ? 1
                     : v == static_cast<int32_t>(v) ? 2
                                                    : 3;
    out[4 + i / 4] = static_cast<char>(out[4 + i / 4] | code << (6 - 2 * (i % 4)));
    out += little_endian(static_cast<uint64_t>(v)).substr(0, size_t{1} << code);
  }
  return out;
}

bool unpack_ints(std::string_view text, std::vector<int64_t>* out) {
  out->clear();
  if (text.size() < 4) return false;
  size_t n = 0;
  for (int i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(text[i]);
  if (n > text.size()) return false;  // a value has a byte at least
  const size_t codes = (n + 3) / 4;
  if (text.size() < 4 + codes) return false;
  size_t at = 4 + codes;
  out->reserve(n);
  for (size_t i = 0; i < n; ++i) {
    const int code = static_cast<unsigned char>(text[4 + i / 4]) >> (6 - 2 * (i % 4)) & 3;
    const size_t bytes = size_t{1} << code;
    if (bytes > text.size() - at) return false;
    uint64_t v = 0;
    for (size_t b = 0; b < bytes; ++b)
      v |= static_cast<uint64_t>(static_cast<unsigned char>(text[at + b])) << 8 * b;
    const int unused = 64 - 8 * static_cast<int>(bytes);
    out->push_back(static_cast<int64_t>(v << unused) >> unused);  // with its sign
    at += bytes;
  }
  return at == text.size();
}

std::string blob_bytes(const std::vector<RecordField>& fields, const Row& values, int64_t* saved) {
  std::vector<std::string> parts;
  for (size_t f = 0; f < fields.size(); ++f) {
    if (!is_blob(fields[f])) continue;
    if (values[f].is_strings()) {
      parts.push_back(values[f].string());
      continue;
    }
    const Tensor& t = values[f].tensor();
    if (is_int(t.dtype()) && fields[f].type != "bytes") {
      std::vector<int64_t> numbers(t.size());
      for (int64_t i = 0; i < t.size(); ++i) numbers[i] = element_as_int(t.raw(), t.dtype(), i);
      parts.push_back(pack_ints(numbers));
      *saved += static_cast<int64_t>(t.bytes()) - static_cast<int64_t>(parts.back().size());
    } else {
      parts.emplace_back(static_cast<const char*>(t.raw()), t.bytes());
    }
  }
  std::string body;
  if (parts.empty()) {
    body.assign(4, '\0');
  } else if (parts.size() == 1) {
    body = std::move(parts[0]);
  } else {
    for (const std::string& p : parts) body += big_endian(p.size()) + p;
  }
  return little_endian(body.size()) + body;
}

std::string raw_bytes(const std::vector<RecordField>& fields, const Row& values) {
  json map = json::object();
  for (size_t f = 0; f < fields.size(); ++f) {
    if (is_blob(fields[f])) continue;
    if (values[f].is_strings()) {
      map[fields[f].name] = values[f].string();
    } else if (fields[f].type.starts_with("int")) {
      map[fields[f].name] = values[f].tensor().item_int();
    } else {
      map[fields[f].name] = values[f].tensor().item();
    }
  }
  if (map.empty()) map["id"] = 0;
  std::string body;
  json::to_msgpack(map, body);
  return little_endian(body.size()) + body;
}

}  // namespace mycel::data
