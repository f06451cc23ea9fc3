// Tensor: an immutable value over a shared buffer, always dense and row-major. Copying a Tensor
// copies a pointer. Three states: concrete (has storage); abstract (only dtype and shape, while
// compiling); traced (carries a Trace that records what is done with it, and the primal value
// underneath).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ref.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/storage.h"

namespace mycel {

// What a transform attaches to the tensors it watches; runtime/trace.h defines the real one.
class Trace : public RefCounted {};

class TensorImpl final : public RefCounted, public PooledObject {
 public:
  DType dtype;
  Shape shape;
  Ref<Storage> storage;  // null when abstract or traced
  void* data = nullptr;  // first element inside storage
  Ref<Trace> trace;      // null unless traced
  bool stack = false;    // a stack of tensors (tensor/stack.h); shape is that of one element
};

class Tensor {
 public:
  Tensor() = default;  // no tensor at all: `if (t)` is false
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  // Uninitialised memory from the caching allocator. MemoryError with the size asked when there is
  // none.
  static Tensor empty(DType dtype, const Shape& shape);
  static Tensor zeros(DType dtype, const Shape& shape);
  static Tensor full(DType dtype, const Shape& shape, double value);
  static Tensor abstract(DType dtype, const Shape& shape);
  static Tensor abstract_stack(DType dtype, const Shape& element);
  // A 0-d tensor.
  static Tensor scalar(DType dtype, double value);
  static Tensor scalar(DType dtype, int64_t value);
  // Copies `values` (T decides the dtype).
  template <typename T>
  static Tensor from(std::span<const T> values, const Shape& shape) {
    return copy_of(values.data(), dtype_of<T>(), shape, values.size());
  }
  template <typename T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }
  // Wraps foreign memory without copying; `release` runs when the last tensor over it goes.
  static Tensor wrap(void* data, DType dtype, const Shape& shape, std::function<void()> release);
  // A tensor of another shape or offset over the same storage (sizes checked).
  Tensor view(const Shape& shape, int64_t element_offset = 0) const;
  // The same bytes read as another dtype of equal size.
  Tensor bitcast(DType dtype) const;

  explicit operator bool() const { return static_cast<bool>(impl_); }
  DType dtype() const { return impl_->dtype; }
  const Shape& shape() const { return impl_->shape; }
  int rank() const { return impl_->shape.rank(); }
  int64_t dim(int d) const { return impl_->shape[d]; }
  int64_t size() const { return impl_->shape.size(); }
  size_t bytes() const { return static_cast<size_t>(size()) * size_of(dtype()); }
  bool concrete() const { return impl_->data != nullptr; }
  const Ref<Trace>& trace() const { return impl_->trace; }
  // A stack is no array: only the stack ops read it (tensor/stack.h).
  bool is_stack() const { return impl_->stack; }

  // Address of the first element. A traced or abstract tensor has none (MYCEL_CHECK): use
  // runtime::concrete(t) to look through traces.
  const void* raw() const;
  // For the code that has just made the tensor and not shared it yet, and for donated buffers.
  void* mutable_raw() const;
  template <typename T>
  std::span<const T> data() const {
    check_dtype(dtype_of<T>());
    return {static_cast<const T*>(raw()), static_cast<size_t>(size())};
  }
  template <typename T>
  std::span<T> mutable_data() const {
    check_dtype(dtype_of<T>());
    return {static_cast<T*>(mutable_raw()), static_cast<size_t>(size())};
  }
  // The only element as a number; ValueError when there are more.
  double item() const;
  int64_t item_int() const;

  // True when no other tensor shares the storage, so that a kernel may overwrite it. Never for
  // foreign memory: its owner still sees it.
  bool sole_owner() const;
  const Ref<TensorImpl>& impl() const { return impl_; }
  bool same(const Tensor& o) const { return impl_ == o.impl_; }

  // "float32(2, 3)": for messages.
  std::string describe() const;
  // The values, printed as NumPy prints them.
  std::string str() const;

 private:
  static Tensor copy_of(const void* values, DType dtype, const Shape& shape, size_t count);
  void check_dtype(DType want) const;
  Ref<TensorImpl> impl_;
};

using Tensors = std::vector<Tensor>;

}  // namespace mycel
