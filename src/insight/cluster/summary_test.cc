#include "insight/cluster/summary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mycel::insight {
namespace {

std::string record(int rank, int ranks, const std::string& host, int64_t step, double compute,
                   int64_t memory, double link_seconds) {
  return fmt::format(
      R"({{"rank":{},"ranks":{},"host":"{}","steps":[{{"step":{},"seconds":{},"compute":{},)"
      R"("wait":0.001,"memory":{},"peak":{},"links":[["send",{},{},1000000]]}}]}})",
      rank, ranks, host, step, compute + 0.05, compute, memory, memory, (rank + 1) % ranks,
      link_seconds);
}

TEST(ClusterSummary, NamesWhatIsSlow) {
  ClusterSummary s;
  for (int step = 0; step < 1000; ++step) {
    for (int rank = 0; rank < 16; ++rank) {
      const bool slow = rank / 4 == 2;
      ASSERT_TRUE(s.add(record(rank, 16, fmt::format("node{}", rank / 4), step, slow ? 0.15 : 0.1,
                               rank == 5 ? 900 : 100 + step / 10, rank == 7 ? 0.01 : 0.001)));
    }
  }
  const auto advice = s.advice();
  ASSERT_GE(advice.size(), 3u);
  std::map<std::string, nlohmann::ordered_json> kinds;
  for (const auto& a : advice) kinds.emplace(a["kind"], a);
  EXPECT_EQ(kinds.at("slow_host")["host"], "node2");
  EXPECT_NEAR(kinds.at("slow_host")["slower"].get<double>(), 0.5, 1e-9);
  EXPECT_EQ(kinds.at("slow_link")["rank"], 7);
  EXPECT_NEAR(kinds.at("slow_link")["share"].get<double>(), 0.1, 1e-9);
  EXPECT_EQ(kinds.at("memory")["rank"], 5);
  EXPECT_FALSE(kinds.count("slow_rank"));  // its machine is named
  const auto ranks = s.ranks(3, "compute");
  EXPECT_EQ(ranks["ranks"], 16);
  EXPECT_EQ(ranks["rows"].size(), 3u);
  EXPECT_NEAR(ranks["rows"][0]["compute"].get<double>(), 0.15, 1e-9);
  EXPECT_NEAR(ranks["communication"].get<double>(), (15 * 0.001 + 0.01) / 16, 1e-9);
  // 1,000 steps fit into a fixed number of columns, and no peak is lost.
  const auto memory = s.memory();
  EXPECT_LE(memory["columns"], 64);
  EXPECT_GE(memory["columns"].get<int64_t>() * memory["width"].get<int64_t>(), 1000);
  const auto columns = memory["columns"].get<size_t>();
  EXPECT_EQ(memory["cells"][5 * columns], 900);
  EXPECT_EQ(memory["cells"][columns - 1], 199);
}

TEST(ClusterSummary, LeavesOutWhatIsDamaged) {
  ClusterSummary s;
  EXPECT_TRUE(s.add(record(0, 4, "a", 0, 0.1, 5, 0.1)));
  for (
      const char* wrong :
      {"", "{", "[]", "3", R"({"rank":0})", R"({"rank":9,"ranks":4,"host":"a","steps":[]})",
       R"({"rank":0,"ranks":99999999,"host":"a","steps":[]})",
       R"({"rank":0,"ranks":4,"host":"a","steps":[{"step":-1,"seconds":1,"compute":1,"wait":1,"memory":1,"peak":1,"links":[]}]})",
       R"({"rank":0,"ranks":4,"host":"a","steps":[{"step":1,"seconds":-1,"compute":1,"wait":1,"memory":1,"peak":1,"links":[]}]})",
       R"({"rank":0,"ranks":4,"host":"a","steps":[{"step":1,"seconds":1,"compute":1,"wait":1,"memory":1,"peak":1,"links":[["x"]]}]})"})
    EXPECT_FALSE(s.add(wrong)) << wrong;
  EXPECT_EQ(s.ranks(9, "rank")["damaged"], 10);
  EXPECT_EQ(s.ranks(9, "rank")["rows"][0]["steps"], 1);
  EXPECT_EQ(s.advice()[0]["kind"], "missing");
}

}  // namespace
}  // namespace mycel::insight
