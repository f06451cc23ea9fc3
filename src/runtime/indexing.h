// NumPy indexing, x[…] and x[…] = v: positions, slices, new axes, an ellipsis, masks and tensors of
// positions, mixed as NumPy mixes them. Made of ops, so that it is differentiated, recorded and
// compiled like the rest.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::runtime {

struct Index {
  enum class Kind : uint8_t { kAt, kSlice, kNewAxis, kEllipsis, kTensor };
  // Stand for the ends that a slice leaves open.
  static constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();

  static Index at(int64_t position) { return {.kind = Kind::kAt, .begin = position}; }
  // begin:end:step; for a negative step the open ends are kHigh and kLow.
  static Index slice(int64_t begin = 0, int64_t end = kHigh, int64_t step = 1) {
    return {Kind::kSlice, begin, end, step, {}};
  }
  static Index new_axis() { return {.kind = Kind::kNewAxis}; }
  static Index ellipsis() { return {.kind = Kind::kEllipsis}; }
  // Positions (integers) or a mask (bool; its values must be known).
  static Index tensor(Tensor t) { return {.kind = Kind::kTensor, .values = std::move(t)}; }

  Kind kind = Kind::kSlice;
  int64_t begin = 0, end = kHigh, step = 1;
  Tensor values;
};

// x[index…]. IndexError for positions out of range, too many indices or a mask of another shape.
Tensor get_item(const Tensor& x, std::span<const Index> index);
// A tensor like x after x[index…] = value; value is broadcast and cast as NumPy does. Where places
// repeat, the last value stays.
Tensor set_item(const Tensor& x, std::span<const Index> index, const Tensor& value);

}  // namespace mycel::runtime
