// Reading maps at points that tensors hold: linear interpolation between the corners around a
// point, by gathering rows of channels. Made of ordinary ops, so that values and points both have
// derivatives, and dims may be unknown.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace mycel::ops {

// The size of an axis as a number of this dtype: a constant where it is known.
ir::Value axis_size(ir::Value x, int axis, DType dtype);

struct Field {
  // [n, sizes…, c], channels last. `indexed`: points name their map; otherwise the points of map b
  // are [b, …].
  Field(ir::Value maps, bool indexed);

  ir::Value rows;                // [n sizes…, c], or [n, sizes…, c] with the sizes as one
  std::vector<ir::Value> sizes;  // int64
  bool indexed;

  // Rows at whole positions, one int64 tensor a dim (they broadcast), 0 outside: [points…, c].
  ir::Value at(const std::vector<ir::Value>& index, ir::Value map = {}) const;
  // The same between the corners of the cell around each point.
  ir::Value linear(const std::vector<ir::Value>& position, ir::Value map = {}) const;
};

}  // namespace mycel::ops
