// The JSON header of a safetensors file, in and out. Reading checks the form of every value and
// that names are given once (a plain JSON parser keeps the last of two silently); safetensors.cc
// checks the meaning.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mycel {

struct HeaderEntry {
  std::string name;
  std::string dtype;  // the format's word: "F32", "BOOL", …
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // within the data section
};

struct SafetensorsHeader {
  std::vector<HeaderEntry> entries;  // in the text's order
  std::map<std::string, std::string> metadata;
};

// ValueError that begins with "`file`: ".
SafetensorsHeader parse_header(std::string_view json, const std::string& file);
// ValueError when a name or metadata text is not UTF-8.
std::string format_header(const SafetensorsHeader& header);

// The metadata value "mycel.complex": a JSON list of names.
std::vector<std::string> parse_name_list(const std::string& json, const std::string& file);
std::string format_name_list(const std::vector<std::string>& names);

// A name as messages show it: in quotes, control characters escaped, cut at 80 bytes. With `ascii`,
// for texts that may not be UTF-8, everything but plain letters is escaped.
std::string shown(std::string_view name, bool ascii = false);

}  // namespace mycel
