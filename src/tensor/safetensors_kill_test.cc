// Kills a process with SIGKILL while it saves, again and again: the file must always be one of the
// two contents that it writes in turn.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "tensor/safetensors.h"

namespace mycel {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kElements = 100'000;
constexpr const char* kPathVariable = "MYCEL_TEST_KILL_PATH";

Checkpoint content(float value) {
  Checkpoint c;
  c.tensors.emplace_back("w", Tensor::full(DType::kFloat32, {kElements}, value));
  c.tensors.emplace_back("step", Tensor::scalar(DType::kInt64, static_cast<int64_t>(value)));
  return c;
}

// Run in the child only, which the test below starts with this suite as its filter.
TEST(SafetensorsKillChild, DISABLED_SaveForEver) {
  const char* path = getenv(kPathVariable);
  ASSERT_TRUE(path);
  const Checkpoint one = content(1), two = content(2);
  for (;;) {
    save_safetensors(path, one);
    save_safetensors(path, two);
  }
}

pid_t start_child(const std::string& path) {
  const pid_t child = fork();
  if (child != 0) return child;
  setenv(kPathVariable, path.c_str(), 1);
  // Its own output would mix with ours.
  if (!freopen("/dev/null", "w", stdout)) _exit(126);
  execl("/proc/self/exe", "mycel_tests", "--gtest_also_run_disabled_tests",
        "--gtest_filter=SafetensorsKillChild.*", static_cast<char*>(nullptr));
  _exit(127);
}

TEST(CiSafetensorsKill, TheFileIsAlwaysWhole) {
  std::string folder = testing::TempDir() + "mycel_kill_XXXXXX";
  ASSERT_TRUE(mkdtemp(folder.data()));
  const std::string path = folder + "/x.safetensors";
  save_safetensors(path, content(1));
  Philox draw(1);
  int seen[3] = {}, interrupted = 0;
  for (int round = 0; round < 100; ++round) {
    const auto before = fs::last_write_time(path);
    const pid_t child = start_child(path);
    ASSERT_GT(child, 0);
    // Loading may take a while on a busy machine: wait for its first save, then for a random
    // instant.
    for (int i = 0; i < 5000 && fs::last_write_time(path) == before; ++i) usleep(1000);
    usleep(static_cast<useconds_t>(draw.below(8000)));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
    const Checkpoint c = load_safetensors(path);
    ASSERT_EQ(c.tensors.size(), 2u);
    const int64_t step = c.tensors[1].second.item_int();
    ASSERT_TRUE(step == 1 || step == 2);
    for (float v : c.tensors[0].second.data<float>()) ASSERT_EQ(v, static_cast<float>(step));
    ++seen[step];
    const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
    ASSERT_LE(files, 2) << "leftovers pile up";
    interrupted += files == 2;
  }
  EXPECT_GT(seen[1], 0);
  EXPECT_GT(seen[2], 0);
  EXPECT_GT(interrupted, 10) << "too few kills hit a save in progress";
  save_safetensors(path, content(1));  // tidies what the last child left
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace mycel
