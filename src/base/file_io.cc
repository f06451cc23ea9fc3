#include "base/file_io.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"

namespace mycel {
namespace {

namespace fs = std::filesystem;

// Linux moves at most 2 GiB a call; smaller pieces keep a signal's wait short.
constexpr size_t kPiece = size_t{64} << 20;

std::atomic<const FileOps*> g_ops{nullptr};

const FileOps& ops() {
  if (const FileOps* injected = g_ops.load(std::memory_order_acquire)) return *injected;
  static const FileOps* const system = new FileOps(system_file_ops());
  return *system;
}

// Repeats a call that a signal interrupted.
template <typename F>
auto uninterrupted(F call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::string reason(int error) { return std::generic_category().message(error); }

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string temporary_prefix(const std::string& target) {
  return "." + fs::path(target).filename().string() + ".writing-";
}

// Removes temporaries of `target` whose writer is gone: a living writer holds a lock on its own.
void remove_leftovers(const std::string& target) {
  const std::string prefix = temporary_prefix(target);
  std::error_code ignored;  // an unreadable folder only means that nothing is tidied
  for (fs::directory_iterator it(folder_of(target), ignored), end; it != end;
       it.increment(ignored)) {
    if (ignored) return;
    if (!it->path().filename().string().starts_with(prefix)) continue;
    const std::string path = it->path().string();
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) ops().unlink(path.c_str());
    ::close(fd);
  }
}

}  // namespace

FileOps system_file_ops() {
  FileOps o;
  o.open = [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); };
  o.pread = [](int fd, void* out, size_t n, off_t at) { return ::pread(fd, out, n, at); };
  o.write = [](int fd, const void* data, size_t n) { return ::write(fd, data, n); };
  o.fsync = [](int fd) { return ::fsync(fd); };
  o.close = [](int fd) { return ::close(fd); };
  o.fstat = [](int fd, struct stat* out) { return ::fstat(fd, out); };
  o.rename = [](const char* from, const char* to) { return ::rename(from, to); };
  o.unlink = [](const char* path) { return ::unlink(path); };
  return o;
}

void set_file_ops_for_test(const FileOps* ops) { g_ops.store(ops, std::memory_order_release); }

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(path) {
  std::error_code error;
  if (fs::is_symlink(target_, error)) {
    const fs::path resolved = fs::weakly_canonical(target_, error);
    if (!error) target_ = resolved.string();
  }
  if (fs::is_directory(target_, error)) fail_because("write", EISDIR);
  if (fs::path(target_).filename().empty()) fail_because("write", EISDIR);
  remove_leftovers(target_);
  try {
    open_temporary();
  } catch (...) {
    discard();
    throw;
  }
}

void AtomicFile::open_temporary() {
  static std::atomic<unsigned> counter{0};
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    temporary_ = fmt::format("{}/{}{}-{}", folder_of(target_), temporary_prefix(target_), getpid(),
                             counter.fetch_add(1));
    fd_ = uninterrupted([&] {
      return ops().open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    });
    if (fd_ < 0) {
      const int error = errno;
      temporary_.clear();
      if (error == EEXIST) continue;  // a leftover of a process with our number
      fail_because("write", error);
    }
    // Between open and lock another writer may have taken ours for a leftover: then make a new one.
    // A file system without locks (ENOLCK, EOPNOTSUPP) only loses the protection against that.
    uninterrupted([&] { return flock(fd_, LOCK_EX); });
    struct stat info{};
    if (ops().fstat(fd_, &info) != 0) fail_because("write", errno);
    if (info.st_nlink > 0) return;
    discard();
  }
  fail_because("write", EEXIST);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (!temporary_.empty()) ops().unlink(temporary_.c_str());
  temporary_.clear();
  if (fd_ >= 0) ops().close(fd_);
  fd_ = -1;
}

void AtomicFile::fail_because(const char* step, int error) const {
  fail(ErrorKind::kOs, "cannot {} '{}': {}", step, path_, reason(error));
}

void AtomicFile::write(const void* data, size_t bytes) {
  MYCEL_CHECK(fd_ >= 0, "write to '{}' after commit", path_);
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n =
        uninterrupted([&] { return ops().write(fd_, from, std::min(bytes, kPiece)); });
    if (n < 0) fail_because("write", errno);
    if (n == 0) fail_because("write", EIO);  // no progress and no reason: do not try for ever
    from += n;
    bytes -= static_cast<size_t>(n);
  }
}

void AtomicFile::commit() {
  MYCEL_CHECK(fd_ >= 0, "second commit of '{}'", path_);
  if (uninterrupted([&] { return ops().fsync(fd_); }) != 0) fail_because("sync", errno);
  if (ops().rename(temporary_.c_str(), target_.c_str()) != 0) fail_because("replace", errno);
  temporary_.clear();
  ops().close(fd_);  // after the rename: closing gives up the lock; the data is already synced
  fd_ = -1;
  const int folder = uninterrupted([&] {
    return ops().open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  });
  const int synced = folder < 0 ? -1 : uninterrupted([&] { return ops().fsync(folder); });
  const int error = errno;
  if (folder >= 0) ops().close(folder);
  // Some file systems do not sync folders at all and say so with these.
  if (synced == 0 || error == EINVAL || error == EOPNOTSUPP) return;
  fail(ErrorKind::kOs,
       "'{}' is written, but its folder cannot be synced ({}): a power failure may bring back the "
       "old file",
       path_, reason(error));
}

InputFile::InputFile(const std::string& path) : path_(path) {
  // Not blocking, for the sake of a named pipe, which is refused below.
  fd_ =
      uninterrupted([&] { return ops().open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0); });
  if (fd_ < 0) fail(ErrorKind::kOs, "cannot read '{}': {}", path_, reason(errno));
  struct stat info{};
  const bool known = ops().fstat(fd_, &info) == 0;
  if (known && S_ISREG(info.st_mode)) {
    size_ = static_cast<uint64_t>(info.st_size);
    return;
  }
  const int error = errno;
  ops().close(fd_);
  fail(ErrorKind::kOs, "cannot read '{}': {}", path_,
       known ? "it is not a regular file" : reason(error));
}

InputFile::~InputFile() { ops().close(fd_); }

void InputFile::read_at(uint64_t offset, void* out, size_t bytes) const {
  char* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t n = uninterrupted(
        [&] { return ops().pread(fd_, to, std::min(bytes, kPiece), static_cast<off_t>(offset)); });
    if (n < 0) fail(ErrorKind::kOs, "cannot read '{}': {}", path_, reason(errno));
    if (n == 0) {
      fail(ErrorKind::kOs, "cannot read '{}': it ends at byte {} although it had {} bytes", path_,
           offset, size_);
    }
    to += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
}

}  // namespace mycel
