// The contents page of the compiler: every step that a graph goes through, in order.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "ir/verify.h"
#include "passes/pass.h"

namespace mycel::passes {
namespace {

struct Step {
  const char* name;
  GraphOut (*run)(const ir::Graph&);
};

constexpr Step kFirst[] = {
    {"expand_composites", expand_composites},
    {"simplify_algebra", simplify_algebra},
};
// Between them: fold_constants, where there is something to evaluate with.
constexpr Step kThen[] = {
    {"inline_regions", inline_regions},
    {"simplify_algebra", simplify_algebra},
    {"hoist_loop_invariants", hoist_loop_invariants},
    {"merge_duplicates", merge_duplicates},
    {"merge_gradient_sums", merge_gradient_sums},
    {"eliminate_dead_code", eliminate_dead_code},
    {"fuse_elementwise", fuse_elementwise},
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

GraphOut optimize(const ir::Graph& g, Evaluate evaluate) {
  dump(g, 0, "input");
  ir::verify_after("tracing", g);
  GraphOut now;
  int number = 1;
  auto done = [&](const char* name, GraphOut result) {
    now = std::move(result);
    ir::verify_after(name, *now);
    dump(*now, number++, name);
  };
  for (const Step& s : kFirst) done(s.name, s.run(now ? *now : g));
  if (evaluate) done("fold_constants", fold_constants(*now, evaluate));
  for (const Step& s : kThen) done(s.name, s.run(*now));
  return now;
}

}  // namespace mycel::passes
