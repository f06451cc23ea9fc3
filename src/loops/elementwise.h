// The canonical nest of a scalar formula over whole tensors: inputs broadcast to one output shape.
// Adjacent dims that every operand walks alike are collapsed, so that most calls become one flat
// loop; what remains is a parallel loop over outer dims with a vector loop over the innermost.
// Extents and outer strides are run-time numbers: shapes with the same broadcast pattern share one
// kernel.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "loops/nest.h"
#include "tensor/shape.h"

namespace mycel::loops {

using ElementFormula = std::function<void(std::span<const Val> in, std::span<Val> out)>;

// Operands are contiguous, inputs of their own shape (which must broadcast to `out_shape`), outputs
// of `out_shape`. `out[k]` is cast to the k-th output dtype if it differs. An output may be exactly
// the memory of an input that has the output's shape (all inputs are read before an element is
// written).
Nest elementwise(std::string name, std::span<const DType> in, std::span<const Shape> in_shapes,
                 std::span<const DType> out, const Shape& out_shape, const ElementFormula& formula);

// The collapsed walk, for other builders: dims (outermost first) and per operand strides, both
// without dims of extent 1. An empty shape gives no dims.
struct Walk {
  std::vector<int64_t> extent;
  std::vector<std::vector<int64_t>> stride;  // [input][dim], in elements; 0 = broadcast
};
Walk collapse(std::span<const Shape> in_shapes, const Shape& out_shape);

}  // namespace mycel::loops
