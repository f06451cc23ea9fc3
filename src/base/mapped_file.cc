#include "base/mapped_file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace mycel {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  fail(ErrorKind::kOs, "cannot read '{}': {}", path, reason);
}

std::string reason(int error) { return std::generic_category().message(error); }

// Closes on every way out; a mapping outlives its descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Ref<MappedFile> MappedFile::open(const std::string& path) {
  // Not blocking, for the sake of a named pipe, which is refused below.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) refuse(path, reason(errno));
  struct stat info{};
  if (::fstat(file.fd, &info) != 0) refuse(path, reason(errno));
  if (!S_ISREG(info.st_mode)) refuse(path, "it is not a regular file");
  auto mapped = Ref<MappedFile>::adopt(new MappedFile);
  mapped->size_ = static_cast<size_t>(info.st_size);
  if (mapped->size_ == 0) return mapped;
  // Private and writable: who writes to a tensor of the file gets a page of his own.
  void* data = ::mmap(nullptr, mapped->size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) {
    mapped->size_ = 0;
    refuse(path, reason(errno));
  }
  mapped->data_ = static_cast<std::byte*>(data);
  return mapped;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, size_);
}

}  // namespace mycel
