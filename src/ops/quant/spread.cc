#include "ops/quant/spread.h"

#include <algorithm>
#include <bit>

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
  if (!e.has(i)) {
    return e.scalar(DType::kInt32, static_cast<double>(e.attrs.integer("zero")));
  }
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

void quantized_type(ir::TypeRuleCtx& c) {
  DType to = c.attrs.dtype("dtype");
  if (!holds_quantized(to)) {
    c.fail_type("the result cannot be {}; allowed are int8, uint8, int16, uint16 and int32",
                name_of(to));
  }
  ir::types::broadcast(c);
  c.out[0].dtype = to;
}

loops::Val saturated(loops::Val x, IntRange range, DType to) {
  if (to == DType::kInt32) return cast(x, to);  // saturates; float32 has no 2^31 - 1
  x = max(x, static_cast<double>(range.low));
  return cast(min(x, static_cast<double>(range.high)), to);
}

namespace {
constexpr double kRoundFloat = 0x1.8p23;
constexpr int64_t kRoundFloatBits = std::bit_cast<int32_t>(0x1.8p23f);
}  // namespace

// Added to a number below 2^22, it leaves the number rounded to even in the last bits: conversions
// that saturate would keep a loop scalar.
loops::Val rounded_into(loops::Val x, int64_t zero, IntRange range, DType to) {
  if (to == DType::kInt32) {
    x = rint(x);
    return saturated(zero ? x + static_cast<double>(zero) : x, range, to);
  }
  x = max(x, static_cast<double>(range.low - zero));
  x = min(x, static_cast<double>(range.high - zero));
  if (x.dtype() == DType::kFloat32) {
    auto bits = bitcast(x + kRoundFloat, DType::kInt32);
    return cast(bits + (zero - kRoundFloatBits), to);
  }
  auto bits = bitcast(x + 0x1.8p52, DType::kInt64);
  return cast(bits + (zero - std::bit_cast<int64_t>(0x1.8p52)), to);
}

}  // namespace mycel::ops
