#include "tensor/storage.h"

#include <utility>

#include "base/timeline.h"
#include "tensor/allocator.h"

namespace mycel {

Ref<Storage> Storage::allocate(size_t bytes) {
  Ref<Storage> s = Ref<Storage>::adopt(new Storage);
  s->data_ = take_block(bytes, &s->capacity_);
  s->bytes_ = bytes;
  account_bytes(static_cast<int64_t>(bytes));
  if (timeline::on(timeline::kMemory)) timeline::note_memory(s->data_, static_cast<int64_t>(bytes));
  return s;
}

Ref<Storage> Storage::wrap(void* data, size_t bytes, std::function<void()> release) {
  Ref<Storage> s = Ref<Storage>::adopt(new Storage);
  s->data_ = data;
  s->bytes_ = bytes;
  // `foreign` asks for the function; memory that nobody needs to release gets an empty one.
  s->release_ = release ? std::move(release) : std::function<void()>([] {});
  return s;
}

Storage::~Storage() {
  if (release_) {
    release_();
  } else if (data_) {
    account_bytes(-static_cast<int64_t>(bytes_));
    if (timeline::on(timeline::kMemory))
      timeline::note_memory(data_, -static_cast<int64_t>(bytes_));
    give_block(data_, capacity_);
  }
}

}  // namespace mycel
