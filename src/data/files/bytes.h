// A file as sources see it, wherever it lies: on disk, inside a tar (a span of the archive), or
// inside a zip (unpacked into memory). Read by position, from many threads at once. Errors are
// OsErrors naming the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tensor/tensor.h"

namespace mycel::data {

class Bytes {
 public:
  virtual ~Bytes() = default;
  // As the user may find it: "data.tar/train/1.jpg".
  virtual const std::string& name() const = 0;
  virtual uint64_t size() const = 0;
  // Exactly `n` bytes from `offset`; an error when there are fewer.
  virtual void read_at(uint64_t offset, void* out, size_t n) const = 0;
  // All of it, or `n` bytes from `offset`, as uint8 [n].
  Tensor tensor() const { return tensor(0, size()); }
  Tensor tensor(uint64_t offset, uint64_t n) const;
  std::string text() const { return text(0, size()); }
  std::string text(uint64_t offset, uint64_t n) const;
};
using BytesPtr = std::shared_ptr<const Bytes>;

// A file on disk. At most 64 of all these hold a handle at a time: the one that was used longest
// ago gives it back, and opens its file again when it is read. A file that was replaced meanwhile
// is an error.
BytesPtr disk_bytes(const std::string& path);
// `size` bytes of another file from `offset`.
BytesPtr span_of(BytesPtr whole, std::string name, uint64_t offset, uint64_t size);
BytesPtr memory_bytes(std::string name, std::string content);

// How many handles disk_bytes holds now, for tests.
size_t open_handles();

// Reads from begin to end through a buffer.
class Scanner {
 public:
  explicit Scanner(BytesPtr file, uint64_t from = 0);
  uint64_t at() const { return at_; }
  bool done() const { return at_ == size_; }
  // Up to `n` bytes; fewer only at the end. Valid until the next call.
  std::string_view peek(size_t n);
  void skip(uint64_t n) { at_ = n < size_ - at_ ? at_ + n : size_; }
  // A line without its "\n"; false at the end of the file.
  bool line(std::string* out);

 private:
  BytesPtr file_;
  uint64_t at_, size_;
  std::string buffer_;
  uint64_t buffer_at_ = 0;
};

}  // namespace mycel::data
