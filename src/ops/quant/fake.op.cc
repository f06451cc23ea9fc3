// Quantizing and dequantizing at once, with gradients, for quantization-aware training. Inside the
// range a step of rounding counts as the identity (straight-through estimator, Bengio et al. 2013);
// the scale's gradient is that of learned step sizes (Esser et al. 2020), the zero point's that of
// LSQ+ (Bhalgat et al. 2020).
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
using ir::TypeRuleCtx;
using ir::Value;

namespace {

void fake_grad(Adjoint& a) {
  const double low = static_cast<double>(a.attrs().integer("low")),
               high = static_cast<double>(a.attrs().integer("high"));
  Value ratio = a.x(0) / a.x(1), at = kRound({ratio}) + a.x(2);
  Value below = less(at, low), above = greater(at, high);
  Value outside = kLogicalOr({below, above});
  if (a.wants(0)) a.dx(0) += where(outside, 0.0, a.dy());
  if (a.wants(1)) {
    Value held = where(below, low, where(above, high, at)) - a.x(2);
    a.dx(1) += a.dy() * where(outside, held, held - ratio);
  }
  if (a.wants(2)) a.dx(2) += where(outside, -(a.dy() * a.x(1)), 0.0);
}

}  // namespace

constexpr OpDef kFakeQuantizeElements = check({
    .name = "fake_quantize_elements",
    .doc = "(min(max(round(x / scale) + zero_point, low), high) - zero_point) scale; operands "
           "broadcast.",
    .in = {"x: float", "scale: float", "zero_point: float"},
    .attr = {"low: int", "high: int"},
    .promote = ir::Promote::kCommon,
    .type = ir::types::broadcast,
    .shard = "... -> ...",
    .grad = fake_grad,
    .scalar = formula(3, 1,
                      [](auto in, auto& attrs, auto out) {
                        auto at = rint(in[0] / in[1]) + in[2];
                        at = max(at, static_cast<double>(attrs[0].integer()));
                        at = min(at, static_cast<double>(attrs[1].integer()));
                        out[0] = (at - in[2]) * in[1];
                      }),
    .cases =
        "low = -4; high = 3; x in (-4, 4); scale[4]; scale in {0.25, 0.5, 1}; zero_point[]; "
        "zero_point in ints(-1, "
        "1); skip grad: straight through on purpose, test_quantize.py compares; skip grad2: as "
        "for grad; dtypes float32 float64; at (0.6, 0.25, 0) -> 0.5; at (9, 0.25, 1) -> 0.5",
    .internal = true,
});

constexpr OpDef kFakeQuantize = check({
    .name = "fake_quantize",
    .doc = "x as it would come back from integers in [low, high]: (min(max(round(x / scale) + "
           "zero_point, low), high) - zero_point) scale. A gradient passes where x lies inside the "
           "range and is 0 outside; the scale, one number or one for each index of `axis`, and the "
           "zero point have the gradients of learned step sizes.",
    .in = {"x: float[n, c, h]", "scale: float[c]", "zero_point?: float[c]"},
    .attr = {"low: int = -128", "high: int = 127", "axis: int = 1"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          int rank = e.x(0).rank();
          int64_t axis = e.attrs.integer("axis");
          Value scale = spread(e, e.x(1), "scale", rank, axis);
          Value zero = e.has(2) ? spread(e, e.x(2), "zero point", rank, axis) : number(e.x(0), 0.0);
          e.result(kFakeQuantizeElements({e.x(0), scale, zero}, {e.attrs["low"], e.attrs["high"]}));
        },
    .cases =
        "low = -4; high = 3; x in (-4, 4); scale in {0.25, 0.5, 1}; zero_point in ints(-1, "
        "1); skip grad: straight through on purpose, test_quantize.py compares; skip grad2: as "
        "for grad; dtypes float32 float64; bad axis = 3",
});

void register_fake_quantize() { ir::register_ops({&kFakeQuantizeElements, &kFakeQuantize}); }

}  // namespace mycel::ops
