// Files that are either wholly there or not at all: AtomicFile writes beside the target, syncs,
// then renames, so that a reader (or a crash at any instant) sees the old or the new content, never
// a part. All system calls go through a table that tests replace to make them fail.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

namespace mycel {

// Each behaves as the system call of its name.
struct FileOps {
  std::function<int(const char*, int, mode_t)> open;
  std::function<ssize_t(int, void*, size_t, off_t)> pread;
  std::function<ssize_t(int, const void*, size_t)> write;
  std::function<int(int)> fsync;
  std::function<int(int)> close;
  std::function<int(int, struct stat*)> fstat;
  std::function<int(const char*, const char*)> rename;
  std::function<int(const char*)> unlink;
};

FileOps system_file_ops();
// Every file operation from now on goes through `ops`, which the caller keeps alive; null goes back
// to the system. For tests, on one thread.
void set_file_ops_for_test(const FileOps* ops);

// One file being replaced. Everything throws UserError kOs naming the file and the reason.
class AtomicFile {
 public:
  // Makes a temporary in the folder of `path` (which is followed when it is a symbolic link), and
  // removes temporaries of the same target that killed processes left behind.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without commit: removes the temporary; the target is as it was.
  ~AtomicFile();

  void write(const void* data, size_t bytes);
  // Makes the content durable, then visible. When only the last step, syncing the folder, fails,
  // the new file is in place and the error says that a power failure may still undo it.
  void commit();

 private:
  [[noreturn]] void fail_because(const char* step, int error) const;
  void open_temporary();
  void discard() noexcept;

  std::string path_;       // as given, for messages
  std::string target_;     // links resolved
  std::string temporary_;  // empty when there is none
  int fd_ = -1;
};

// An open regular file, read by position.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  uint64_t size() const { return size_; }
  // Exactly `bytes` bytes from `offset`; an error when the file has become shorter since it was
  // opened.
  void read_at(uint64_t offset, void* out, size_t bytes) const;

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace mycel
