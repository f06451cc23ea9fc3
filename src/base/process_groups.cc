#include "base/process_groups.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/ranges.h>

#include "base/error.h"

namespace mycel {
namespace {

struct Groups {
  std::mutex mutex;
  std::map<std::string, ProcessGroup> made;
};

Groups& groups() {
  static Groups g;
  return g;
}

bool is_world(const std::string& name) {
  return std::find(std::begin(kWorldGroups), std::end(kWorldGroups), name) !=
         std::end(kWorldGroups);
}

}  // namespace

ProcessGroup group_named(const std::string& name) {
  if (is_world(name)) return {{0}, 0};
  Groups& g = groups();
  std::lock_guard lock(g.mutex);
  if (auto it = g.made.find(name); it != g.made.end()) return it->second;
  value_error("communication: there is no group '{}'", name);
}

void create_group(const std::string& name, const std::vector<int64_t>& ranks) {
  if (ranks != std::vector<int64_t>{0}) {
    value_error("create_group: ranks [{}] are not those of this world, which is process 0 alone",
                fmt::join(ranks, ", "));
  }
  Groups& g = groups();
  std::lock_guard lock(g.mutex);
  if (is_world(name) || !g.made.try_emplace(name, ProcessGroup{ranks, 0}).second)
    value_error("create_group: there is a group '{}' already", name);
}

void destroy_group(const std::string& name) {
  if (is_world(name)) value_error("destroy_group: '{}' is the group of all processes", name);
  Groups& g = groups();
  std::lock_guard lock(g.mutex);
  if (!g.made.erase(name)) value_error("destroy_group: there is no group '{}'", name);
}

}  // namespace mycel
