// Largest and smallest elements, and where they are.
#include <cmath>
#include <limits>

#include "ir/adjoint.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/fold.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

void extreme_type(TypeRuleCtx& c) {
  if (is_complex(c.dtype(0))) c.fail_type("complex numbers have no order");
  auto axes = reduced_axes(axis_attr(c.attrs), c.shape(0).rank(), c.op.name);
  for (int d : axes) {
    if (c.shape(0)[d] == 0) c.fail("axis {} has no elements, so there is no extreme", d);
  }
  c.result(c.dtype(0), reduced_shape(c.shape(0), axes, c.attrs.boolean("keep_dims")));
}

// The lowest (or highest) value of an integer dtype, as a 64-bit pattern.
int64_t integer_bound(DType d, bool highest) {
  int bits = static_cast<int>(size_of(d)) * 8;
  if (is_unsigned_int(d)) return !highest ? 0 : bits == 64 ? -1 : (int64_t{1} << bits) - 1;
  int64_t top = bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
  return highest ? top : -top - 1;
}

// Equal extremes share the gradient.
void extreme_gradient(Adjoint& a) {
  const Type& t = a.x_type(0);
  auto axes = axes_of(a);
  Value y = with_axes(a.y(), axes, t.shape.rank()), dy = with_axes(a.dy(), axes, t.shape.rank());
  Value mine = cast_to(kEqual({a.x(0), y}), t.dtype);
  a.dx(0) += mine * (dy / kReduceSum({mine}, {a.attrs()["axis"], true}));
}

template <bool largest>
void extreme_loops(LoopCtx& c) {
  DType d = c.out_type().dtype;
  DType acc = is_bool(d) ? DType::kUInt8 : d;
  Fold f{.accumulator = acc,
         .lift = [acc](loops::Val x) { return is_bool(x.dtype()) ? cast(x, acc) : x; },
         .merge = [](loops::Val x, loops::Val y) { return largest ? max(x, y) : min(x, y); }};
  f.init = largest ? -HUGE_VAL : HUGE_VAL;
  if (is_int(acc)) f.integer_init = integer_bound(acc, !largest);
  emit_fold(c, axes_of(c), f);
}

}  // namespace

constexpr OpDef kReduceMax = check({
    .name = "reduce_max",
    .doc = "Largest element over the axes (all when empty), NaN if one is NaN. Equal largest "
           "elements share "
           "the gradient.",
    .in = {"x: any"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .type = extreme_type,
    .shard = "... -> ... : reduce(axis, max)",
    .grad = extreme_gradient,
    .loops = extreme_loops<true>,
    .cases = "x in distinct(-2, 2); x[2, 3, 4]; axis = [] 0 1 -1 [0, 2]; keep_dims = False True; "
             "bad axis = 3; "
             "dtypes bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 "
             "float32 float64; "
             "at ([1, 5, 2]) -> 5; at ([1, nan, 2]) -> nan | x[]; axis = []",
    .onnx = "ReduceMax",
    .primitive = "ReduceMax(keep_dims)",
});

constexpr OpDef kReduceMin = check({
    .name = "reduce_min",
    .doc = "Smallest element over the axes (all when empty), NaN if one is NaN. Equal smallest "
           "elements "
           "share the gradient.",
    .in = {"x: any"},
    .attr = {"axis: int[]? = []", "keep_dims: bool = False"},
    .type = extreme_type,
    .shard = "... -> ... : reduce(axis, min)",
    .grad = extreme_gradient,
    .loops = extreme_loops<false>,
    .cases = "x in distinct(-2, 2); x[2, 3, 4]; axis = [] 0 1 -1 [0, 2]; keep_dims = False True; "
             "bad axis = 3; "
             "dtypes bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 "
             "float32 float64; "
             "at ([1, 5, -2]) -> -2; at ([1, nan, 2]) -> nan | x[]; axis = []",
    .onnx = "ReduceMin",
    .primitive = "ReduceMin(keep_dims)",
});

void register_extremes() { register_ops({&kReduceMax, &kReduceMin}); }

}  // namespace mycel::ops
