// A profile: what a timeline recorded, and on which machine. It is kept in a file of its own beside
// the event files of the run, "mycel.<time>.<host>.<process>.<n>.profile"; docs/insight.md has its
// layout. Everything that people see is computed from it: analysis.h, advice.h, export.h.
#pragma once

#include <string>
#include <vector>

#include "base/timeline.h"

namespace mycel::insight::profile {

// What the machine can do at most, per second; 0: not known.
struct Limits {
  double gflops = 0;  // of float32, all threads, as measured in a product of matrices
  double gbytes = 0;  // to and from memory
};

struct Machine {
  std::string processor, host, command, version;
  int threads = 1, cores = 1;
  int64_t memory = 0;     // bytes that the process may take
  bool bfloat16 = false;  // the processor multiplies it faster than float32
  Limits limits;
};

struct Profile {
  Machine machine;
  timeline::Recording recording;
  std::vector<std::string> problems;  // of the file it was read from
};

// Writes the file whole or not at all. UserError kOs.
void save(const Profile& profile, const std::string& path);
// Parts that are damaged are left out and named in `problems`. UserError kOs where nothing can be
// used: no such file, another format, a later version, no list of names.
Profile load(const std::string& path);
// The same of bytes; `name` is for texts.
Profile parse(std::string_view bytes, const std::string& name);
std::string pack(const Profile& profile);

constexpr const char* kFileEnd = ".profile";
// A name that no other profile in the folder has.
std::string new_path(const std::string& folder);
// Profiles in the folder and below, as paths below it, oldest first. Links that lead out are left
// out.
std::vector<std::string> profiles_below(const std::string& folder);

}  // namespace mycel::insight::profile
