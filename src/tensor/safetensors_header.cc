#include "tensor/safetensors_header.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace mycel {
namespace {

using Json = nlohmann::json;

// Follows the parser's events through the only structure that a header may have:
//   { "__metadata__": {name: text, …}, name: {"dtype": text, "shape": [n, …], "data_offsets": [a,
//   b]}, … }
class HeaderReader final : public Json::json_sax_t {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}
  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { wrong("null"); }
  bool boolean(bool) override { wrong("a truth value"); }
  bool binary(binary_t&) override { wrong("binary data"); }
  bool number_float(double, const std::string& text) override { wrong(text); }
  bool number_integer(int64_t v) override { wrong(std::to_string(v)); }  // only negative ones

  bool number_unsigned(uint64_t v) override {
    if (at_ == At::kShape) {
      if (v > static_cast<uint64_t>(INT64_MAX)) bad("dimension {} is too large", v);
      entry().shape.push_back(static_cast<int64_t>(v));
    } else if (at_ == At::kOffsets && offsets_ < 2) {
      (offsets_++ == 0 ? entry().begin : entry().end) = v;
    } else {
      wrong(std::to_string(v));
    }
    return true;
  }

  bool string(std::string& text) override {
    if (at_ == At::kMetadata) {
      header_.metadata[key_] = text;
    } else if (at_ == At::kEntry && key_ == "dtype") {
      entry().dtype = text;
    } else {
      wrong("a text");
    }
    return true;
  }

  bool key(std::string& name) override {
    switch (at_) {
      case At::kTop:
        if (!names_.insert(name).second)
          value_error("{}: entry {} comes twice", file_, shown(name));
        break;
      case At::kMetadata:
        if (header_.metadata.contains(name)) {
          value_error("{}: metadata {} comes twice", file_, shown(name));
        }
        break;
      default:
        if (name != "dtype" && name != "shape" && name != "data_offsets") {
          bad("unknown key {}", shown(name));
        }
        if (!fields_.insert(name).second) bad("key {} comes twice", shown(name));
    }
    key_ = name;
    return true;
  }

  bool start_object(size_t) override {
    if (at_ == At::kStart) {
      at_ = At::kTop;
    } else if (at_ == At::kTop && key_ == "__metadata__") {
      at_ = At::kMetadata;
    } else if (at_ == At::kTop) {
      at_ = At::kEntry;
      fields_.clear();
      offsets_ = 0;
      header_.entries.emplace_back().name = key_;
    } else {
      wrong("an object");
    }
    return true;
  }

  bool end_object() override {
    if (at_ == At::kEntry) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (!fields_.contains(field)) bad("key '{}' is missing", field);
      }
    }
    at_ = at_ == At::kTop ? At::kStart : At::kTop;
    return true;
  }

  bool start_array(size_t) override {
    if (at_ != At::kEntry || key_ == "dtype") wrong("a list");
    at_ = key_ == "shape" ? At::kShape : At::kOffsets;
    return true;
  }

  bool end_array() override {
    if (at_ == At::kOffsets && offsets_ != 2)
      bad("data_offsets has {} numbers instead of 2", offsets_);
    at_ = At::kEntry;
    return true;
  }

  bool parse_error(size_t at, const std::string&, const Json::exception&) override {
    value_error("{}: the header is not valid JSON (at its byte {})", file_, at);
  }

 private:
  enum class At { kStart, kTop, kMetadata, kEntry, kShape, kOffsets };

  HeaderEntry& entry() { return header_.entries.back(); }

  template <typename... A>
  [[noreturn]] void bad(fmt::format_string<A...> f, A&&... a) {
    value_error("{}: entry {}: {}", file_, shown(entry().name),
                fmt::format(f, std::forward<A>(a)...));
  }

  // Something stands where the format wants something else.
  [[noreturn]] void wrong(const std::string& found) {
    switch (at_) {
      case At::kStart:
        value_error("{}: the header is {}, not a JSON object", file_, found);
      case At::kTop:
        value_error("{}: {} is {}, not an object", file_, shown(key_), found);
      case At::kMetadata:
        value_error("{}: metadata {} is {}; only texts are allowed", file_, shown(key_), found);
      case At::kShape:
        bad("shape holds {}; dimensions are whole numbers from 0", found);
      case At::kOffsets:
        bad("data_offsets holds {}; two whole numbers from 0 are expected", found);
      case At::kEntry:
        break;
    }
    bad("'{}' is {}, not {}", key_, found, key_ == "dtype" ? "a text" : "a list");
  }

  std::string file_;
  SafetensorsHeader header_;
  At at_ = At::kStart;
  std::string key_;
  std::set<std::string> names_, fields_;
  int offsets_ = 0;
};

// dump() of a text that may not be UTF-8.
std::string json_text(const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    value_error("save_safetensors: {} is not UTF-8", shown(text, /*ascii=*/true));
  }
}

}  // namespace

SafetensorsHeader parse_header(std::string_view json, const std::string& file) {
  HeaderReader reader(file);
  Json::sax_parse(json, &reader);
  return reader.take();
}

std::string format_header(const SafetensorsHeader& header) {
  std::string s = "{";
  const auto separate = [&s] { s += s.back() == '{' ? "" : ","; };
  if (!header.metadata.empty()) {
    s += "\"__metadata__\":{";
    for (const auto& [name, text] : header.metadata) {
      separate();
      s += json_text(name) + ':' + json_text(text);
    }
    s += '}';
  }
  for (const HeaderEntry& e : header.entries) {
    separate();
    s += json_text(e.name) + ":{\"dtype\":\"" + e.dtype + "\",\"shape\":[";
    for (size_t d = 0; d < e.shape.size(); ++d) s += (d ? "," : "") + std::to_string(e.shape[d]);
    s += fmt::format("],\"data_offsets\":[{},{}]}}", e.begin, e.end);
  }
  return s + '}';
}

std::vector<std::string> parse_name_list(const std::string& json, const std::string& file) {
  const Json list = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto is_text = [](const Json& item) { return item.is_string(); };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_text)) {
    value_error("{}: metadata 'mycel.complex' is not a list of names", file);
  }
  return list.get<std::vector<std::string>>();
}

std::string format_name_list(const std::vector<std::string>& names) {
  std::string s = "[";
  for (const std::string& name : names) s += (s.size() > 1 ? "," : "") + json_text(name);
  return s + ']';
}

std::string shown(std::string_view name, bool ascii) {
  size_t end = std::min<size_t>(name.size(), 80);
  // Never in the middle of a character: continuation bytes are 10xxxxxx.
  while (end < name.size() && end > 0 && (name[end] & 0xC0) == 0x80) --end;
  std::string s = "'";
  for (char c : name.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool escape = byte < 0x20 || byte == 0x7F || (ascii && byte > 0x7F);
    if (escape)
      s += fmt::format("\\x{:02x}", byte);
    else
      s += c;
  }
  return s + (end < name.size() ? "…'" : "'");
}

}  // namespace mycel
