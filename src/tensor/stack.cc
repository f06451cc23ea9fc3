#include "tensor/stack.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "tensor/allocator.h"
#include "tensor/element.h"

namespace mycel {
namespace {

size_t lane_count(const Shape& element, int lane_dims) {
  size_t n = 1;
  for (int d = 0; d < lane_dims; ++d) n *= static_cast<size_t>(element[d]);
  return n;
}

}  // namespace

Stack::Stack(DType dtype, const Shape& element)
    : dtype_(dtype), element_(element), packed_(element.known()), lanes_(1) {
  if (packed_) row_ = static_cast<size_t>(element.size()) * size_of(dtype);
}

void Stack::split_lanes(int dims) {
  if (dims <= lane_dims_) return;
  MYCEL_CHECK(packed_ && dims <= element_.rank(), "a stack of {} in {} lane dims", element_.str(),
              dims);
  size_t count = lane_count(element_, dims);
  size_t parts = lanes_.empty() ? 0 : count / lanes_.size();  // of each lane so far
  std::vector<Lane> before(count);
  before.swap(lanes_);
  size_t wide = row_;
  row_ = parts ? wide / parts : 0;
  lane_dims_ = dims;
  for (size_t i = 0; i < before.size(); ++i) {
    size_t rows = wide ? before[i].used / wide : 0;
    for (size_t p = 0; rows && p < parts; ++p) {
      Lane& l = lanes_[i * parts + p];
      grow(l, rows * row_);
      for (size_t r = 0; r < rows; ++r) {
        std::memcpy(l.data + r * row_, before[i].data + r * wide + p * row_, row_);
      }
      l.used = rows * row_;
    }
    drop(before[i]);
  }
}

// How many lanes one byte of the mask stands for.
size_t Stack::lanes_per_mask(int mask_dims) {
  split_lanes(mask_dims);
  return mask_dims < lane_dims_
             ? lanes_.size() / std::max<size_t>(1, lane_count(element_, mask_dims))
             : 1;
}

void Stack::drop(Lane& l) {
  if (!l.data) return;
  account_bytes(-static_cast<int64_t>(l.capacity));
  give_block(l.data, l.capacity);
  l = {};
}

Stack::Stack(const Stack& o)
    : dtype_(o.dtype_),
      element_(o.element_),
      lane_dims_(o.lane_dims_),
      packed_(o.packed_),
      row_(o.row_),
      lanes_(o.lanes_.size()),
      tensors_(o.tensors_) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (o.lanes_[i].used == 0) continue;
    grow(lanes_[i], o.lanes_[i].used);
    std::memcpy(lanes_[i].data, o.lanes_[i].data, o.lanes_[i].used);
    lanes_[i].used = o.lanes_[i].used;
  }
}

Stack::~Stack() {
  for (Lane& l : lanes_) drop(l);
}

void Stack::grow(Lane& l, size_t bytes) {
  size_t capacity = 0;
  auto* data = static_cast<char*>(take_block(std::max(bytes, 2 * l.capacity), &capacity));
  account_bytes(static_cast<int64_t>(capacity));
  size_t used = l.used;
  if (l.data) std::memcpy(data, l.data, used);
  drop(l);
  l.used = used;
  l.data = data;
  l.capacity = capacity;
}

void Stack::reserve(int64_t elements) {
  if (!packed_ || elements <= 0) return;
  for (Lane& l : lanes_) {
    size_t bytes = static_cast<size_t>(elements) * row_;
    if (bytes > l.capacity) grow(l, bytes);
  }
}

int64_t Stack::depth() const {
  if (!packed_) return static_cast<int64_t>(tensors_.size());
  size_t used = 0;
  for (const Lane& l : lanes_) used = std::max(used, l.used);
  return row_ ? static_cast<int64_t>(used / row_) : 0;
}

void Stack::push_lanes(const void* element, const uint8_t* mask, int mask_dims) {
  const size_t each = lanes_per_mask(mask_dims);
  const char* from = static_cast<const char*>(element);
  for (size_t i = 0; i < lanes_.size(); ++i, from += row_) {
    if (mask && !mask[i / each]) continue;
    Lane& l = lanes_[i];
    if (l.used + row_ > l.capacity) grow(l, l.used + row_);
    std::memcpy(l.data + l.used, from, row_);
    l.used += row_;
  }
}

void Stack::pop_lanes(void* element, const uint8_t* mask, int mask_dims) {
  const size_t each = lanes_per_mask(mask_dims);
  char* to = static_cast<char*>(element);
  for (size_t i = 0; i < lanes_.size(); ++i, to += row_) {
    Lane& l = lanes_[i];
    if ((mask && !mask[i / each]) || l.used < row_) {
      std::memset(to, 0, row_);
      continue;
    }
    l.used -= row_;
    std::memcpy(to, l.data + l.used, row_);
  }
}

Tensor Stack::pop_tensor(const Tensor& like) {
  if (!tensors_.empty()) {
    Tensor t = std::move(tensors_.back());
    tensors_.pop_back();
    return t;
  }
  MYCEL_CHECK(like, "an empty stack of {} is popped", element_.str());
  return Tensor::zeros(dtype_, like.shape());
}

void Stack::add(const Stack& other) {
  Stack o(other);
  split_lanes(o.lane_dims_);
  o.split_lanes(lane_dims_);
  MYCEL_CHECK(packed_ && o.packed_ && row_ == o.row_ && lanes_.size() == o.lanes_.size(),
              "stacks of different elements are added");
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& l = lanes_[i];
    const Lane& b = o.lanes_[i];
    if (b.used > l.used) {  // zeros below the bottom
      size_t missing = b.used - l.used;
      if (b.used > l.capacity) grow(l, b.used);
      std::memmove(l.data + missing, l.data, l.used);
      std::memset(l.data, 0, missing);
      l.used = b.used;
    }
    char* to = l.data + (l.used - b.used);
    with_element(dtype_, [&](auto e) {
      using E = decltype(e);
      using S = typename E::Stored;
      auto* x = reinterpret_cast<S*>(to);
      const auto* y = reinterpret_cast<const S*>(b.data);
      for (size_t k = 0; k < b.used / sizeof(S); ++k) {
        x[k] = E::store(static_cast<typename E::Number>(E::load(x[k]) + E::load(y[k])));
      }
    });
  }
}

Tensor Stack::rows(int64_t count, bool first_on_top) const {
  if (!packed_) return tensor_rows(count, first_on_top);
  int64_t have = depth();
  if (count < 0) count = have;
  Shape s{count};
  for (int64_t d : element_) s.push_back(d);
  Tensor out = Tensor::zeros(dtype_, s);
  if (out.bytes() == 0) return out;
  char* to = static_cast<char*>(out.mutable_raw());
  size_t step = row_ * lanes_.size();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& l = lanes_[i];
    auto n = std::min<int64_t>(count, static_cast<int64_t>(l.used / std::max<size_t>(row_, 1)));
    const char* top = l.data + l.used;
    for (int64_t k = 0; k < n; ++k) {  // from the top downwards
      int64_t row = first_on_top ? k : count - 1 - k;
      std::memcpy(to + static_cast<size_t>(row) * step + i * row_,
                  top - static_cast<size_t>(k + 1) * row_, row_);
    }
  }
  return out;
}

Tensor Stack::tensor_rows(int64_t count, bool first_on_top) const {
  auto have = static_cast<int64_t>(tensors_.size());
  if (count < 0) count = have;
  if (count > have || have == 0) {
    value_error("{} rows are asked of a stack of {} tensors of unknown shape", count, have);
  }
  const Tensor& top = tensors_.back();
  Shape s{count};
  for (int64_t d : top.shape()) s.push_back(d);
  Tensor out = Tensor::empty(dtype_, s);
  for (int64_t k = 0; k < count; ++k) {
    const Tensor& t = tensors_[static_cast<size_t>(have - 1 - k)];
    if (!(t.shape() == top.shape())) {
      value_error("the rows of a result differ in shape: {} and {}", top.shape().str(),
                  t.shape().str());
    }
    int64_t row = first_on_top ? k : count - 1 - k;
    if (t.bytes() == 0) continue;
    std::memcpy(static_cast<char*>(out.mutable_raw()) + static_cast<size_t>(row) * t.bytes(),
                t.raw(), t.bytes());
  }
  return out;
}

Tensor stack_tensor(std::unique_ptr<Stack> stack) {
  Stack* s = stack.release();
  auto impl = make_ref<TensorImpl>();
  impl->dtype = s->dtype();
  impl->shape = s->element();
  impl->stack = true;
  impl->storage = Storage::wrap(s, 0, [s] { delete s; });
  impl->data = s;
  return Tensor(std::move(impl));
}

const Stack& stack_of(const Tensor& t) {
  MYCEL_CHECK(t && t.is_stack() && t.concrete(), "{} is no stack", t.describe());
  return *static_cast<const Stack*>(t.impl()->data);
}

Stack& owned_stack(Tensor& t) {
  const Stack& s = stack_of(t);
  if (!t.impl()->unique() || !t.impl()->storage->unique()) {
    t = stack_tensor(std::make_unique<Stack>(s));
  }
  return *static_cast<Stack*>(t.impl()->data);
}

}  // namespace mycel
