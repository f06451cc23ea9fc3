// Kernel tables of the index room's files, and the address arithmetic that gather_d and its inverse
// share.
#pragma once

#include "ops/shape/moves.h"
#include "tensor/shape.h"

namespace mycel::ops {

void register_gather_kernels();
void register_scatter_kernels();
void register_order_kernels();
void register_dynamic_kernels();
void register_sequence_kernels();

// Where an element of `index` reads or writes in `x`: the same position, except along `axis`, where
// the index decides. The index may be shorter than x in the other dims.
struct ElementPlaces {
  ElementPlaces(const Shape& x, const Shape& index, int axis)
      : shape(index), axis(axis), strides(row_strides(x)) {
    inner = index[-1];
    rows = index.size(0, index.rank() - 1);
    last_is_axis = axis == index.rank() - 1;
  }

  int64_t row_offset(int64_t row) const {
    int64_t offset = 0;
    for (int d = shape.rank() - 2; d >= 0; --d) {
      int64_t i = row % shape[d];
      row /= shape[d];
      if (d != axis) offset += i * strides[d];
    }
    return offset;
  }
  int64_t element(int64_t row_base, int64_t i, int64_t index) const {
    return row_base + index * strides[axis] + (last_is_axis ? 0 : i);
  }

  Shape shape;
  int axis;
  Strides strides;
  int64_t inner, rows;
  bool last_is_axis;
};

}  // namespace mycel::ops
