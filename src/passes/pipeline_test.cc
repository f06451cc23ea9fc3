#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "passes/pass.h"

namespace mycel::passes {
namespace {

namespace fs = std::filesystem;

class DumpTest : public testing::Test {
 protected:
  DumpTest() { setenv("MYCEL_DUMP", folder_.c_str(), 1); }
  ~DumpTest() override {
    unsetenv("MYCEL_DUMP");
    fs::remove_all(folder_);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& e : fs::directory_iterator(folder_)) names.push_back(e.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "mycel_dump" / "inner";
};

std::shared_ptr<ir::Graph> sample() {
  return ir::parse(
      "graph \"Net.call\"(%0: float32[3] \"x\", %1: float32[3]) {\n"
      "  %2 = neg(%0) : float32[3] @\"net.py:3\"\n  %3 = abs(%2) : float32[3]\n"
      "  %4 = tanh(%1) : float32[3]\n  return %3\n}\n");
}

TEST_F(DumpTest, TheGraphAfterEveryPass) {
  auto g = sample();
  auto out = optimize(*g);
  std::vector<std::string> names = files();
  std::vector<std::string> passes = {"input", "expand_to_kernels", "simplify_algebra"};
  for (int round = 0; round < 2; ++round) {  // the first drops the dead tanh, the second nothing
    passes.insert(passes.end(), {"inline_regions", "simplify_algebra", "hoist_loop_invariants",
                                 "merge_duplicates", "merge_gradient_sums", "eliminate_dead_code"});
  }
  passes.insert(passes.end(), {"fold_requantize", "channels_last", "fuse_attention", "absorb_casts",
                               "eliminate_dead_code", "fuse_norm_gradients", "eliminate_dead_code",
                               "recompute", "fuse_elementwise", "eliminate_dead_code"});
  ASSERT_EQ(names.size(), passes.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(names[i].substr(4), fmt::format("_Net_call_{:02}_{}.ir", i, passes[i]));
    EXPECT_EQ(ir::problem_of(*ir::parse(read(names[i]))), "");
  }
  EXPECT_EQ(read(names.front()), g->str());
  EXPECT_EQ(read(names.back()), out->str());
  EXPECT_NE(read(names[1]), read(names[2]));
}

TEST_F(DumpTest, ProgramsOfOneNameAreKeptApart) {
  optimize(*sample());
  size_t one = files().size();
  optimize(*sample());
  EXPECT_EQ(files().size(), 2 * one);
}

TEST_F(DumpTest, AFolderThatCannotBeWrittenIsAnError) {
  setenv("MYCEL_DUMP", "/dev/null/dump", 1);
  try {
    optimize(*sample());
    FAIL() << "nothing thrown";
  } catch (const UserError& e) {
    EXPECT_TRUE(e.message().starts_with("MYCEL_DUMP: cannot write /dev/null/dump/")) << e.message();
  }
  setenv("MYCEL_DUMP", folder_.c_str(), 1);
  fs::create_directories(folder_);
}

}  // namespace
}  // namespace mycel::passes
