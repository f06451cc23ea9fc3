// Groups of processes that collective ops work in. A process that was started alone is a world of
// one: sums over its group are the values themselves, and the ops become copies that passes drop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mycel {

// Published names of the group of all processes.
inline constexpr const char* kWorldGroups[] = {"hccl_world_group", "nccl_world_group",
                                               "mccl_world_group"};

struct ProcessGroup {
  std::vector<int64_t> ranks;  // of the world, in order
  int64_t rank = 0;            // this process's place among them
};

// ValueError when there is none of this name.
ProcessGroup group_named(const std::string& name);
// ValueError when the name is taken, or `ranks` are not of the world or lack this process.
void create_group(const std::string& name, const std::vector<int64_t>& ranks);
// ValueError for a world group or an unknown one.
void destroy_group(const std::string& name);

}  // namespace mycel
