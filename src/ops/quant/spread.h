// Scales, multipliers and zero points brought under the dims of what they quantize, and the range
// of integers that results are held in: shared by the records of this room.
#pragma once

#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "loops/val.h"

namespace mycel::ops {

// `v` holds one number, one for each index of `axis`, or broadcasts against `rank` dims already.
ir::Value spread(const ir::Expansion& e, ir::Value v, const char* what, int rank, int64_t axis);
// Operand `i` spread; attribute `zero` in int32 when it is absent.
ir::Value zero_point_of(ir::Expansion& e, int i, int rank, int64_t axis);

bool holds_quantized(DType d);  // 8, 16 and 32 bits, unsigned ones too
struct IntRange {
  int64_t low, high;
};
IntRange range_of(DType d);
// The range of `d`, narrowed by the attributes `low` and `high` where they are given.
IntRange range_of(DType d, const ir::Attr& low, const ir::Attr& high);

// The type rule of elementwise ops that give attribute `dtype`.
void quantized_type(ir::TypeRuleCtx& c);

// A whole float held in the range, as dtype `to`; rounded_into rounds to even and moves it first (a
// NaN gives `zero`).
loops::Val saturated(loops::Val x, IntRange range, DType to);
loops::Val rounded_into(loops::Val x, int64_t zero, IntRange range, DType to);

}  // namespace mycel::ops
