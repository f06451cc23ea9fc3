#include "insight/index.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/random.h"
#include "insight/recorder.h"

namespace mycel::insight {
namespace {

namespace fs = std::filesystem;

// A folder that goes at the end.
struct Folder {
  fs::path path =
      fs::temp_directory_path() / ("mycel_index_test." + std::to_string(getpid()) + "." +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path / "runs");
  }
  ~Folder() { fs::remove_all(path); }
  std::string runs() const { return (path / "runs").string(); }
  std::unique_ptr<Index> index() const { return open_index(runs(), {(path / "index").string()}); }
};

TEST(Index, CurvesHoldEveryExtreme) {
  Folder folder;
  std::vector<double> values;
  {
    Recorder r(folder.runs() + "/a");
    Philox noise(5);
    for (int i = 0; i < 5000; ++i) {
      values.push_back(static_cast<double>(noise.next32() >> 12));
      if (i == 777) values.back() = std::nan("");
      r.scalar("x", values.back(), 3 * i);
    }
  }
  auto index = folder.index();
  EXPECT_TRUE(index->update());
  EXPECT_FALSE(index->update());
  ASSERT_EQ(index->runs().size(), 1u);
  EXPECT_EQ(index->runs()[0].name, "a");
  const SeriesInfo s = index->find(1, Kind::kScalar, "x");
  EXPECT_EQ(s.count, 5000);
  EXPECT_EQ(s.last_step, 14997);
  for (int columns : {1, 3, 64, 1000}) {
    const auto points = index->curve(s.id, {.columns = columns});
    ASSERT_LE(points.size(), static_cast<size_t>(columns));
    size_t at = 0;
    for (const CurvePoint& p : points) {
      ASSERT_EQ(p.step, static_cast<int64_t>(3 * at));
      double low = 1e300, high = -1e300;
      int64_t bad = 0;
      for (int64_t i = 0; i < p.count; ++i, ++at) {
        if (!std::isfinite(values[at])) {
          ++bad;
          continue;
        }
        low = std::min(low, values[at]);
        high = std::max(high, values[at]);
      }
      EXPECT_EQ(p.not_finite, bad);
      EXPECT_EQ(p.min, low);
      EXPECT_EQ(p.max, high);
    }
    EXPECT_EQ(at, values.size());
  }
  EXPECT_EQ(index->curve(s.id, {.columns = 10000}).size(), 5000u);
  EXPECT_ANY_THROW(index->find(1, Kind::kScalar, "y"));
}

TEST(Index, FollowsFilesAndReadsItems) {
  Folder folder;
  Recorder r(folder.runs());
  auto index = folder.index();
  for (int step = 0; step < 3; ++step) {
    r.histogram("h", Tensor::full(DType::kFloat32, {10}, step), step);
    r.text("words", "step " + std::to_string(step), step);
    r.hparams({{"lr", 0.1 * step}});
    r.record("lineage/train", R"({"state": "running", "metrics": {"acc": 0.5}, "ok": true})");
    r.flush();
    EXPECT_TRUE(index->update());
  }
  const SeriesInfo s = index->find(1, Kind::kText, "words");
  const auto items = index->items(s.id, 2);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1].step, 2);
  std::string text;
  EXPECT_TRUE(index->read(items[1], [&](const Recorded& v) { text = v.content; }));
  EXPECT_EQ(text, "step 2");
  std::map<std::string, HParam> facts;
  for (const Fact& f : index->facts()) facts[f.key] = f.value;
  EXPECT_EQ(std::get<double>(facts["lr"]), 0.2);
  EXPECT_EQ(std::get<double>(facts["metrics/acc"]), 0.5);
  EXPECT_EQ(std::get<bool>(facts["ok"]), true);
  EXPECT_EQ(std::get<std::string>(facts["state"]), "running");
}

TEST(Index, SurvivesDamage) {
  Folder folder;
  std::string path;
  {
    Recorder r(folder.runs());
    for (int i = 0; i < 200; ++i) r.scalar("x", i, i);
    r.close();
    path = r.path();
  }
  std::string whole;
  {
    std::ifstream in(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  Philox pick(9);
  for (int round = 0; round < 40; ++round) {
    std::string bad = whole;
    for (int k = 0; k < 3; ++k)
      bad[pick.next32() % bad.size()] ^= static_cast<char>(1 << (pick.next32() % 8));
    bad.resize(bad.size() - pick.next32() % 50);
    std::ofstream(path, std::ios::binary) << bad;
    fs::remove(folder.path / "index");
    auto index = folder.index();
    index->update();
    for (const SeriesInfo& s : index->series()) {
      EXPECT_LE(s.count, 200);
      if (s.kind == Kind::kScalar) index->curve(s.id, {});
    }
  }
}

}  // namespace
}  // namespace mycel::insight
