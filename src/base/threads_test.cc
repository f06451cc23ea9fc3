#include "base/threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace mycel {
namespace {

class Threads : public ::testing::Test {
 protected:
  int before_ = thread_count();
  ~Threads() override { set_thread_count(before_); }
};

TEST_F(Threads, EveryIndexOnceInGrains) {
  for (int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    for (int64_t n : {0, 1, 5, 64, 1000, 1001}) {
      std::vector<std::atomic<int>> seen(n);
      parallel_for(n, 16, [&](int64_t begin, int64_t end) {
        EXPECT_EQ(begin % 16, 0);
        EXPECT_TRUE(end == n || end % 16 == 0);
        for (int64_t i = begin; i < end; ++i) ++seen[i];
      });
      for (auto& s : seen) EXPECT_EQ(s, 1);
    }
  }
}

TEST_F(Threads, NestedRunsSerially) {
  set_thread_count(4);
  std::atomic<int> outer{0}, inner{0};
  parallel_for(4, 1, [&](int64_t begin, int64_t end) {
    outer += static_cast<int>(end - begin);
    EXPECT_TRUE(in_parallel());
    int calls = 0;  // plain: a serial inner loop needs no atomic
    parallel_for(100, 1, [&](int64_t, int64_t) { ++calls; });
    EXPECT_EQ(calls, 1);
    inner += calls;
  });
  EXPECT_EQ(outer, 4);
  EXPECT_GE(inner, 1);
  EXPECT_FALSE(in_parallel());
}

TEST_F(Threads, ExceptionsReachTheCaller) {
  for (int threads : {1, 4}) {
    set_thread_count(threads);
    EXPECT_THROW(parallel_for(100, 1,
                              [](int64_t begin, int64_t) {
                                if (begin == 0) throw std::runtime_error("body");
                              }),
                 std::runtime_error);
    EXPECT_FALSE(in_parallel());
  }
}

int64_t threads_of_this_process() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
}

// As if other programs held the cores for a while.
TEST_F(Threads, LongWaitsBringACrowdAndChangeNoResult) {
  set_thread_count(2);
  int64_t before = threads_of_this_process();  // fewer, where those of earlier tests still end
  for (int i = 0; i < 10; ++i) waited_for_threads(50'000'000);
  int64_t now = before;
  for (int i = 0; i < 200 && now < before + 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    now = threads_of_this_process();
    before = std::min(before, now);
  }
  EXPECT_GE(now, before + 2);
  std::vector<int> seen(1000);
  parallel_for(1000, 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++seen[i];
  });
  EXPECT_EQ(seen, std::vector<int>(1000, 1));
}

TEST_F(Threads, CountIsChecked) {
  set_thread_count(3);
  EXPECT_EQ(thread_count(), 3);
  EXPECT_THROW(set_thread_count(0), UserError);
}

}  // namespace
}  // namespace mycel
