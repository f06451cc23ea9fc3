// SmallVector: a vector of trivially copyable elements whose first N lie in the object itself, so
// that the short lists of a graph's nodes take no allocation. The rest is std::vector's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace mycel {

template <typename T, uint32_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(alignof(T) <= alignof(std::max_align_t));

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() {}
  explicit SmallVector(size_t n, const T& value = T()) { resize(n, value); }
  SmallVector(std::initializer_list<T> list) { append(list.begin(), list.size()); }
  SmallVector(const std::vector<T>& v) { append(v.data(), v.size()); }  // NOLINT
  template <std::input_iterator It>
  SmallVector(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  SmallVector(const SmallVector& o) { append(o.data(), o.size_); }
  SmallVector(SmallVector&& o) noexcept { take(o); }
  SmallVector& operator=(const SmallVector& o) {
    if (this == &o) return *this;
    size_ = 0;
    append(o.data(), o.size_);
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this == &o) return *this;
    free();
    take(o);
    return *this;
  }
  ~SmallVector() { free(); }

  T* data() { return capacity_ > N ? heap_ : reinterpret_cast<T*>(inline_); }
  const T* data() const { return capacity_ > N ? heap_ : reinterpret_cast<const T*>(inline_); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void reserve(size_t n) {
    if (n <= capacity_) return;
    T* to = static_cast<T*>(::operator new(n * sizeof(T)));
    copy(to, data(), size_);
    free();
    heap_ = to;
    capacity_ = static_cast<uint32_t>(n);
  }
  void push_back(const T& value) {
    T kept = value;  // it may lie in here
    if (size_ == capacity_) reserve(2 * size_t{capacity_});
    new (data() + size_) T(kept);
    ++size_;
  }
  template <typename... A>
  T& emplace_back(A&&... a) {
    push_back(T(std::forward<A>(a)...));
    return back();
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(size_t n, const T& value = T()) {
    reserve(n);
    for (size_t i = size_; i < n; ++i) new (data() + i) T(value);
    size_ = static_cast<uint32_t>(n);
  }
  template <typename It>
  void assign(It first, It last) {
    *this = SmallVector(first, last);
  }
  template <typename It>
  void insert(const T* at, It first, It last) {
    SmallVector out(begin(), const_cast<T*>(at));
    for (; first != last; ++first) out.push_back(*first);
    out.append(at, static_cast<size_t>(end() - at));
    *this = std::move(out);
  }
  void insert(const T* at, const T& value) { insert(at, &value, &value + 1); }
  void erase(const T* at) {
    T* to = begin() + (at - begin());
    std::copy(to + 1, end(), to);
    --size_;
  }

  bool operator==(const SmallVector& o) const {
    return std::equal(begin(), end(), o.begin(), o.end());
  }

 private:
  static void copy(T* to, const T* from, size_t n) {
    if (n) std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), n * sizeof(T));
  }
  void append(const T* from, size_t n) {
    reserve(size_ + n);
    copy(data() + size_, from, n);
    size_ += static_cast<uint32_t>(n);
  }
  void take(SmallVector& o) {
    size_ = o.size_;
    capacity_ = o.capacity_;
    if (capacity_ > N) {
      heap_ = o.heap_;
    } else {
      copy(data(), o.data(), size_);
    }
    o.size_ = 0;
    o.capacity_ = N;
  }
  void free() {
    if (capacity_ > N) ::operator delete(heap_);
    capacity_ = N;
  }

  uint32_t size_ = 0, capacity_ = N;
  union {
    T* heap_;
    alignas(T) unsigned char inline_[N * sizeof(T)];
  };
};

}  // namespace mycel
