#include "data/files/labelled.h"

namespace mycel::data {

std::vector<std::string> trimmed_lines(const BytesPtr& file) {
  std::vector<std::string> out;
  Scanner scan(file);
  std::string line;
  while (scan.line(&line)) {
    if (!trim(line).empty()) out.emplace_back(trim(line));
  }
  return out;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  while (!(line = trim(line)).empty()) {
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    out.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return out;
}

}  // namespace mycel::data
