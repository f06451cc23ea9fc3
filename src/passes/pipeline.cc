// The contents page of the compiler: every step that a graph goes through, in order.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "passes/pass.h"

namespace mycel::passes {
namespace {

struct Step {
  const char* name;
  GraphOut (*run)(const ir::Graph&);
};

constexpr Step kSteps[] = {
    {"expand_composites", expand_composites},     {"merge_duplicates", merge_duplicates},
    {"eliminate_dead_code", eliminate_dead_code}, {"fuse_elementwise", fuse_elementwise},
    {"eliminate_dead_code", eliminate_dead_code},
};

void dump(const ir::Graph& g, int number, const char* pass) {
  const char* folder = std::getenv("MYCEL_DUMP");
  if (!folder || !*folder) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::string path = fmt::format("{}/{}_{:02}_{}.ir", folder, g.name(), number, pass);
  std::ofstream file(path);
  file << g.str();
  if (!file) fail(ErrorKind::kOs, "MYCEL_DUMP: cannot write {}", path);
}

}  // namespace

GraphOut optimize(const ir::Graph& g) {
  dump(g, 0, "input");
  GraphOut now;
  int number = 1;
  for (const Step& s : kSteps) {
    now = s.run(now ? *now : g);
    dump(*now, number++, s.name);
  }
  return now;
}

}  // namespace mycel::passes
