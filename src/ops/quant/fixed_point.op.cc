// Requantizing without floating point, as TensorFlow Lite's reference kernels and machines without
// an FPU do (gemmlowp, Jacob et al. 2018, section 2.2): a multiplier is a 31-bit fraction and a
// power of two, and both steps round half away from zero.
#include "ops/elementwise/elementwise.h"
#include "ops/quant/quant.h"
#include "ops/quant/rooms.h"
#include "ops/quant/spread.h"

namespace mycel::ops {

using ir::check;
using ir::Expansion;
using ir::no_gradient;
using ir::TypeRuleCtx;
using ir::Value;
using loops::Val;

namespace {

// The rounded high half of the doubled product: x y / 2^31, half away from zero, saturated.
Val doubled_high_half(Val x, Val y) {
  Val product = cast(x, DType::kInt64) * cast(y, DType::kInt64);
  constexpr int64_t kHalf = int64_t{1} << 30;
  Val nudge = select(product >= int64_t{0}, constant(product, kHalf), 1 - kHalf);
  Val high = (product + nudge) / (int64_t{1} << 31);
  return cast(min(high, (int64_t{1} << 31) - 1), DType::kInt32);
}

// x / 2^exponent, half away from zero.
Val shifted_right(Val x, Val exponent) {
  Val one = constant(x, int64_t{1});
  Val mask = (one << exponent) - one, rest = x & mask;
  Val threshold = (mask >> one) + cast(x < int64_t{0}, DType::kInt32);
  return (x >> exponent) + cast(rest > threshold, DType::kInt32);
}

Val fixed_multiply(Val x, Val multiplier, Val shift) {
  Val left = max(shift, int64_t{0}), right = max(-shift, int64_t{0});
  return shifted_right(doubled_high_half(x << left, multiplier), right);
}

void check_int32(TypeRuleCtx& c) {
  for (int i = 0; i < c.inputs(); ++i) {
    if (c.has(i) && c.dtype(i) != DType::kInt32) {
      c.fail_type("operand '{}' is {}; allowed is int32", c.op.inputs[static_cast<size_t>(i)].name,
                  name_of(c.dtype(i)));
    }
  }
}

}  // namespace

constexpr OpDef kFixedMultiply = check({
    .name = "fixed_multiply",
    .doc = "x multiplier 2^(shift - 31) in integers, bit for bit TensorFlow Lite's "
           "MultiplyByQuantizedMultiplier: first x 2^shift where shift is positive, then the "
           "product's rounded high half, then the rounded division by 2^-shift where it is "
           "negative; halves go away from zero. All int32; operands broadcast.",
    .in = {"x: int", "multiplier: int", "shift: int"},
    .type =
        [](TypeRuleCtx& c) {
          check_int32(c);
          ir::types::broadcast(c);
        },
    .shard = "... -> ...",
    .grad = no_gradient("the result is whole numbers"),
    .scalar = ir::ternary([](auto x, auto m, auto s) { return fixed_multiply(x, m, s); }),
    .cases = "skip dtypes: int32 alone is allowed; x dtypes int32; multiplier dtypes int32; shift "
             "dtypes int32; x in ints(-100000, "
             "100000); multiplier[4]; multiplier in ints(1073741824, 2147483647); shift[]; shift "
             "in ints(-9, 3)",
});

constexpr OpDef kRequantizeFixed = check({
    .name = "requantize_fixed",
    .doc = "Sums of integer products brought to a narrower dtype by integers alone: "
           "fixed_multiply(x, multiplier, shift) + zero_point, held in [low, high] and the range "
           "of `dtype`. A multiplier and its shift are one number, or one for each index of "
           "`axis`.",
    .in = {"x: int[n, c, h]", "multiplier: int[c]", "shift: int[c]", "zero_point?: int"},
    .attr = {"axis: int = 1", "dtype: dtype = int8", "low: int? = None", "high: int? = None",
             "zero: int = 0"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          int rank = e.x(0).rank();
          int64_t axis = e.attrs.integer("axis");
          DType to = e.attrs.dtype("dtype");
          IntRange range = range_of(to, e.attrs["low"], e.attrs["high"]);
          Value y = kFixedMultiply({e.x(0), spread(e, e.x(1), "multiplier", rank, axis),
                                    spread(e, e.x(2), "shift", rank, axis)});
          if (e.has(3) || e.attrs.integer("zero") != 0)
            y = y + cast_to(zero_point_of(e, 3, rank, axis), DType::kInt32);
          y = kMaximum({y, number(y, static_cast<double>(range.low))});
          y = kMinimum({y, number(y, static_cast<double>(range.high))});
          e.result(cast_to(y, to));
        },
    .cases = "skip dtypes: int32 alone is allowed; x dtypes int32; multiplier dtypes int32; shift "
             "dtypes int32; x in ints(-9000, "
             "9000); multiplier in ints(1073741824, 2147483647); shift in ints(-9, 1); "
             "zero_point[]; zero_point in ints(0, 9); zero_point dtypes int8 int32; dtype = int8 "
             "uint8 int16; "
             "low = None 2; high = None 90; bad axis = 3",
});

void register_fixed_point() { ir::register_ops({&kFixedMultiply, &kRequantizeFixed}); }

}  // namespace mycel::ops
