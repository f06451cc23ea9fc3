// tests/golden/<pass>.txt: graphs in, the pass, graphs out. Cases begin with "=== title"; the text
// up to "---" goes in, the rest is what must come out. MYCEL_UPDATE_GOLDEN=1 writes what does come
// out: read the difference before committing it. On every graph there, every pass must be
// idempotent and keep the results.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph_checks.h"
#include "ir/text.h"
#include "test_paths.h"

namespace mycel {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string title, in, out;
};

std::vector<Case> read_cases(const fs::path& path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  bool second = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({line.substr(4), "", ""});
      second = false;
    } else if (line == "---") {
      second = true;
    } else {
      (second ? cases.back().out : cases.back().in) += line + "\n";
    }
  }
  return cases;
}

void write_cases(const fs::path& path, const std::vector<Case>& cases) {
  std::ofstream file(path);
  for (const Case& c : cases) file << "=== " << c.title << "\n" << c.in << "---\n" << c.out;
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(MYCEL_SOURCE_DIR "/tests/golden"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Golden, EveryPassGivesWhatIsWritten) {
  const bool update = std::getenv("MYCEL_UPDATE_GOLDEN") != nullptr;
  for (const fs::path& path : golden_files()) {
    std::vector<Case> cases = read_cases(path);
    EXPECT_FALSE(cases.empty()) << path;
    for (Case& c : cases) {
      std::string got = graph_checks::run_pass(path.stem(), *ir::parse(c.in))->str();
      if (update) {
        c.out = got;
      } else {
        EXPECT_EQ(got, c.out) << path.filename() << ": " << c.title;
      }
    }
    if (update) write_cases(path, cases);
  }
}

TEST(Golden, EveryPassIsIdempotentAndKeepsResults) {
  for (const fs::path& path : golden_files()) {
    for (const Case& c : read_cases(path)) {
      auto g = ir::parse(c.in);
      for (const auto& pass : graph_checks::all_passes())
        EXPECT_EQ(graph_checks::check_pass(pass, *g, 3, 1e-6), "") << c.title << "\n" << c.in;
    }
  }
}

TEST(Golden, EveryPassHasCases) {
  for (const auto& pass : graph_checks::all_passes()) {
    EXPECT_TRUE(fs::exists(fmt::format("{}/tests/golden/{}.txt", MYCEL_SOURCE_DIR, pass.name)))
        << pass.name;
  }
}

}  // namespace
}  // namespace mycel
