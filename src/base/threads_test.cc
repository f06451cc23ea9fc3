#include "base/threads.h"

#include <atomic>
#include <stdexcept>
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

TEST_F(Threads, CountIsChecked) {
  set_thread_count(3);
  EXPECT_EQ(thread_count(), 3);
  EXPECT_THROW(set_thread_count(0), UserError);
}

}  // namespace
}  // namespace mycel
