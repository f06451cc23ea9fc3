// Where the extremes are: argmax and argmin, extremes together with their positions.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "loops/reduce.h"
#include "ops/elementwise/elementwise.h"
#include "ops/index/index.h"
#include "ops/reduce/lines.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records
using loops::Val;

namespace {

DType computed(DType d) {
  return is_bool(d)                                      ? DType::kUInt8
         : d == DType::kFloat16 || d == DType::kBFloat16 ? DType::kFloat32
                                                         : d;
}

// The axis, checked; -1 when the operand is 0-d.
int position_axis(TypeRuleCtx& c, int64_t axis) {
  if (is_complex(c.dtype(0))) c.fail_type("complex numbers have no order");
  const Shape& s = c.shape(0);
  if (s.rank() == 0) {
    if (axis != 0 && axis != -1) c.fail("axis must be 0 or -1 for a 0-d operand");
    return -1;
  }
  int a = c.axis(axis);
  if (s[a] == 0) c.fail("axis {} has no elements, so there is no extreme", a);
  return a;
}
Shape without_axis(const Shape& s, int axis, bool keep) {
  return axis < 0 ? s : reduced_shape(s, {axis}, keep);
}

void position_type(TypeRuleCtx& c) {
  int axis = position_axis(c, c.attrs.integer("axis"));
  DType d = c.attrs.dtype("output_type");
  if (d != DType::kInt32 && d != DType::kInt64)
    c.fail_type("output_type must be int32 or int64, not {}", name_of(d));
  c.result(d, without_axis(c.shape(0), axis, c.attrs.boolean("keep_dims")));
}

// (value, position) pairs; of equal values, and of several NaNs, the first wins.
template <bool largest>
void position_loops(LoopCtx& c) {
  DType d = computed(c.in_type(0).dtype);
  loops::Reduction r;
  r.name = c.op.name;
  r.in = {{c.in_type(0).dtype}};
  r.out = {c.out_type().dtype};
  r.accumulators = {{d, largest ? -HUGE_VAL : HUGE_VAL}, {DType::kInt64, -1.0}};
  r.lift = [d](std::span<const Val> in, Val at, std::span<Val> tuple) {
    tuple[0] = cast(in[0], d);
    tuple[1] = at;
  };
  r.combine = [](std::span<const Val> a, std::span<const Val> b, std::span<Val> t) {
    Val better = largest ? b[0] > a[0] : b[0] < a[0];
    // A neutral element (position -1) loses against everything.
    Val take = (b[1] >= 0) & ((a[1] < 0) | (better & !isnan(a[0])) | (isnan(b[0]) & !isnan(a[0])));
    t[0] = select(take, b[0], a[0]);
    t[1] = select(take, b[1], a[1]);
  };
  r.finish = [](std::span<const Val> t, std::span<const Val>, Val, std::span<Val> out) {
    out[0] = t[1];
  };
  const Shape& s = c.in_type(0).shape;
  int axis = axis_of(c);
  bool scalar = s.rank() == 0;
  c.nest = loops::reduce(r, scalar ? 1 : s.size(0, axis), scalar ? 1 : s[axis],
                         scalar ? 1 : s.size(axis + 1, s.rank()));
}

Value flattened(Value x) { return kReshape({x}, {Attr::Ints{-1}}); }

// argmax(input, dim, keepdim) over all elements when dim is None.
void expand_position(Expansion& e, const OpDef& op, const char* axis, const char* keep) {
  Value x = e.x(0);
  const Attr& a = e.attrs[axis];
  bool keeps = e.attrs.boolean(keep);
  if (!a.none()) return e.result(op({x}, {a, DType::kInt64, keeps}));
  Value y = op({flattened(x)}, {int64_t{0}, DType::kInt64, false});
  e.result(keeps ? kReshape({y}, {Attr::Ints(x.rank(), 1)}) : y);
}
void all_position_type(TypeRuleCtx& c, const char* axis_name, const char* keep) {
  const Attr& a = c.attrs[axis_name];
  const Shape& s = c.shape(0);
  if (!a.none()) {
    int axis = position_axis(c, a.integer());
    return c.result(DType::kInt64, without_axis(s, axis, c.attrs.boolean(keep)));
  }
  if (is_complex(c.dtype(0))) c.fail_type("complex numbers have no order");
  if (s.known() && s.size() == 0) c.fail("there are no elements, so there is no extreme");
  Shape out;
  for (int d = 0; c.attrs.boolean(keep) && d < s.rank(); ++d) out.push_back(1);
  c.result(DType::kInt64, out);
}

// Position and value along one axis; the value is fetched, so that gradients flow to it alone.
void fetch(Expansion& e, const OpDef& op, int64_t axis, bool keep, bool value_first) {
  Value x = e.x(0);
  if (x.rank() == 0) {
    Value i = op({x}, {int64_t{0}, DType::kInt32, false});
    e.result(value_first ? x : i);
    return e.result(value_first ? i : x);
  }
  Value i = op({x}, {axis, DType::kInt32, true});
  Value v = kGatherD({x, i}, {axis});
  if (!keep) {
    Attr::Ints squeezed{normalize_axis(axis, x.rank(), e.op.name.c_str())};
    v = kSqueeze({v}, {squeezed});
    i = kSqueeze({i}, {squeezed});
  }
  e.result(value_first ? v : i);
  e.result(value_first ? i : v);
}

void with_value_type(TypeRuleCtx& c) {
  int axis = position_axis(c, c.attrs.integer("axis"));
  Shape s = without_axis(c.shape(0), axis, c.attrs.boolean("keep_dims"));
  c.result(DType::kInt32, s);
  c.result(c.dtype(0), s);
}

}  // namespace

constexpr OpDef kArgmaxAxis = check({
    .name = "argmax_axis",
    .doc = "Position of the largest element along axis: the first of equal ones, the first NaN if "
           "there is one.",
    .in = {"x: any"},
    .attr = {"axis: int = -1", "output_type: dtype = int32", "keep_dims: bool = False"},
    .type = position_type,
    .shard = "... -> ... : whole(axis)",
    .grad = no_gradient("positions do not change smoothly"),
    .loops = position_loops<true>,
    .cases =
        "dtypes bool int8 int32 int64 uint8 float16 bfloat16 float32 float64; x[2, 3, 4]; axis = "
        "-1 0 1; "
        "keep_dims = False True; output_type = int32 int64; bad axis = 3; at ([1, 5, 5]) -> 1; "
        "at ([1, nan, 5, nan]) -> 1; at ([-inf, -inf]) -> 0 | x[40000] [2, 100, 3]; axis = 0 | "
        "x[]; axis = 0",
    .onnx = "ArgMax",
    .primitive = "Argmax(axis, output_type)",
    .internal = true,
});

constexpr OpDef kArgminAxis = check({
    .name = "argmin_axis",
    .doc = "Position of the smallest element along axis: the first of equal ones, the first NaN if "
           "there is one.",
    .in = {"x: any"},
    .attr = {"axis: int = -1", "output_type: dtype = int32", "keep_dims: bool = False"},
    .type = position_type,
    .shard = "... -> ... : whole(axis)",
    .grad = no_gradient("positions do not change smoothly"),
    .loops = position_loops<false>,
    .cases =
        "dtypes bool int8 int32 int64 uint8 float16 bfloat16 float32 float64; x[2, 3, 4]; axis = "
        "-1 0 1; "
        "keep_dims = False True; output_type = int32 int64; bad axis = 3; at ([5, 1, 1]) -> 1; "
        "at ([1, nan, 5, nan]) -> 1 | x[40000] [2, 100, 3]; axis = 0 | x[]; axis = 0",
    .onnx = "ArgMin",
    .primitive = "Argmin(axis, output_type)",
    .internal = true,
});

constexpr OpDef kArgmax = check({
    .name = "argmax",
    .doc = "Position (int64) of the largest element along dim, or among all elements in row order "
           "when None.",
    .in = {"input: any"},
    .attr = {"dim: int? = None", "keepdim: bool = False"},
    .type = [](TypeRuleCtx& c) { all_position_type(c, "dim", "keepdim"); },
    .shard = "... -> ... : whole(dim)",
    .expand = [](Expansion& e) { expand_position(e, kArgmaxAxis, "dim", "keepdim"); },
    .cases = "dtypes bool int8 int32 int64 uint8 float16 bfloat16 float32 float64; input[2, 3, 4]; "
             "dim = None 0 -1; "
             "keepdim = False True; bad dim = 3; at ([[1, 2], [7, 3]]) -> 2 | input[]; dim = None",
    .method = "argmax",
});

constexpr OpDef kArgmin = check({
    .name = "argmin",
    .doc = "Position (int64) of the smallest element along axis, or among all elements in row "
           "order when None.",
    .in = {"input: any"},
    .attr = {"axis: int? = None", "keepdims: bool = False"},
    .type = [](TypeRuleCtx& c) { all_position_type(c, "axis", "keepdims"); },
    .shard = "... -> ... : whole(axis)",
    .expand = [](Expansion& e) { expand_position(e, kArgminAxis, "axis", "keepdims"); },
    .cases =
        "dtypes bool int8 int32 int64 uint8 float16 bfloat16 float32 float64; input[2, 3, 4]; axis "
        "= None 0 -1; "
        "keepdims = False True; bad axis = 3; at ([[4, 2], [1, 3]]) -> 2 | input[]; axis = None",
    .method = "argmin",
});

constexpr OpDef kArgmaxWithValue = check({
    .name = "argmax_with_value",
    .doc = "Position (int32) and value of the largest element along axis; the gradient goes to "
           "that element.",
    .in = {"x: real"},
    .attr = {"axis: int = 0", "keep_dims: bool = False"},
    .out = {"index", "values"},
    .type = with_value_type,
    .shard = "... -> ..., ... : whole(axis)",
    .expand =
        [](Expansion& e) {
          fetch(e, kArgmaxAxis, e.attrs.integer("axis"), e.attrs.boolean("keep_dims"), false);
        },
    .cases =
        "x in distinct(-2, 2); x[2, 3, 4]; axis = 0 1 -1; keep_dims = False True; bad axis = 3; "
        "at ([1, 5, 2]) -> 1, 5 | x[]; axis = 0",
    .primitive = "ArgMaxWithValue(axis, keep_dims)",
    .method = "argmax_with_value",
});

constexpr OpDef kArgminWithValue = check({
    .name = "argmin_with_value",
    .doc = "Position (int32) and value of the smallest element along axis; the gradient goes to "
           "that element.",
    .in = {"x: real"},
    .attr = {"axis: int = 0", "keep_dims: bool = False"},
    .out = {"index", "values"},
    .type = with_value_type,
    .shard = "... -> ..., ... : whole(axis)",
    .expand =
        [](Expansion& e) {
          fetch(e, kArgminAxis, e.attrs.integer("axis"), e.attrs.boolean("keep_dims"), false);
        },
    .cases =
        "x in distinct(-2, 2); x[2, 3, 4]; axis = 0 1 -1; keep_dims = False True; bad axis = 3; "
        "at ([5, 1, 2]) -> 1, 1 | x[]; axis = 0",
    .primitive = "ArgMinWithValue(axis, keep_dims)",
    .method = "argmin_with_value",
});

void register_positions() {
  register_ops(
      {&kArgmaxAxis, &kArgminAxis, &kArgmax, &kArgmin, &kArgmaxWithValue, &kArgminWithValue});
}

}  // namespace mycel::ops
