#include "base/file_io.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"

namespace mycel {
namespace {

namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
  std::ostringstream s;
  s << std::ifstream(path, std::ios::binary).rdbuf();
  return s.str();
}

// A folder of its own and a target "old" in it; the injected operations go when the test ends.
class FileIo : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "mycel_file_io_XXXXXX";
    folder_ = mkdtemp(name.data());
    target_ = folder_ + "/old";
    std::ofstream(target_) << "old";
  }
  void TearDown() override {
    set_file_ops_for_test(nullptr);
    fs::remove_all(folder_);
  }
  void inject() { set_file_ops_for_test(&ops_); }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  // Replaces the target by "new content"; the error's text, or "".
  std::string replace() {
    try {
      AtomicFile file(target_);
      file.write("new ", 4);
      file.write("content", 7);
      file.commit();
      return "";
    } catch (const UserError& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kOs);
      return e.what();
    }
  }
  void expect_untouched() {
    EXPECT_EQ(content_of(target_), "old");
    EXPECT_EQ(files(), 1u) << "a temporary was left behind";
  }

  std::string folder_, target_;
  FileOps ops_ = system_file_ops();
};

TEST_F(FileIo, ReplacesTheTarget) {
  EXPECT_EQ(replace(), "");
  EXPECT_EQ(content_of(target_), "new content");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileIo, AbandonedWriteLeavesTheOldFile) {
  {
    AtomicFile file(target_);
    file.write("half", 4);
    EXPECT_EQ(files(), 2u);
  }
  expect_untouched();
}

TEST_F(FileIo, FullDisk) {
  int calls = 0;
  ops_.write = [&](int fd, const void* data, size_t n) -> ssize_t {
    if (++calls == 1) return ::write(fd, data, n);
    errno = ENOSPC;
    return -1;
  };
  inject();
  EXPECT_EQ(replace(), "cannot write '" + target_ + "': No space left on device");
  expect_untouched();
}

TEST_F(FileIo, WriteThatMakesNoProgress) {
  ops_.write = [](int, const void*, size_t) -> ssize_t { return 0; };
  inject();
  EXPECT_NE(replace(), "");
  expect_untouched();
}

TEST_F(FileIo, FailedSync) {
  ops_.fsync = [](int) { return errno = EIO, -1; };
  inject();
  EXPECT_EQ(replace(), "cannot sync '" + target_ + "': Input/output error");
  expect_untouched();
}

TEST_F(FileIo, FailedRename) {
  ops_.rename = [](const char*, const char*) { return errno = EACCES, -1; };
  inject();
  EXPECT_EQ(replace(), "cannot replace '" + target_ + "': Permission denied");
  expect_untouched();
}

TEST_F(FileIo, FailedFolderSyncSaysThatTheFileIsThere) {
  int syncs = 0;
  ops_.fsync = [&](int fd) { return ++syncs == 1 ? ::fsync(fd) : (errno = EIO, -1); };
  inject();
  EXPECT_NE(replace().find("is written, but its folder cannot be synced"), std::string::npos);
  EXPECT_EQ(content_of(target_), "new content");
  syncs = 0;
  ops_.fsync = [&](int fd) { return ++syncs == 1 ? ::fsync(fd) : (errno = EINVAL, -1); };
  EXPECT_EQ(replace(), "");  // a file system that does not sync folders
}

TEST_F(FileIo, ShortWritesAndSignals) {
  int calls = 0;
  ops_.write = [&](int fd, const void* data, size_t n) -> ssize_t {
    if (++calls % 2 == 0) return errno = EINTR, -1;
    return ::write(fd, data, std::min<size_t>(n, 1));
  };
  int syncs = 0, opens = 0;
  ops_.fsync = [&](int fd) { return ++syncs % 2 == 1 ? (errno = EINTR, -1) : ::fsync(fd); };
  ops_.open = [&](const char* path, int flags, mode_t mode) {
    return ++opens % 2 == 1 ? (errno = EINTR, -1) : ::open(path, flags, mode);
  };
  inject();
  EXPECT_EQ(replace(), "");
  EXPECT_EQ(content_of(target_), "new content");
  EXPECT_GE(calls, 2 * 11 - 1);
}

// Order matters: data synced before the rename, the folder after it.
TEST_F(FileIo, OrderOfTheSteps) {
  std::string steps;
  const FileOps system = system_file_ops();
  ops_.write = [&](int fd, const void* d, size_t n) {
    return steps += 'w', system.write(fd, d, n);
  };
  ops_.fsync = [&](int fd) { return steps += 's', system.fsync(fd); };
  ops_.rename = [&](const char* a, const char* b) { return steps += 'r', system.rename(a, b); };
  inject();
  EXPECT_EQ(replace(), "");
  EXPECT_EQ(steps, "wwsrs");
}

TEST_F(FileIo, LeftoversOfTheDeadAreRemovedOthersNot) {
  std::ofstream(folder_ + "/.old.writing-1-0") << "dead";
  const std::string alive = folder_ + "/.old.writing-2-0";
  const std::string other = folder_ + "/.older.writing-3-0";
  std::ofstream(other) << "of another target";
  const int fd = ::open(alive.c_str(), O_CREAT | O_WRONLY, 0666);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  EXPECT_EQ(replace(), "");
  EXPECT_FALSE(fs::exists(folder_ + "/.old.writing-1-0"));
  EXPECT_TRUE(fs::exists(alive));
  EXPECT_TRUE(fs::exists(other));
  ::close(fd);
}

TEST_F(FileIo, LinksAreFollowed) {
  fs::create_symlink("old", folder_ + "/link");
  AtomicFile file(folder_ + "/link");
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link"));
  EXPECT_EQ(content_of(target_), "new");
}

TEST_F(FileIo, ImpossibleTargets) {
  EXPECT_THROW(AtomicFile(folder_ + "/missing/file"), UserError);
  EXPECT_THROW(AtomicFile{folder_}, UserError);
  EXPECT_THROW(AtomicFile(folder_ + "/"), UserError);
  EXPECT_THROW(AtomicFile(""), UserError);
  expect_untouched();
}

TEST_F(FileIo, ReadingSurvivesShortReadsAndSignals) {
  int calls = 0;
  ops_.pread = [&](int fd, void* out, size_t n, off_t at) -> ssize_t {
    if (++calls % 2 == 0) return errno = EINTR, -1;
    return ::pread(fd, out, std::min<size_t>(n, 1), at);
  };
  inject();
  char text[3];
  const InputFile file(target_);
  EXPECT_EQ(file.size(), 3u);
  file.read_at(0, text, 3);
  EXPECT_EQ(std::string(text, 3), "old");
}

TEST_F(FileIo, ReadingErrorsNameTheFile) {
  const auto error_of = [](const std::string& path) -> std::string {
    try {
      InputFile file(path);
      char bytes[9];
      fs::resize_file(path, 1);
      file.read_at(0, bytes, 3);
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(folder_ + "/none"),
            "cannot read '" + folder_ + "/none': No such file or directory");
  EXPECT_EQ(error_of(folder_), "cannot read '" + folder_ + "': it is not a regular file");
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0666), 0);
  EXPECT_EQ(error_of(folder_ + "/pipe"),
            "cannot read '" + folder_ + "/pipe': it is not a regular file");
  EXPECT_EQ(error_of(target_),
            "cannot read '" + target_ + "': it ends at byte 1 although it had 3 bytes");
}

}  // namespace
}  // namespace mycel
