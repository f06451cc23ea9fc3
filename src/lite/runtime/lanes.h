// The operations of loop nests on rows of values ("lanes"): what runs a nest where there is no
// compiler. A value is kept as one of four types: int32 (bool and integers to 16 bits too), int64
// (32-bit unsigned and wider), float and double. The same code is compiled for several instruction
// sets; `lanes()` gives the table of the widest that the processor has. All give the same bits: no
// products are fused.
#pragma once

#include <cstdint>

#include "loops/expr.h"

namespace mycel::lite {

using loops::Op;

enum class LaneType : uint8_t { kInt32, kInt64, kFloat, kDouble };
constexpr LaneType lane_type(DType t) {
  switch (t) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kComplex64:
      return LaneType::kFloat;
    case DType::kFloat64:
    case DType::kComplex128:
      return LaneType::kDouble;
    case DType::kInt64:
    case DType::kUInt32:
    case DType::kUInt64:
      return LaneType::kInt64;
    default:
      return LaneType::kInt32;
  }
}
constexpr int lane_bytes(DType t) {
  const LaneType l = lane_type(t);
  return l == LaneType::kInt32 || l == LaneType::kFloat ? 4 : 8;
}

struct Lanes {
  const char* name;
  // out[i] = op(a[i], b[i], c[i]); `type` of the result, `from` of the first operand. Comparisons
  // give int32, a selection's first operand is int32.
  void (*operation)(Op op, DType type, DType from, void* out, const void* a, const void* b,
                    const void* c, int n);
  // out[i] = p[i * step], converted from memory; and back. Elements of `stored`.
  void (*load)(DType stored, void* out, const void* p, int64_t step, int n);
  void (*store)(DType stored, void* p, int64_t step, const void* in, int n);
  // All lanes combined by an associative op, in a fixed order.
  void (*fold)(Op op, DType type, void* out, const void* in, int n);
};
const Lanes& lanes();

}  // namespace mycel::lite
