// The Arrow C data interface (https://arrow.apache.org/docs/format/CDataInterface.html): structs of
// C through which libraries hand columns to each other in place. Whoever holds one releases it.
#pragma once

#include <cstdint>
#include <utility>

// Names and fields are those of the specification; the guard is shared with other libraries.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
#endif

namespace mycel::data {

// Takes what `from` points to, which is marked as moved away; released with this.
template <typename T>
class Arrowed {
 public:
  Arrowed() = default;
  explicit Arrowed(T* from) : held_(*from) { from->release = nullptr; }
  Arrowed(Arrowed&& other) noexcept : held_(std::exchange(other.held_, T{})) {}
  Arrowed& operator=(Arrowed&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Arrowed() {
    if (held_.release) held_.release(&held_);
  }
  const T& operator*() const { return held_; }
  const T* operator->() const { return &held_; }

 private:
  T held_{};
};

}  // namespace mycel::data
