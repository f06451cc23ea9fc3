#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/memory_limit.h"

namespace mycel {
namespace {

// Bytes of a concrete tensor; MemoryError when they cannot be counted in 63 bits.
size_t bytes_of(DType dtype, const Shape& shape) {
  MYCEL_CHECK(shape.known(), "a concrete tensor of shape {}", shape.str());
  int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.size(), static_cast<int64_t>(size_of(dtype)), &bytes)) {
    const double asked = static_cast<double>(shape.size()) * static_cast<double>(size_of(dtype));
    fail(ErrorKind::kMemory, "out of memory: {}{} needs {}; the limit is {}", name_of(dtype),
         shape.str(), human_bytes(asked), human_bytes(static_cast<double>(memory_limit())));
  }
  return static_cast<size_t>(bytes);
}

Tensor over(Ref<Storage> storage, void* data, DType dtype, const Shape& shape) {
  Ref<TensorImpl> impl = make_ref<TensorImpl>();
  impl->dtype = dtype;
  impl->shape = shape;
  impl->storage = std::move(storage);
  impl->data = data;
  return Tensor(std::move(impl));
}

// Repeats the first element over the rest, doubling the copied part each time.
void repeat_first(void* data, size_t element, size_t bytes) {
  for (size_t done = element; done < bytes; done *= 2) {
    std::memcpy(static_cast<char*>(data) + done, data, std::min(done, bytes - done));
  }
}

}  // namespace

Tensor Tensor::empty(DType dtype, const Shape& shape) {
  const size_t bytes = bytes_of(dtype, shape);
  try {
    Ref<Storage> storage = Storage::allocate(bytes);
    void* data = storage->data();
    return over(std::move(storage), data, dtype, shape);
  } catch (UserError& e) {
    e.prefix(fmt::format("{}{}: ", name_of(dtype), shape.str()));
    throw;
  }
}

Tensor Tensor::zeros(DType dtype, const Shape& shape) {
  Tensor t = empty(dtype, shape);
  std::memset(t.mutable_raw(), 0, t.bytes());
  return t;
}

Tensor Tensor::full(DType dtype, const Shape& shape, double value) {
  Tensor t = empty(dtype, shape);
  if (t.bytes() == 0) return t;
  set_element(t.mutable_raw(), dtype, 0, value);
  repeat_first(t.mutable_raw(), size_of(dtype), t.bytes());
  return t;
}

Tensor Tensor::abstract(DType dtype, const Shape& shape) {
  return over(nullptr, nullptr, dtype, shape);
}

Tensor Tensor::abstract_stack(DType dtype, const Shape& element) {
  Tensor t = over(nullptr, nullptr, dtype, element);
  t.impl_->stack = true;
  return t;
}

Tensor Tensor::scalar(DType dtype, double value) {
  Tensor t = empty(dtype, {});
  set_element(t.mutable_raw(), dtype, 0, value);
  return t;
}

Tensor Tensor::scalar(DType dtype, int64_t value) {
  Tensor t = empty(dtype, {});
  set_element(t.mutable_raw(), dtype, 0, value);
  return t;
}

Tensor Tensor::copy_of(const void* values, DType dtype, const Shape& shape, size_t count) {
  if (static_cast<size_t>(shape.size()) != count) {
    value_error("{} values given for shape {}, which holds {}", count, shape.str(), shape.size());
  }
  Tensor t = empty(dtype, shape);
  if (count > 0) std::memcpy(t.mutable_raw(), values, t.bytes());
  return t;
}

Tensor Tensor::wrap(void* data, DType dtype, const Shape& shape, std::function<void()> release) {
  // An empty foreign tensor may have a null address, which would read as "not concrete".
  static std::byte nothing[kAlignment];
  const size_t bytes = bytes_of(dtype, shape);
  MYCEL_CHECK(data || bytes == 0, "null memory for {}{}", name_of(dtype), shape.str());
  if (!data) data = nothing;
  return over(Storage::wrap(data, bytes, std::move(release)), data, dtype, shape);
}

Tensor Tensor::view(const Shape& shape, int64_t element_offset) const {
  void* data = mutable_raw();
  int64_t end = 0;
  if (element_offset < 0 || __builtin_add_overflow(element_offset, shape.size(), &end) ||
      end > size()) {
    value_error("view of shape {} at element {} reaches outside {}", shape.str(), element_offset,
                describe());
  }
  data = static_cast<char*>(data) + element_offset * static_cast<int64_t>(size_of(dtype()));
  return over(impl_->storage, data, dtype(), shape);
}

Tensor Tensor::bitcast(DType dtype) const {
  if (size_of(dtype) != size_of(this->dtype())) {
    type_error("bitcast of {} to {}: elements have {} and {} bytes", describe(), name_of(dtype),
               size_of(this->dtype()), size_of(dtype));
  }
  return over(impl_->storage, mutable_raw(), dtype, shape());
}

const void* Tensor::raw() const { return mutable_raw(); }

void* Tensor::mutable_raw() const {
  MYCEL_CHECK(impl_, "values of no tensor");
  MYCEL_CHECK(impl_->data, "values of {}, which is {}", describe(),
              impl_->trace ? "traced" : "abstract");
  return impl_->data;
}

double Tensor::item() const {
  if (size() != 1) value_error("item: {} has {} elements; exactly 1 is needed", describe(), size());
  return element_as_double(raw(), dtype(), 0);
}

int64_t Tensor::item_int() const {
  if (size() != 1) value_error("item: {} has {} elements; exactly 1 is needed", describe(), size());
  return element_as_int(raw(), dtype(), 0);
}

bool Tensor::sole_owner() const {
  return impl_->unique() && impl_->storage && impl_->storage->unique() &&
         !impl_->storage->foreign();
}

std::string Tensor::describe() const {
  if (!impl_) return "no tensor";
  std::string text = std::string(name_of(dtype())) + shape().str();
  return is_stack() ? "stack<" + text + ">" : text;
}

void Tensor::check_dtype(DType want) const {
  if (dtype() != want) {
    type_error("{} read as {}: the element types differ", describe(), name_of(want));
  }
}

}  // namespace mycel
