#include "data/files/bytes.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <utility>

#include <sys/stat.h>

#include "base/error.h"
#include "base/file_io.h"

namespace mycel::data {
namespace {

constexpr size_t kMostHandles = 64;
constexpr size_t kPiece = 1 << 18;

[[noreturn]] void too_short(const std::string& name, uint64_t offset, uint64_t n, uint64_t size) {
  fail(ErrorKind::kOs, "'{}' is truncated: {} bytes are wanted at byte {}, it has {}", name, n,
       offset, size);
}

void check_range(const Bytes& b, uint64_t offset, uint64_t n) {
  if (offset > b.size() || n > b.size() - offset) too_short(b.name(), offset, n, b.size());
}

using Handle = std::shared_ptr<const InputFile>;
class DiskBytes;

// The handles that are kept, those of the last use first.
struct Kept {
  std::mutex mutex;
  std::list<const DiskBytes*> order;
};
Kept& kept() {
  static Kept* all = new Kept;  // outlives every file of a static object
  return *all;
}

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  int64_t seconds = 0, nanoseconds = 0;
  bool operator==(const Identity&) const = default;
};

class DiskBytes final : public Bytes {
 public:
  explicit DiskBytes(const std::string& path) : path_(path) {
    const Handle file = std::make_shared<const InputFile>(path);
    size_ = file->size();
    identity_ = identify();
    std::lock_guard lock(kept().mutex);
    keep(file);
  }
  ~DiskBytes() override {
    std::lock_guard lock(kept().mutex);
    if (handle_) kept().order.erase(place_);
  }
  const std::string& name() const override { return path_; }
  uint64_t size() const override { return size_; }
  void read_at(uint64_t offset, void* out, size_t n) const override {
    check_range(*this, offset, n);
    handle()->read_at(offset, out, n);
  }

 private:
  Handle handle() const {
    {
      std::lock_guard lock(kept().mutex);
      if (handle_) {
        auto& order = kept().order;
        order.splice(order.begin(), order, place_);
        return handle_;
      }
    }
    Handle file = std::make_shared<const InputFile>(path_);
    if (file->size() != size_ || identify() != identity_)
      fail(ErrorKind::kOs, "'{}' has changed since the dataset was opened", path_);
    std::lock_guard lock(kept().mutex);
    if (!handle_) keep(file);
    return file;
  }
  // With the lock held.
  void keep(Handle file) const {
    auto& order = kept().order;
    if (order.size() >= kMostHandles) {
      order.back()->handle_.reset();
      order.pop_back();
    }
    order.push_front(this);
    place_ = order.begin();
    handle_ = std::move(file);
  }
  Identity identify() const {
    struct stat s{};
    if (::stat(path_.c_str(), &s) != 0) return {};
    return {s.st_dev, s.st_ino, s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
  }

  std::string path_;
  uint64_t size_ = 0;
  Identity identity_;
  mutable Handle handle_;  // set while this is in kept().order
  mutable std::list<const DiskBytes*>::iterator place_;
};

class SpanBytes final : public Bytes {
 public:
  SpanBytes(BytesPtr whole, std::string name, uint64_t offset, uint64_t size)
      : whole_(std::move(whole)), name_(std::move(name)), offset_(offset), size_(size) {
    check_range(*whole_, offset_, size_);
  }
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_; }
  void read_at(uint64_t offset, void* out, size_t n) const override {
    check_range(*this, offset, n);
    whole_->read_at(offset_ + offset, out, n);
  }

 private:
  BytesPtr whole_;
  std::string name_;
  uint64_t offset_, size_;
};

class MemoryBytes final : public Bytes {
 public:
  MemoryBytes(std::string name, std::string content)
      : name_(std::move(name)), content_(std::move(content)) {}
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return content_.size(); }
  void read_at(uint64_t offset, void* out, size_t n) const override {
    check_range(*this, offset, n);
    if (n > 0) std::memcpy(out, content_.data() + offset, n);
  }

 private:
  std::string name_, content_;
};

}  // namespace

Tensor Bytes::tensor(uint64_t offset, uint64_t n) const {
  check_range(*this, offset, n);  // before the memory is taken
  Tensor t = Tensor::empty(DType::kUInt8, {static_cast<int64_t>(n)});
  if (n > 0) read_at(offset, t.mutable_raw(), n);
  return t;
}

std::string Bytes::text(uint64_t offset, uint64_t n) const {
  check_range(*this, offset, n);
  std::string s(n, '\0');
  if (n > 0) read_at(offset, s.data(), n);
  return s;
}

BytesPtr disk_bytes(const std::string& path) { return std::make_shared<DiskBytes>(path); }
BytesPtr span_of(BytesPtr whole, std::string name, uint64_t offset, uint64_t size) {
  return std::make_shared<SpanBytes>(std::move(whole), std::move(name), offset, size);
}
BytesPtr memory_bytes(std::string name, std::string content) {
  return std::make_shared<MemoryBytes>(std::move(name), std::move(content));
}

size_t open_handles() {
  std::lock_guard lock(kept().mutex);
  return kept().order.size();
}

Scanner::Scanner(BytesPtr file, uint64_t from)
    : file_(std::move(file)), at_(from), size_(file_->size()) {
  if (at_ > size_) too_short(file_->name(), at_, 0, size_);
}

std::string_view Scanner::peek(size_t n) {
  n = std::min<uint64_t>(n, size_ - at_);
  if (at_ < buffer_at_ || at_ + n > buffer_at_ + buffer_.size()) {
    buffer_.resize(std::min<uint64_t>(std::max(n, kPiece), size_ - at_));
    file_->read_at(at_, buffer_.data(), buffer_.size());
    buffer_at_ = at_;
  }
  return std::string_view(buffer_).substr(at_ - buffer_at_, n);
}

bool Scanner::line(std::string* out) {
  out->clear();
  if (done()) return false;
  while (!done()) {
    // What is buffered already, or the next piece.
    const uint64_t buffered = at_ >= buffer_at_ && at_ < buffer_at_ + buffer_.size()
                                  ? buffer_at_ + buffer_.size() - at_
                                  : kPiece;
    const std::string_view some = peek(buffered);
    const size_t end = some.find('\n');
    out->append(some.substr(0, end));
    if (end != some.npos) {
      at_ += end + 1;
      break;
    }
    at_ += some.size();
  }
  return true;
}

}  // namespace mycel::data
