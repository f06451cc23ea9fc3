// Many threads in one pipeline of files, transforms, cache and batches: the rows are those of one
// thread, while others read the same pipeline and look at it. For the thread sanitizer above all.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "data/description.h"
#include "data/index_progress.h"
#include "data/operators.h"
#include "data/reader.h"
#include "data/source.h"

namespace mycel::data {
namespace {

namespace fs = std::filesystem;

// Forty pictures of two classes.
class Pictures {
 public:
  Pictures() : root_(fs::temp_directory_path() / fmt::format("mycel_pictures_{}", ::getpid())) {
    const TransformPtr encode = make_transform("vision.encode_jpeg", {{"quality", 90}});
    for (int i = 0; i < 40; ++i) {
      const fs::path folder = root_ / (i % 2 ? "odd" : "even");
      fs::create_directories(folder);
      std::vector<uint8_t> pixels(24 * 32 * 3);
      for (size_t k = 0; k < pixels.size(); ++k)
        pixels[k] = static_cast<uint8_t>((k * k / 97 + static_cast<size_t>(i) * 31) % 256);
      Row row{Tensor::from(pixels, {24, 32, 3})};
      Philox draw(0);
      encode->run(&row, draw);
      std::ofstream out(folder / fmt::format("{:03}.jpg", i), std::ios::binary);
      out.write(static_cast<const char*>(row[0].tensor().raw()),
                static_cast<std::streamsize>(row[0].tensor().bytes()));
    }
  }
  ~Pictures() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  std::string path() const { return root_.string(); }

 private:
  fs::path root_;
};

DatasetPtr pipeline(const std::string& folder) {
  DatasetPtr rows = open_source("ImageFolderDataset", {{"dataset_dir", folder}});
  rows = cache(map(rows, {make_transform("vision.Decode")}, {"image"}));
  rows = shuffle(rows, 2, 7);
  rows = map(rows,
             {make_transform("vision.RandomResizedCrop", {{"size", Option::List{16, 12}}}),
              make_transform("vision.RandomHorizontalFlip"), make_transform("vision.HWC2CHW")},
             {"image"});
  return batch(rows, 8);
}

std::vector<uint8_t> bytes_of(const DatasetPtr& d, int workers) {
  Reader reader(d, {}, {.workers = workers, .epochs = 3});
  std::vector<uint8_t> out;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (Row row; reader.next(&row);) {
      const auto pixels = row[0].tensor().data<uint8_t>();
      out.insert(out.end(), pixels.begin(), pixels.end());
    }
  }
  return out;
}

TEST(PipelineThreads, ReadersShareAPipelineThatIsWatched) {
  const Pictures pictures;
  const std::vector<uint8_t> want = bytes_of(pipeline(pictures.path()), 0);
  ASSERT_EQ(want.size(), 3u * 40 * 3 * 16 * 12);
  const DatasetPtr shared = pipeline(pictures.path());
  std::atomic<bool> done = false;
  std::thread watcher([&] {
    while (!done) EXPECT_FALSE(describe(*shared).empty());
  });
  std::vector<std::thread> readers;
  std::vector<std::vector<uint8_t>> got(3);
  for (size_t i = 0; i < got.size(); ++i)
    readers.emplace_back([&, i] { got[i] = bytes_of(shared, static_cast<int>(i) + 1); });
  for (std::thread& t : readers) t.join();
  done = true;
  watcher.join();
  for (const auto& rows : got) EXPECT_EQ(rows, want);
}

TEST(PipelineThreads, SourcesAreOpenedAtOnce) {
  const Pictures pictures;
  std::atomic<int64_t> reports = 0;
  on_index_progress([&](const std::string&, int64_t, int64_t) { ++reports; });
  std::vector<std::thread> all;
  std::atomic<int64_t> rows = 0;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([&] {
      rows += open_source("ImageFolderDataset", {{"dataset_dir", pictures.path()}})->size();
    });
  }
  for (std::thread& t : all) t.join();
  on_index_progress({});
  EXPECT_EQ(rows.load(), 160);
}

TEST(PipelineThreads, ReadersAreLeftInTheMiddle) {
  const Pictures pictures;
  const DatasetPtr shared = pipeline(pictures.path());
  for (int i = 0; i < 10; ++i) {
    Reader reader(shared, {static_cast<uint64_t>(i), i % 3}, {.workers = 3});
    Row row;
    for (int n = 0; n <= i; ++n) reader.next(&row);
    EXPECT_GE(reader.stats().rows, 0);
  }
}

}  // namespace
}  // namespace mycel::data
