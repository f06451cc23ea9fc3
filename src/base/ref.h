// Intrusive reference counting: one word per object, no control block, cheap to copy. Used for
// tensors, storages and traces, which are created on every eager op.
#pragma once

#include <atomic>
#include <utility>

namespace mycel {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  virtual ~RefCounted() = default;

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    // The only holder needs no atomic subtraction: nobody else can reach the count any more.
    if (unique() || count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // True when this is the only reference: the holder may then reuse the object in place.
  bool unique() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  template <typename T>
  friend class Ref;
  mutable std::atomic<int> count_{0};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  explicit Ref(T* p) : p_(p) {
    if (p_) p_->retain();
  }
  // For an object that was made just now and that no other Ref holds: saves the atomic addition.
  static Ref adopt(T* fresh) {
    fresh->count_.store(1, std::memory_order_relaxed);
    Ref r;
    r.p_ = fresh;
    return r;
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  Ref(const Ref<U>& o) : Ref(o.get()) {}  // NOLINT(google-explicit-constructor)
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->release();
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Ref&) const = default;

 private:
  T* p_ = nullptr;
};

template <typename T, typename... A>
Ref<T> make_ref(A&&... a) {
  return Ref<T>::adopt(new T(std::forward<A>(a)...));
}

}  // namespace mycel
