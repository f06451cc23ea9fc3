// The contents page of the compiler: every step that a graph goes through, in order.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "ir/structural.h"
#include "ir/verify.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mycel::passes {
namespace {

struct Step {
  const char* name;
  GraphOut (*run)(const ir::Graph&);
  bool control = false;  // only where there is control flow
};

// What one step leaves another may simplify further: they go on until a round changes nothing.
constexpr int kMostRounds = 8;

// Programs that take less are not worth computing anything twice.
constexpr int64_t kRoomyBytes = int64_t{256} << 20;

bool has_control(const ir::Graph& g) {
  return std::any_of(g.nodes().begin(), g.nodes().end(), has_regions);
}

constexpr Step kFirst[] = {
    {"expand_to_kernels", expand_to_kernels},
    {"simplify_algebra", simplify_algebra},
};
// Before them: fold_constants, where there is something to evaluate with.
constexpr Step kRound[] = {
    {"inline_regions", inline_regions, true},
    {"simplify_algebra", simplify_algebra},
    {"hoist_loop_invariants", hoist_loop_invariants, true},
    {"merge_duplicates", merge_duplicates},
    {"merge_gradient_sums", merge_gradient_sums},
    {"eliminate_dead_code", eliminate_dead_code},
};
// Other forms of whole stretches of a program, with transposes around them.
constexpr Step kForms[] = {
    {"fold_requantize", fold_requantize},
    {"channels_last", channels_last},
    {"fuse_attention", fuse_attention},
};
// After one of them, where it changed anything: what it leaves at the borders cancels, folds or is
// shared.
constexpr Step kBorders[] = {
    {"simplify_algebra", simplify_algebra},
    {"merge_duplicates", merge_duplicates},
    {"eliminate_dead_code", eliminate_dead_code},
};
// Nothing after them merges what is alike.
constexpr Step kCasts[] = {
    {"absorb_casts", absorb_casts},
    {"eliminate_dead_code", eliminate_dead_code},
    {"fuse_norm_gradients", fuse_norm_gradients},
    {"eliminate_dead_code", eliminate_dead_code},
};
constexpr Step kLast[] = {
    {"fuse_elementwise", fuse_elementwise},
    {"eliminate_dead_code", eliminate_dead_code},
};

// Writes one program after each pass, where MYCEL_DUMP asks for it. Programs are numbered; the plan
// of a loop or branch is one of its own.
class Dump {
 public:
  explicit Dump(const std::string& name) {
    const char* folder = std::getenv("MYCEL_DUMP");
    if (!folder || !*folder) return;
    static std::atomic<int> programs{0};
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    std::string plain = name;
    for (char& c : plain) {
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    stem_ = fmt::format("{}/{:04}_{}", folder, programs++, plain);
  }
  void operator()(const char* pass, const ir::Graph& g) {
    if (stem_.empty()) return;
    std::string path = fmt::format("{}_{:02}_{}.ir", stem_, passes_++, pass);
    std::ofstream file(path);
    file << g.str();
    if (!file) fail(ErrorKind::kOs, "MYCEL_DUMP: cannot write {}", path);
  }

 private:
  std::string stem_;
  int passes_ = 0;
};

}  // namespace

GraphOut optimize(const ir::Graph& g, Evaluate evaluate, Accepts accepts,
                  const std::vector<bool>& steady, const Observe& observe, bool keep_values) {
  Dump dump(g.name());
  dump("input", g);
  if (observe) observe("input", g);
  ir::verify_after("tracing", g);
  GraphOut now;
  auto done = [&](const char* name, GraphOut result) {
    now = std::move(result);
    ir::verify_after(name, *now);
    dump(name, *now);
    if (observe) observe(name, *now);
  };
  for (const Step& s : kFirst) done(s.name, s.run(now ? *now : g));
  for (int round = 0; round < kMostRounds; ++round) {
    GraphOut before = now;
    if (evaluate) done("fold_constants", fold_constants(*now, evaluate));
    for (const Step& s : kRound) done(s.name, s.control && !has_control(*now) ? now : s.run(*now));
    if (ir::structurally_equal(*now, *before)) break;
  }
  if (keep_values) return now;
  for (const Step& s : kForms) {
    GraphOut before = now;
    done(s.name, s.run(*now));
    if (ir::structurally_equal(*now, *before)) continue;
    if (evaluate) done("fold_constants", fold_constants(*now, evaluate));
    for (const Step& border : kBorders) done(border.name, border.run(*now));
  }
  if (std::find(steady.begin(), steady.end(), true) != steady.end()) {
    done("fold_scales", fold_scales(*now, steady));
  }
  for (const Step& s : kCasts) done(s.name, s.run(*now));
  done("recompute", recompute(*now, kRoomyBytes));
  for (const Step& s : kLast) done(s.name, s.run(*now));
  if (accepts) done("join_epilogues", join_epilogues(*now, accepts));
  return now;
}

}  // namespace mycel::passes
