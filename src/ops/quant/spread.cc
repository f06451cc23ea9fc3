#include "ops/quant/spread.h"

#include <algorithm>

#include "base/error.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Value;

Value spread(const ir::Expansion& e, Value v, const char* what, int rank, int64_t axis) {
  const Shape& s = v.shape();
  if (s.rank() == 0 || (s.rank() == rank && rank != 1)) return v;
  if (s.rank() == 1 && s[0] == 1) return kReshape({v}, {ir::Attr::Ints{}});
  if (s.rank() != 1) {
    fail(ErrorKind::kValue,
         "{}: the {} has shape {}; allowed are one number, one for each index of the axis, or {} "
         "dims that broadcast",
         e.op.name, what, s.str(), rank);
  }
  ir::Attr::Ints shape(static_cast<size_t>(std::max(rank, 1)), 1);
  shape[static_cast<size_t>(normalize_axis(axis, rank, e.op.name.c_str()))] = s[0];
  if (s[0] == kUnknownDim) std::replace(shape.begin(), shape.end(), kUnknownDim, int64_t{-1});
  return kReshape({v}, {shape});
}

Value zero_point_of(ir::Expansion& e, int i, int rank, int64_t axis) {
  if (!e.has(i)) return e.scalar(DType::kInt32, 0);
  return spread(e, e.x(i), "zero point", rank, axis);
}

bool holds_quantized(DType d) { return is_int(d) && size_of(d) <= 4 && d != DType::kUInt32; }

IntRange range_of(DType d) {
  switch (d) {
    case DType::kInt8:
      return {-128, 127};
    case DType::kUInt8:
      return {0, 255};
    case DType::kInt16:
      return {-32768, 32767};
    case DType::kUInt16:
      return {0, 65535};
    default:
      return {-(int64_t{1} << 31), (int64_t{1} << 31) - 1};
  }
}

IntRange range_of(DType d, const ir::Attr& low, const ir::Attr& high) {
  IntRange r = range_of(d);
  if (!low.none()) r.low = std::max(r.low, low.integer());
  if (!high.none()) r.high = std::min(r.high, high.integer());
  return r;
}

void quantized_type(ir::TypeRuleCtx& c, int zero) {
  const ir::Attr& asked = c.attrs["dtype"];
  DType to = asked.none() ? c.dtype(zero) : asked.dtype();
  if (!holds_quantized(to)) {
    c.fail_type("the result cannot be {}; allowed are int8, uint8, int16, uint16 and int32",
                name_of(to));
  }
  ir::types::broadcast(c);
  c.out[0].dtype = to;
}

loops::Val rounded_into(loops::Val x, loops::Val zero, IntRange range, DType to) {
  loops::Val y = rint(x) + cast(zero, x.dtype());
  if (to == DType::kInt32) return cast(y, to);  // saturates; float32 has no 2^31 - 1
  y = max(y, static_cast<double>(range.low));
  return cast(min(y, static_cast<double>(range.high)), to);
}

}  // namespace mycel::ops
