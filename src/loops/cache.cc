#include "loops/cache.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "kernel_code.h"

namespace mycel::loops::cache {
namespace {

namespace fs = std::filesystem;

// A hash of the sources that give a structure its meaning and make the code.
constexpr char kVersion[] = MYCEL_KERNEL_CODE;
constexpr char kExtension[] = ".kernel";

struct Header {
  char magic[8] = {'m', 'y', 'c', 'e', 'l', 'k', '0', '1'};
  uint64_t bytes = 0;
  uint64_t checksum = 0;
};

std::string path_of(const std::string& dir, const Key& key) {
  return dir + "/" + key.str() + kExtension;
}

struct File {
  fs::path path;
  int64_t bytes;
  fs::file_time_type used;
};

std::vector<File> files() {
  std::vector<File> found;
  const std::string dir = directory();
  if (dir.empty()) return found;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // another process may remove files meanwhile
    if (it->path().extension() != kExtension) continue;
    File f{it->path(), static_cast<int64_t>(it->file_size(gone)), {}};
    if (!gone) f.used = it->last_write_time(gone);
    if (!gone) found.push_back(std::move(f));
  }
  return found;
}

bool write_all(int fd, const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(fd, data, bytes);
    if (n <= 0) return false;
    data += n;
    bytes -= n;
  }
  return true;
}

// Counts what this process has written, so that the directory is listed only now and then.
std::atomic<int64_t> g_unlisted{-1};

void keep_bounded(int64_t written) {
  const int64_t limit = limit_bytes();
  const int64_t before = g_unlisted.load();
  if (before >= 0 && before + written < limit / 16) {
    g_unlisted += written;
    return;
  }
  g_unlisted = 0;
  if (size_bytes() > limit) trim(limit - limit / 4);
}

}  // namespace

std::string Key::str() const { return fmt::format("{:016x}{:016x}", high, low); }

Key key_of(const std::string& structure, const std::string& machine) {
  std::string all = std::string(kVersion) + '\0' + machine + '\0' + structure;
  const XXH128_hash_t h = XXH3_128bits(all.data(), all.size());
  return {h.high64, h.low64};
}

std::string directory() {
  const char* own = std::getenv("MYCEL_CACHE");
  if (own && *own) return std::string_view(own) == "off" ? std::string() : std::string(own);
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg && *xdg) return std::string(xdg) + "/mycel";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/mycel" : std::string();
}

int64_t limit_bytes() {
  constexpr int64_t kDefaultMb = 256;
  const char* text = std::getenv("MYCEL_CACHE_LIMIT_MB");
  const double mb = text && *text ? std::atof(text) : kDefaultMb;
  return static_cast<int64_t>(std::max(mb, 0.0) * (1 << 20));
}

bool read(const Key& key, std::string* object) {
  const std::string dir = directory();
  if (dir.empty()) return false;
  const int fd = ::open(path_of(dir, key).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  Header header;
  const Header expected;
  struct stat status;
  bool good = ::fstat(fd, &status) == 0 &&
              ::read(fd, &header, sizeof header) == ssize_t(sizeof header) &&
              std::memcmp(header.magic, expected.magic, sizeof header.magic) == 0 &&
              static_cast<uint64_t>(status.st_size) == sizeof header + header.bytes;
  if (good) {
    object->resize(header.bytes);
    good = ::read(fd, object->data(), header.bytes) == static_cast<ssize_t>(header.bytes) &&
           XXH3_64bits(object->data(), object->size()) == header.checksum;
  }
  if (good) ::futimens(fd, nullptr);  // used now
  ::close(fd);
  return good;
}

void write(const Key& key, const std::string& object) {
  const std::string dir = directory();
  if (dir.empty()) return;
  std::error_code error;
  fs::create_directories(dir, error);
  static std::atomic<uint64_t> count{0};
  const std::string path = path_of(dir, key);
  const std::string aside = fmt::format("{}.{}.{}", path, ::getpid(), count++);
  const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return;
  Header header;
  header.bytes = object.size();
  header.checksum = XXH3_64bits(object.data(), object.size());
  const bool good = write_all(fd, reinterpret_cast<const char*>(&header), sizeof header) &&
                    write_all(fd, object.data(), object.size());
  ::close(fd);
  if (!good || ::rename(aside.c_str(), path.c_str()) != 0) {
    ::unlink(aside.c_str());
    return;
  }
  keep_bounded(static_cast<int64_t>(sizeof header + object.size()));
}

int64_t size_bytes() {
  int64_t total = 0;
  for (const File& f : files()) total += f.bytes;
  return total;
}

void trim(int64_t bytes) {
  std::vector<File> all = files();
  std::sort(all.begin(), all.end(), [](const File& a, const File& b) { return a.used > b.used; });
  int64_t total = 0;
  for (const File& f : all) {
    total += f.bytes;
    std::error_code gone;
    if (total > bytes) fs::remove(f.path, gone);
  }
}

void clear() { trim(-1); }

}  // namespace mycel::loops::cache
