#include "ops/image/sample.h"

#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Value;
using Ints = ir::Attr::Ints;

Value axis_size(Value x, int axis, DType dtype) {
  int64_t n = x.shape()[axis];
  if (n != kUnknownDim) return filled(x.graph(), static_cast<double>(n), {}, dtype);
  return cast_to(kReshape({sliced(kShapeOf({x}), 0, axis, 1)}, {Ints{}}), dtype);
}

Field::Field(Value maps, bool by_index) : indexed(by_index) {
  int last = maps.rank() - 1;
  for (int d = 1; d < last; ++d) sizes.push_back(axis_size(maps, d, DType::kInt64));
  rows = kCollapseDims({maps}, {indexed ? 0 : 1, last - 1});
}

Value Field::at(const std::vector<Value>& index, Value map) const {
  Value place = map, inside;
  for (size_t d = 0; d < sizes.size(); ++d) {
    Value in =
        kLogicalAnd({kGreaterEqual({index[d], number(index[d], 0)}), kLess({index[d], sizes[d]})});
    inside = inside ? kLogicalAnd({inside, in}) : in;
    place = place ? place * sizes[d] + index[d] : index[d];
  }
  place = where(inside, place, -1.0);  // -1 reads 0
  return kGather({rows, place}, {indexed ? 0 : 1, indexed ? 0 : 1, "skip_negative"});
}

Value Field::linear(const std::vector<Value>& position, Value map) const {
  size_t dims = sizes.size();
  std::vector<Value> low, rest;
  for (const Value& p : position) {
    Value base = kFloor({p});
    low.push_back(cast_to(base, DType::kInt64));
    rest.push_back(p - base);
  }
  Value sum;
  for (size_t corner = 0; corner < size_t{1} << dims; ++corner) {
    std::vector<Value> index = low;
    Value weight;
    for (size_t d = 0; d < dims; ++d) {
      bool next = corner >> d & 1;
      if (next) index[d] = low[d] + 1.0;
      Value w = next ? rest[d] : 1.0 - rest[d];
      weight = weight ? weight * w : w;
    }
    Value part = at(index, map) * kExpandDims({weight}, {-1});
    sum = sum ? sum + part : part;
  }
  return sum;
}

}  // namespace mycel::ops
