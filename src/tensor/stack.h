// Stack: the values that a loop leaves behind for its reverse. A Tensor that is a stack carries one
// of these; pushing onto a stack that nobody else holds appends in place, so that a loop of n
// iterations costs n elements and no copies. Elements of a known shape lie packed, one buffer per
// lane; elements whose shape varies are kept as tensors.
//
// Lanes: under vmap each example has a stack of its own, because examples may leave a loop at
// different iterations. The first dims of an element then number the lanes, and a mask says which
// of them take part in a push or pop. A stack below its bottom holds zeros: the gradient of a stack
// that nothing flowed into.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace mycel {

class Stack {
 public:
  Stack(DType dtype, const Shape& element);
  Stack(const Stack& o);
  Stack& operator=(const Stack&) = delete;
  ~Stack();

  DType dtype() const { return dtype_; }
  const Shape& element() const { return element_; }
  // The first dims of an element that number lanes. Splitting moves what is there.
  int lane_dims() const { return lane_dims_; }
  void split_lanes(int dims);
  bool packed() const { return packed_; }
  size_t element_bytes() const { return row_ * lanes_.size(); }
  // Elements in the fullest lane.
  int64_t depth() const;

  // Packed stacks. `mask`: one byte for each index of the first `mask_dims` dims; null: all.
  void push(const void* element, const uint8_t* mask = nullptr, int mask_dims = 0) {
    if (lanes_.size() == 1 && !mask) {
      Lane& l = lanes_[0];
      if (l.used + row_ > l.capacity) grow(l, l.used + row_);
      copy_row(l.data + l.used, element, row_);
      l.used += row_;
      return;
    }
    push_lanes(element, mask, mask_dims);
  }
  // Copies the top into `element` and removes it; lanes that the mask leaves out get zeros.
  void pop(void* element, const uint8_t* mask = nullptr, int mask_dims = 0) {
    if (lanes_.size() == 1 && !mask && lanes_[0].used >= row_) {
      lanes_[0].used -= row_;
      copy_row(element, lanes_[0].data + lanes_[0].used, row_);
      return;
    }
    pop_lanes(element, mask, mask_dims);
  }
  void reserve(int64_t elements);

  // Unpacked stacks: shapes vary. `like` gives the shape of a zero when the stack is empty.
  void push_tensor(const Tensor& t) { tensors_.push_back(t); }
  Tensor pop_tensor(const Tensor& like);

  // Element-wise sum, tops aligned.
  void add(const Stack& o);
  // The upper `count` elements (all when negative) as rows of [count, element…], the top first or
  // last; missing ones below the bottom are zeros.
  Tensor rows(int64_t count, bool first_on_top) const;

 private:
  struct Lane {
    char* data = nullptr;
    size_t used = 0, capacity = 0;
  };
  static void copy_row(void* to, const void* from, size_t bytes) {
    if (bytes == 8) {
      __builtin_memcpy(to, from, 8);
    } else if (bytes == 4) {
      __builtin_memcpy(to, from, 4);
    } else {
      __builtin_memcpy(to, from, bytes);
    }
  }
  Tensor tensor_rows(int64_t count, bool first_on_top) const;
  void grow(Lane& l, size_t bytes);
  static void drop(Lane& l);
  void push_lanes(const void* element, const uint8_t* mask, int mask_dims);
  void pop_lanes(void* element, const uint8_t* mask, int mask_dims);
  size_t lanes_per_mask(int mask_dims);

  DType dtype_;
  Shape element_;
  int lane_dims_ = 0;
  bool packed_ = true;
  size_t row_ = 0;  // bytes of an element in one lane
  std::vector<Lane> lanes_;
  Tensors tensors_;
};

// A tensor that is this stack.
Tensor stack_tensor(std::unique_ptr<Stack> stack);
const Stack& stack_of(const Tensor& t);
// The stack of `t` to be changed: itself when `t` is the only holder, else of a copy that replaces
// `t`.
Stack& owned_stack(Tensor& t);

}  // namespace mycel
