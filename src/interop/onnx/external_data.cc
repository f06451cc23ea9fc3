#include "interop/onnx/external_data.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace mycel::interop::onnx {
namespace {

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(Descriptor&& o) noexcept : fd(o.fd) { o.fd = -1; }
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(fd, o.fd);
    return *this;
  }
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

int64_t number(const std::string& text, const char* key, const std::string& owner) {
  int64_t v = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || v < 0)
    value_error("{}: '{}' of its external data is '{}'; allowed: a number from 0", owner, key,
                text);
  return v;
}

std::vector<std::string> parts_of(const std::string& path, const std::string& owner) {
  auto refuse = [&](const char* why) {
    std::string shown = path;
    for (size_t zero; (zero = shown.find('\0')) != std::string::npos;)
      shown.replace(zero, 1, "\\0");
    value_error("{}: external data in '{}': {}; allowed: a file beneath the model's folder", owner,
                shown, why);
  };
  if (path.empty()) refuse("the path is empty");
  if (path.find('\0') != std::string::npos) refuse("the path holds a zero byte");
  if (path.front() == '/') refuse("the path is absolute");
  if (path.find('\\') != std::string::npos) refuse("the path holds a backslash");
  std::vector<std::string> parts;
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string part = path.substr(at, end - at);
    if (part == "..") refuse("the path leaves its folder");
    if (!part.empty() && part != ".") parts.push_back(part);
    at = end + 1;
  }
  if (parts.empty()) refuse("the path names a folder");
  return parts;
}

// Opened step by step, so that nothing on the way can be a link, also when it is exchanged
// meanwhile.
Descriptor open_beneath(const std::string& folder, const std::string& path,
                        const std::string& owner) {
  std::vector<std::string> parts = parts_of(path, owner);
  auto refuse = [&](const std::string& part) {
    const char* why = errno == ELOOP || errno == ENOTDIR ? "a link or no folder on the way"
                                                         : std::strerror(errno);
    throw UserError(ErrorKind::kOs,
                    fmt::format("{}: external data in '{}': '{}': {}", owner, path, part, why));
  };
  Descriptor at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.fd < 0) refuse(folder);
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    Descriptor next(
        ::openat(at.fd, parts[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (next.fd < 0) refuse(parts[i]);
    at = std::move(next);
  }
  // Without O_NONBLOCK the open of a pipe would wait for a writer.
  Descriptor file(
      ::openat(at.fd, parts.back().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.fd < 0) refuse(parts.back());
  return file;
}

}  // namespace

MappedRange open_external(const pb::Tensor& t, const std::string& folder,
                          const std::string& owner) {
  std::string path;
  int64_t offset = 0, length = -1;
  for (const pb::Entry& e : t.external_data()) {
    if (e.key() == "location") path = e.value();
    if (e.key() == "offset") offset = number(e.value(), "offset", owner);
    if (e.key() == "length") length = number(e.value(), "length", owner);
  }
  if (folder.empty())
    value_error("{}: it lies in '{}', but a model given as bytes has no folder", owner, path);
  Descriptor file = open_beneath(folder, path, owner);
  struct stat info{};
  if (::fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode))
    value_error("{}: external data in '{}': no regular file", owner, path);
  if (info.st_nlink != 1)
    value_error("{}: external data in '{}': the file has {} hard links; allowed: 1", owner, path,
                info.st_nlink);
  int64_t size = info.st_size;
  if (length < 0) length = std::max<int64_t>(size - offset, 0);
  if (offset > size || length > size - offset)
    value_error("{}: external data in '{}': bytes [{}, {} + {}) of a file of {}", owner, path,
                offset, offset, length, size);
  if (length == 0) return {};
  void* base = ::mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (base == MAP_FAILED)
    throw UserError(ErrorKind::kOs, fmt::format("{}: external data in '{}': {}", owner, path,
                                                std::strerror(errno)));
  auto unmap = [size](const void* p) { ::munmap(const_cast<void*>(p), static_cast<size_t>(size)); };
  return {{static_cast<const char*>(base) + offset, static_cast<size_t>(length)},
          std::shared_ptr<const void>(base, unmap)};
}

}  // namespace mycel::interop::onnx
