#include "loops/dump.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace mycel::loops {

Dump::Dump(const Nest& nest) {
  static const char* directory = std::getenv("MYCEL_DUMP_KERNELS");
  static std::atomic<int> count{0};
  if (!directory || !*directory) return;
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  std::string name = nest.name();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  stem_ = fmt::format("{}/{:04}_{}", directory, count++, name);
  write(".nest", nest.str());
}

void Dump::write(const char* extension, const std::string& content) const {
  std::ofstream(stem_ + extension) << content;
}

}  // namespace mycel::loops
