// A file mapped into memory: opened without reading it, its pages shared with other processes until
// written (writes stay private). A file that is replaced (AtomicFile) stays whole for those who
// have mapped it; one that is truncated in place does not: its lost pages end the process that
// touches them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/ref.h"

namespace mycel {

class MappedFile final : public RefCounted {
 public:
  // UserError kOs naming the file and the reason.
  static Ref<MappedFile> open(const std::string& path);
  ~MappedFile() override;

  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mycel
