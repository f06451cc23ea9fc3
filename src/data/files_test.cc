// Sources of files from C++: handles, threads, progress, errors, MindRecord.
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "data/index_progress.h"
#include "data/mindrecord.h"
#include "data/source.h"

namespace mycel::data {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("mycel_files_{}_{}", ::getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string put(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  static std::string text(const Row& row) { return row.at(0).string(); }
  fs::path folder_;
};

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

size_t handles() {
  size_t n = 0;
  for ([[maybe_unused]] const auto& e : fs::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

TEST_F(Files, ManyFilesNeedFewHandlesOnAnyThread) {
  constexpr int kFiles = 300;
  for (int i = 0; i < kFiles; ++i) put(fmt::format("{:03}.txt", i), fmt::format("{0}a\n{0}b\n", i));
  const DatasetPtr d =
      open_source("TextFileDataset", {{"dataset_files", (folder_ / "*.txt").string()}});
  ASSERT_EQ(d->size(), 2 * kFiles);
  const size_t before = handles();
  std::vector<std::string> got(2 * kFiles);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      // Each thread in another order, so that handles are given back while others read.
      for (int k = t; k < 2 * kFiles; k += 4) {
        const int i = (k * 7 + 3) % (2 * kFiles);
        got[i] = text(d->row(0, i));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < 2 * kFiles; ++i)
    EXPECT_EQ(got[i], fmt::format("{}{}", i / 2, i % 2 ? 'b' : 'a'));
  EXPECT_LE(handles(), before + 8);
  EXPECT_LE(handles(), 64 + 32u);
}

TEST_F(Files, AFileThatIsReplacedIsAnError) {
  const std::string first = put("first.txt", "one\ntwo\n");
  const DatasetPtr d = open_source("TextFileDataset", {{"dataset_files", first}});
  for (int i = 0; i < 70; ++i) put(fmt::format("o{}.txt", i), "x\n");
  const DatasetPtr others =
      open_source("TextFileDataset", {{"dataset_files", (folder_ / "o*.txt").string()}});
  fs::remove(first);
  put("first.txt", "something else\n");
  const std::string error = error_of([&] { d->row(0, 1); });
  EXPECT_NE(error.find("TextFileDataset: sample 1: '" + first + "' has changed since"),
            std::string::npos)
      << error;
}

TEST_F(Files, LongIndexBuildsAreSeenAndCanBeStopped) {
  std::string lines;
  for (int i = 0; i < 3000000; ++i) lines += "a line\n";
  const std::string path = put("long.txt", lines);
  struct Stop {};
  int64_t calls = 0, last = 0, total = 0;
  on_index_progress([&](const std::string& what, int64_t done, int64_t of) {
    EXPECT_EQ(what, path);
    EXPECT_GT(done, last);
    last = done;
    total = of;
    if (++calls == 1) throw Stop{};
  });
  // The first report comes after a tenth of a second; a machine that is faster makes none.
  try {
    open_source("TextFileDataset", {{"dataset_files", path}});
    EXPECT_EQ(calls, 0);
  } catch (const Stop&) {
    EXPECT_EQ(total, static_cast<int64_t>(lines.size()));
  }
  on_index_progress({});
}

TEST_F(Files, ArgumentsAndNamesAreChecked) {
  const auto error = [&](const std::string& name, const NamedOptions& args) {
    return error_of([&] { open_source(name, args); });
  };
  EXPECT_NE(error("TextFileDatset", {}).find("Did you mean 'TextFileDataset'?"), std::string::npos);
  EXPECT_NE(error("MnistDataset", {{"dataset_dir", folder_.string()}, {"usage", "half"}})
                .find("MnistDataset: 'usage' must be one of train, test, all, got 'half'"),
            std::string::npos);
  put("empty.txt", "\n\n");
  EXPECT_NE(error("TextFileDataset", {{"dataset_files", (folder_ / "empty.txt").string()}})
                .find("TextFileDataset: there are no samples in"),
            std::string::npos);
}

TEST_F(Files, MindRecordFromCpp) {
  const std::string path = (folder_ / "rows").string();
  RecordFile file{.path = path, .shards = 2};
  file.fields = {{"label", "int32"}, {"image", "bytes"}, {"w", "float64", {{2}}}};
  const auto writer = write_records(file);
  ASSERT_EQ(writer->fields()[0].name, "image");  // sorted
  std::vector<Row> rows;
  for (int i = 0; i < 5; ++i) {
    rows.push_back({Tensor::from(std::vector<uint8_t>(i + 1, i), {i + 1}),
                    Tensor::scalar(DType::kInt64, int64_t{i}),
                    Tensor::from(std::vector<double>{0.5, double(i)}, {2})});
  }
  writer->write(rows);
  writer->commit();
  EXPECT_NE(error_of([&] { writer->write(rows); }).find("nothing can be written after commit"),
            std::string::npos);
  const DatasetPtr d = open_source("MindDataset", {{"dataset_files", path + "0"}});
  ASSERT_EQ(d->size(), 5);
  for (int i = 0; i < 5; ++i) {
    const Row row = d->row(0, i);
    EXPECT_EQ(row[0].tensor().size(), i + 1);
    EXPECT_EQ(row[1].tensor().item_int(), i);
    EXPECT_EQ(row[2].tensor().data<double>()[1], i);
  }
  EXPECT_EQ(find_records(record_files(path + "1"), "label", "4"), std::vector<int64_t>{4});
  EXPECT_NE(error_of([&] { write_records(file); }).find("is there already"), std::string::npos);
}

}  // namespace
}  // namespace mycel::data
