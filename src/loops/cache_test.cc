#include "loops/cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loops/jit.h"

namespace mycel::loops {
namespace {

namespace fs = std::filesystem;

class Cache : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / fmt::format("mycel_cache_{}", getpid());
    for (const char* name : {"MYCEL_CACHE", "MYCEL_CACHE_LIMIT_MB"}) {
      const char* old = std::getenv(name);
      before_.emplace_back(name, old ? std::string(old) : std::string());
      if (old == nullptr) before_.back().second = "\x01";
    }
    setenv("MYCEL_CACHE", dir_.c_str(), 1);
    clear_memory_cache();
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      value == "\x01" ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
    }
    fs::remove_all(dir_);
    clear_memory_cache();
  }

  // A kernel that multiplies by k: another structure for every k.
  static int64_t times(int64_t k, int64_t x) {
    Nest nest("times");
    Buf in = nest.input(DType::kInt64), out = nest.output(DType::kInt64);
    nest.parallel(1, 0, [&](Val i) { nest.store(out, i, nest.load(in, i) * k); });
    int64_t y = 0;
    void* buffers[] = {&x, &y};
    run(nest, buffers);
    return y;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::exists(dir_)) return found;
    for (const auto& entry : fs::directory_iterator(dir_)) found.push_back(entry.path());
    return found;
  }
  static int64_t compiled() { return jit_counts().compiled; }

  fs::path dir_;
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(Cache, SecondProcessLoads) {
  EXPECT_EQ(times(7, 6), 42);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_GT(cache::size_bytes(), 0);
  clear_memory_cache();  // as a new process would
  const auto before = jit_counts();
  EXPECT_EQ(times(7, 5), 35);
  EXPECT_EQ(jit_counts().compiled, before.compiled);
  EXPECT_EQ(jit_counts().from_disk, before.from_disk + 1);
  cache::clear();
  EXPECT_EQ(files().size(), 0u);
}

TEST_F(Cache, BrokenFilesAreRewritten) {
  EXPECT_EQ(times(7, 6), 42);
  const fs::path file = files().at(0);
  const auto size = fs::file_size(file);
  auto damage = [&](auto how) {
    how();
    clear_memory_cache();
    const int64_t before = compiled();
    EXPECT_EQ(times(7, 6), 42);
    EXPECT_EQ(compiled(), before + 1);
    EXPECT_EQ(fs::file_size(file), size);
  };
  damage([&] { fs::resize_file(file, size / 2); });
  damage([&] { fs::resize_file(file, 0); });
  damage([&] { std::ofstream(file, std::ios::app) << "more"; });
  damage([&] {
    std::fstream f(file, std::ios::in | std::ios::out);
    f.seekp(static_cast<std::streamoff>(size - 40));
    f.put('\x55').put('\xaa');
  });
}

TEST_F(Cache, OffAndUnwritable) {
  setenv("MYCEL_CACHE", "off", 1);
  EXPECT_EQ(cache::directory(), "");
  EXPECT_EQ(times(11, 2), 22);
  EXPECT_EQ(files().size(), 0u);
  std::ofstream(dir_.string() + ".file") << "in the way";
  setenv("MYCEL_CACHE", (dir_.string() + ".file/below").c_str(), 1);
  clear_memory_cache();
  EXPECT_EQ(times(11, 3), 33);
  fs::remove(dir_.string() + ".file");
}

TEST_F(Cache, LeastRecentlyUsedGo) {
  const std::string object(200000, 'x');
  setenv("MYCEL_CACHE_LIMIT_MB", "1", 1);
  const auto key = [](uint64_t k) { return cache::Key{k, k}; };
  for (uint64_t k = 0; k < 4; ++k) {
    cache::write(key(k), object);
    fs::last_write_time(dir_ / (key(k).str() + ".kernel"),
                        fs::file_time_type::clock::now() - std::chrono::hours(10 - k));
  }
  std::string read;
  EXPECT_TRUE(cache::read(key(0), &read));  // now the most recent
  for (uint64_t k = 4; k < 7; ++k) cache::write(key(k), object);
  EXPECT_LE(cache::size_bytes(), cache::limit_bytes());
  EXPECT_TRUE(cache::read(key(0), &read));
  EXPECT_EQ(read, object);
  EXPECT_FALSE(cache::read(key(1), &read));
}

TEST_F(Cache, ManyProcessesShareADirectory) {
  constexpr int kProcesses = 4, kKernels = 5;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      bool good = true;
      for (int64_t k = 0; k < kKernels; ++k) good &= times(100 + k, 3) == 3 * (100 + k);
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files().size(), static_cast<size_t>(kKernels));  // and nothing half-written is left
}

}  // namespace
}  // namespace mycel::loops
