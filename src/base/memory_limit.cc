#include "base/memory_limit.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fmt/core.h>
#include <unistd.h>

namespace mycel {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

// The number in a one-number file; kNoLimit when the file is absent or says "max".
uint64_t number_in(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : kNoLimit;
}

// The number after `key` in a "key number" file; `otherwise` when absent.
uint64_t field_in(const char* path, const std::string& key, uint64_t otherwise) {
  std::ifstream file(path);
  std::string name;
  uint64_t value = 0;
  for (std::string rest; file >> name; std::getline(file, rest)) {
    if (name == key) return file >> value ? value : otherwise;
  }
  return otherwise;
}

uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kNoLimit;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
}

uint64_t group_limit() {  // control groups version 2, then version 1
  return std::min(number_in("/sys/fs/cgroup/memory.max"),
                  number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}

// Free room below the group's limit; file cache that can be dropped counts as free.
uint64_t group_available() {
  const uint64_t limit = group_limit();
  if (limit == kNoLimit) return kNoLimit;
  const bool v2 = number_in("/sys/fs/cgroup/memory.max") != kNoLimit;
  const uint64_t used = number_in(v2 ? "/sys/fs/cgroup/memory.current"
                                     : "/sys/fs/cgroup/memory/memory.usage_in_bytes");
  if (used == kNoLimit) return limit;
  const uint64_t droppable = field_in(
      v2 ? "/sys/fs/cgroup/memory.stat" : "/sys/fs/cgroup/memory/memory.stat", "inactive_file", 0);
  const uint64_t taken = used > droppable ? used - droppable : 0;
  return limit > taken ? limit - taken : 0;
}

}  // namespace

uint64_t memory_limit() {
  static const uint64_t limit = std::min(physical_memory(), group_limit());
  return limit;
}

uint64_t memory_available() {
  // Values are in kB. Without the file (another system) only the total bounds us.
  const uint64_t free = field_in("/proc/meminfo", "MemAvailable:", kNoLimit >> 12);
  const uint64_t swap = field_in("/proc/meminfo", "SwapFree:", 0);
  return std::min({(free + swap) << 10, group_available(), memory_limit()});
}

std::string human_bytes(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} bytes", bytes);
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  size_t unit = 0;
  bytes /= 1024;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f} {}", bytes, kUnits[unit]);
}

}  // namespace mycel
