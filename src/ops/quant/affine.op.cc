// Reals to integers and back, as ONNX's QuantizeLinear, DequantizeLinear and the QLinear ops
// define: division by the scale, half to even, zero point, saturation.
#include "ir/adjoint.h"
#include "ops/elementwise/elementwise.h"
#include "ops/quant/quant.h"
#include "ops/quant/rooms.h"
#include "ops/quant/spread.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::check;
using ir::Expansion;
using ir::formula;
using ir::no_gradient;
using ir::TypeRuleCtx;
using ir::Value;

namespace {

constexpr const char* kRounded = "rounding is flat; fake_quantize has a gradient for training";

void check_quantized(TypeRuleCtx& c, int i) {
  if (holds_quantized(c.dtype(i))) return;
  c.fail_type("{} cannot be quantized values; allowed are int8, uint8, int16, uint16 and int32",
              name_of(c.dtype(i)));
}

// Attribute `dtype`, or that of the zero point, or int8.
DType asked_dtype(const Expansion& e, int zero) {
  const ir::Attr& asked = e.attrs["dtype"];
  if (!asked.none()) return asked.dtype();
  return e.has(zero) ? e.x(zero).dtype() : DType::kInt8;
}

}  // namespace

constexpr OpDef kQuantizeElements = check({
    .name = "quantize_elements",
    .doc = "round(x / scale) + zero, half to even, saturated to dtype; operands broadcast.",
    .in = {"x: float", "scale: float"},
    .attr = {"zero: int", "dtype: dtype"},
    .type = quantized_type,
    .shard = "... -> ...",
    .grad = no_gradient(kRounded),
    .scalar = formula(2, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto ratio = in[0] / cast(in[1], in[0].dtype());
                        DType to = attrs[1].dtype();
                        out[0] = rounded_into(ratio, attrs[0].integer(), range_of(to), to);
                      }),
    .cases = "x in {-3, -0.75, -0.25, 0, 0.25, 0.75, 1.25, 200, -200}; scale[4]; scale in {0.5, 1, "
             "2}; scale dtypes float32; zero = 0 3; dtype = int8 uint8 int16 int32; in float32",
    .internal = true,
});

constexpr OpDef kQuantizeShifted = check({
    .name = "quantize_shifted",
    .doc = "round(x / scale) + zero_point, half to even, saturated to dtype; operands broadcast.",
    .in = {"x: float", "scale: float", "zero_point: int"},
    .attr = {"dtype: dtype"},
    .type = quantized_type,
    .shard = "... -> ...",
    .grad = no_gradient(kRounded),
    .scalar = formula(3, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto y = rint(in[0] / cast(in[1], in[0].dtype()));
                        DType to = attrs[0].dtype();
                        out[0] = saturated(y + cast(in[2], y.dtype()), range_of(to), to);
                      }),
    .cases = "x in {-3, -0.75, -0.25, 0, 0.25, 0.75, 1.25, 200, -200}; scale[4]; scale in {0.5, 1, "
             "2}; scale dtypes float32; zero_point[]; zero_point in ints(0, 3); zero_point dtypes "
             "int8; dtype = int8 uint8 int16; in float32",
    .internal = true,
});

constexpr OpDef kDequantizeElements = check({
    .name = "dequantize_elements",
    .doc = "(x - zero) scale, in the dtype of the scale; operands broadcast.",
    .in = {"x: int", "scale: float"},
    .attr = {"zero: int"},
    .type =
        [](TypeRuleCtx& c) {
          check_quantized(c, 0);
          ir::types::broadcast(c);
          c.out[0].dtype = c.dtype(1);
        },
    .shard = "... -> ...",
    .grad =
        [](Adjoint& a) {
          if (!a.wants(1)) return;
          Value whole = cast_to(a.x(0), DType::kInt32);
          Value zero = number(whole, static_cast<double>(a.attrs().integer("zero")));
          a.dx(1) += a.dy() * cast_to(whole - zero, a.y_type().dtype);
        },
    .scalar = formula(2, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto whole = cast(in[0], DType::kInt32);
                        if (int64_t zero = attrs[0].integer()) whole = whole - zero;
                        out[0] = cast(whole, in[1].dtype()) * in[1];
                      }),
    .cases = "skip dtypes: int64 does not hold quantized values; x dtypes int8 uint8 int16 int32; "
             "x in ints(0, 100); scale[4]; scale in (0.1, 2); zero = 0 7",
    .internal = true,
});

constexpr OpDef kRequantizeElements = check({
    .name = "requantize_elements",
    .doc = "round(x multiplier) + zero, half to even, held in [low, high]; operands broadcast.",
    .in = {"x: int", "multiplier: float"},
    .attr = {"zero: int", "dtype: dtype", "low: int? = None", "high: int? = None"},
    .type = quantized_type,
    .shard = "... -> ...",
    .grad = no_gradient(kRounded),
    .scalar = formula(2, 1,
                      [](auto in, auto& attrs, auto out) {
                        DType to = attrs[1].dtype();
                        auto x = cast(in[0], in[1].dtype()) * in[1];
                        IntRange range = range_of(to, attrs[2], attrs[3]);
                        out[0] = rounded_into(x, attrs[0].integer(), range, to);
                      }),
    .cases = "x dtypes int32; x in ints(-900, 900); multiplier[4]; multiplier in {0.125, 0.5, "
             "0.75}; multiplier dtypes float32; zero = 0 3; dtype = int8 uint8; low = None 2; high "
             "= None 90",
    .internal = true,
});

constexpr OpDef kRoundSaturate = check({
    .name = "round_saturate",
    .doc = "round(x) + zero, half to even, held in [low, high], as dtype: how passes write the end "
           "of a quantization.",
    .in = {"x: float"},
    .attr = {"zero: int", "low: int", "high: int", "dtype: dtype"},
    .type = [](TypeRuleCtx& c) { c.result(c.attrs.dtype("dtype"), c.shape(0)); },
    .shard = "... -> ...",
    .grad = no_gradient(kRounded),
    .scalar = formula(1, 1,
                      [](auto in, auto& attrs, auto out) {
                        IntRange range{attrs[1].integer(), attrs[2].integer()};
                        out[0] = rounded_into(in[0], attrs[0].integer(), range, attrs[3].dtype());
                      }),
    .cases = "x in {-300, -2.5, -0.5, 0.5, 1.5, 7, 130, 300}; zero = 0 3; low = -128; high = 100; "
             "dtype = int8 int16",
    .internal = true,
});

constexpr OpDef kQuantize = check({
    .name = "quantize",
    .doc =
        "Integers that stand for reals: round(x / scale) + zero_point, half to even, saturated "
        "to `dtype` (default: that of the zero point, else int8). A scale is positive, one number "
        "or one for each index of `axis`; `zero` is the zero point where no operand gives it.",
    .in = {"x: float[n, c, h]", "scale: float[c]", "zero_point?: int[c]"},
    .attr = {"axis: int = 1", "dtype: dtype? = None", "zero: int = 0"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          int rank = e.x(0).rank();
          int64_t axis = e.attrs.integer("axis");
          Value scale = spread(e, e.x(1), "scale", rank, axis);
          e.result(e.has(2)
                       ? kQuantizeShifted({e.x(0), scale, zero_point_of(e, 2, rank, axis)},
                                          {asked_dtype(e, 2)})
                       : kQuantizeElements({e.x(0), scale}, {e.attrs["zero"], asked_dtype(e, 2)}));
        },
    .cases = "x in {-3, -0.75, -0.25, 0, 0.25, 0.75, 1.25, 200, -200}; scale in {0.5, 1, 2}; "
             "scale dtypes float32; zero_point in ints(0, 3); zero_point dtypes int8 uint8; "
             "zero = 0 2; in float32; bad axis = 3 | x[]; scale[]; zero_point[]; axis = 0; at "
             "(2.5, 1, 3) -> 5; "
             "at (1000, 1, 0) -> 127; at (-3.5, 2, 0) -> -2",
    .onnx = "QuantizeLinear",
});

constexpr OpDef kDequantize = check({
    .name = "dequantize",
    .doc = "The reals that integers stand for: (x - zero_point) scale, in the dtype of the scale, "
           "which is one number, or one for each index of `axis`.",
    .in = {"x: int[n, c, h]", "scale: float[c]", "zero_point?: int[c]"},
    .attr = {"axis: int = 1", "zero: int = 0"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          int rank = e.x(0).rank();
          int64_t axis = e.attrs.integer("axis");
          Value x = e.x(0), scale = spread(e, e.x(1), "scale", rank, axis);
          if (e.has(2)) {
            Value zero = zero_point_of(e, 2, rank, axis);
            x = cast_to(x, DType::kInt32) - cast_to(zero, DType::kInt32);
          }
          e.result(kDequantizeElements({x, scale}, {e.attrs["zero"]}));
        },
    .cases = "skip dtypes: int64 does not hold quantized values; x dtypes int8 uint8 int16 int32; "
             "x in ints(0, 100); scale in (0.1, 2); zero_point "
             "in ints(0, 9); zero_point dtypes int8; bad axis = 3 | x[]; scale[]; zero_point[]; "
             "axis = 0",
    .onnx = "DequantizeLinear",
});

constexpr OpDef kRequantize = check({
    .name = "requantize",
    .doc = "Sums of integer products brought to a narrower dtype: round(x multiplier) + "
           "zero_point, in float32, half to even, held in [low, high] and the range of `dtype` "
           "(default: that of the zero point, else int8). A multiplier is one number, or one for "
           "each index of `axis`.",
    .in = {"x: int[n, c, h]", "multiplier: float[c]", "zero_point?: int"},
    .attr = {"axis: int = 1", "dtype: dtype? = None", "low: int? = None", "high: int? = None",
             "zero: int = 0"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          int rank = e.x(0).rank();
          int64_t axis = e.attrs.integer("axis");
          Value by = spread(e, e.x(1), "multiplier", rank, axis);
          DType to = asked_dtype(e, 2);
          if (!e.has(2)) {
            return e.result(kRequantizeElements(
                {e.x(0), by}, {e.attrs["zero"], to, e.attrs["low"], e.attrs["high"]}));
          }
          Value y = kQuantizeShifted(
              {cast_to(e.x(0), by.dtype()) * by, number(by, 1.0), zero_point_of(e, 2, rank, axis)},
              {to});
          IntRange range = range_of(to, e.attrs["low"], e.attrs["high"]);
          y = kMaximum({y, number(y, static_cast<double>(range.low))});
          e.result(kMinimum({y, number(y, static_cast<double>(range.high))}));
        },
    .cases = "x dtypes int32; x in ints(-900, 900); multiplier in {0.125, 0.5, 0.75}; multiplier "
             "dtypes float32; zero_point[]; zero_point in ints(0, 3); zero_point dtypes int8 "
             "uint8; low = None "
             "2; high = None 90; bad axis = 3",
});

void register_affine() {
  ir::register_ops({&kQuantizeElements, &kQuantizeShifted, &kDequantizeElements,
                    &kRequantizeElements, &kRoundSaturate, &kQuantize, &kDequantize, &kRequantize});
}

}  // namespace mycel::ops
