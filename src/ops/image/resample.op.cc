// Resampling of one axis: the primitive of every resize.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/batching.h"
#include "ops/elementwise/elementwise.h"
#include "ops/image/image.h"
#include "ops/image/resample_loops.h"
#include "ops/image/rooms.h"

namespace mycel::ops {

using ir::Adjoint;
using ir::Attrs;
using ir::AttrsView;
using ir::check;
using ir::LoopCtx;
using ir::TypeRuleCtx;

namespace {

#define MYCEL_RESAMPLE_ATTRS                                                                    \
  "axis: int", "size: int = 0", "method: str(nearest|linear|cubic|area) = linear",              \
      "coordinates: str(asymmetric|half_pixel|align_corners) = half_pixel", "scale: float = 0", \
      "cubic: float = -0.75", "drop_outside: bool = False"

ResampleRule rule_of(const AttrsView& a) {
  return {a.string("method"), a.string("coordinates"), a.real("scale"), a.real("cubic"),
          a.boolean("drop_outside")};
}

ResampleSizes sizes_of(const Shape& x, const Shape& y, const AttrsView& a) {
  int64_t at = a.integer("axis");
  int axis = static_cast<int>(at < 0 ? at + x.rank() : at);
  return {x.size(0, axis), x[axis], y[axis], x.size(axis + 1, x.rank())};
}

void resample_type(TypeRuleCtx& c) {
  Shape s = c.shape(0);
  int axis = c.axis(c.attrs.integer("axis"));
  int64_t size = c.attrs.integer("size");
  double scale = c.attrs.real("scale");
  if (size < 0 && size != kUnknownDim) c.fail("'size' must be positive, got {}", size);
  if (scale < 0 || !std::isfinite(scale)) c.fail("'scale' must be positive, got {}", scale);
  if (size == 0) {
    if (scale == 0) c.fail("one of 'size' and 'scale' must be given");
    double to = std::floor(static_cast<double>(s[axis]) * scale);
    if (s[axis] != kUnknownDim && (to < 1 || to > 0x1p40))
      c.fail("scale {} makes {} elements of {}", scale, to, s[axis]);
    size = s[axis] == kUnknownDim ? kUnknownDim : static_cast<int64_t>(to);
  }
  if (s[axis] == 0) c.fail("axis {} has no elements to resample", axis);
  if (c.attrs.string("method") == "area" && c.attrs.string("coordinates") == "half_pixel")
    c.fail("areas have coordinates asymmetric or align_corners");
  s.set(axis, size);
  c.result(c.dtype(0), s);
}

void resample_dx_type(TypeRuleCtx& c) {
  int axis = c.axis(c.attrs.integer("axis"));
  Shape s = c.shape(0);
  int64_t n = c.has(1) ? c.shape(1)[axis] : c.attrs.integer("length");
  if (n < 1 && n != kUnknownDim) c.fail("'length' must be positive, got {}", n);
  s.set(axis, n);
  c.result(c.dtype(0), s);
}

void resample_grad(Adjoint& a) {
  const Shape& s = a.x_type(0).shape;
  int64_t at = a.attrs().integer("axis");
  int64_t n = s[static_cast<int>(at < 0 ? at + s.rank() : at)];
  Value dy = a.dy();
  DType d = dy.dtype();
  if (d == DType::kFloat16 || d == DType::kBFloat16) dy = cast_to(dy, DType::kFloat32);
  Attrs attrs = a.attrs().all();
  attrs.push_back(n == kUnknownDim ? 0 : n);
  a.dx(0) += n == kUnknownDim ? kResampleDx({dy, a.x(0)}, attrs) : kResampleDx({dy}, attrs);
}

void resample_dx_grad(Adjoint& a) {
  Attrs attrs;
  for (const char* name :
       {"axis", "size", "method", "coordinates", "scale", "cubic", "drop_outside"})
    attrs.push_back(a.attrs()[name]);
  a.dx(0) += kResample({a.dy()}, attrs);
}

}  // namespace

constexpr OpDef kResample = check({
    .name = "resample",
    .doc =
        "One axis with another number of elements, m = size or floor(n scale). Output i lies at "
        "i s (asymmetric), (i + 1/2) s - 1/2 (half_pixel) or i (n - 1) / (m - 1) "
        "(align_corners) with s = 1/scale, else n / m; it is the nearest input element, the "
        "linear or cubic (Keys 1981) interpolation of its neighbours, or the mean over [i s, "
        "(i + 1) s). Elements outside are those at the border, or are left out with drop_outside.",
    .in = {"x: real"},
    .attr = {MYCEL_RESAMPLE_ATTRS},
    .type =
        [](TypeRuleCtx& c) {
          if (!is_float(c.dtype(0)) && c.attrs.string("method") != "nearest")
            c.fail_type("integers can be resampled with method nearest only");
          resample_type(c);
        },
    .shard = "... -> ... : whole(axis)",
    .grad = resample_grad,
    .loops =
        [](LoopCtx& c) {
          emit_resample(c.nest, rule_of(c.attrs),
                        sizes_of(c.in_type(0).shape, c.out_type().shape, c.attrs), c.in(0),
                        c.out());
        },
    .batch = batch_axis,
    .cases = "x[2, 5, 3]; axis = 0 1 -1; size = 1 7 3; method = nearest linear cubic; coordinates "
             "= asymmetric half_pixel align_corners; dtypes float16 bfloat16 float32 float64; bad "
             "size = -2; bad axis = 3 | x[2, 5]; axis = -1; size = 3 7; method = area; coordinates "
             "= asymmetric align_corners | x[3, 4]; axis = 1; size = 0 9; scale = 2.3 | x[2, 5]; "
             "axis = 1; size = 9 3; method = cubic; cubic = -0.5; drop_outside = True; skip "
             "zero_size: an empty axis cannot be resampled; skip scalar: a scalar has no axes",
    .onnx = "Resize",
    .internal = true,
});

constexpr OpDef kResampleDx = check({
    .name = "resample_dx",
    .doc = "Gradient of a resampled axis: each element of dy goes back to the input elements that "
           "it was made of, in proportion to their weights. `length`, or the operand `like`, gives "
           "the size.",
    .in = {"dy: float", "like?: real"},
    .attr = {MYCEL_RESAMPLE_ATTRS, "length: int = 0"},
    .out = {"dx"},
    .type = resample_dx_type,
    .shard = "none",
    .grad = resample_dx_grad,
    .loops =
        [](LoopCtx& c) {
          emit_resample_dx(c.nest, rule_of(c.attrs),
                           sizes_of(c.out_type().shape, c.in_type(0).shape, c.attrs), c.in(0),
                           c.out());
        },
    .batch = batch_axis,
    .cases = "dy[2, 5, 3]; axis = 1; size = 5; length = 1 3 8; method = nearest linear cubic; "
             "coordinates = half_pixel align_corners; dtypes float32 float64; without like; bad "
             "length = -2 | dy[2, 5]; axis = -1; size = 5; length = 3 9; method = area; "
             "coordinates = asymmetric; skip zero_size: an empty axis cannot be resampled; skip "
             "scalar: a scalar has no axes",
    .internal = true,
});

#undef MYCEL_RESAMPLE_ATTRS

void register_resample() { ir::register_ops({&kResample, &kResampleDx}); }

}  // namespace mycel::ops
