// Published forms of the reductions: sum, max and min with their own arguments, variance and
// deviation, norms. All are expansions of the kernels of this room.
#include <cmath>

#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

Attr::Ints ints(const Attr& a) { return a.none() ? Attr::Ints{} : a.ints(); }
Value inexact(Value x) {
  return is_float(x.dtype()) || is_complex(x.dtype()) ? x : kCast({x}, {DType::kFloat32});
}

// Type of a reduction whose attributes have other names; dtype: of the result.
void named_type(TypeRuleCtx& c, const char* axis, const char* keep, DType dtype) {
  auto axes = reduced_axes(ints(c.attrs[axis]), c.shape(0).rank(), c.op.name);
  c.result(dtype, reduced_shape(c.shape(0), axes, c.attrs.boolean(keep)));
}

// Mean of squared distances from the mean, divided by n - ddof; keeps the axes.
Value variance(Value x, const Attr::Ints& axis, double ddof, const std::string& op) {
  auto axes = reduced_axes(axis, x.rank(), op);
  Value centred = x - kReduceMean({x}, {axis, true});
  Value sum = kReduceSumSquare({centred}, {axis, true});
  Value count = reduced_count(
      sum.rank() == x.rank() && sum.dtype() == x.dtype() ? x : cast_to(x, sum.dtype()), axes);
  // No more elements than ddof: 0 / 0 is NaN, as it should be.
  return sum / kMaximum({count - ddof, number(count, 0)});
}
Value dropped(Value kept, const Attr::Ints& axis, bool keep) {
  return keep || kept.rank() == 0 ? kept : kReduceSum({kept}, {axis, false});
}

DType float_of(DType d) { return is_float(d) || is_complex(d) ? real_part_of(d) : DType::kFloat32; }

// max / min with `initial` and `where`.
template <bool largest>
void expand_extreme(Expansion& e) {
  Value x = e.x(0);
  const Attr& initial = e.attrs["initial"];
  if (e.has(1)) {
    if (initial.none())
      value_error("{}: `where` needs `initial`, the value for no element", e.op.name);
    x = where(e.x(1), x, initial.real());
  }
  Value y = (largest ? kReduceMax : kReduceMin)(
      {x}, {ints(e.attrs["axis"]), e.attrs.boolean("keepdims")});
  if (!initial.none()) y = (largest ? kMaximum : kMinimum)({y, number(y, initial.real())});
  e.result(y);
}
void extreme_type(TypeRuleCtx& c) {
  if (is_complex(c.dtype(0))) c.fail_type("complex numbers have no order");
  Shape s = c.shape(0);
  if (c.has(1) && !mycel::broadcast(s, c.shape(1), &s)) c.fail("the shapes do not broadcast");
  auto axes = reduced_axes(ints(c.attrs["axis"]), s.rank(), c.op.name);
  c.result(c.dtype(0), reduced_shape(s, axes, c.attrs.boolean("keepdims")));
}

}  // namespace

constexpr OpDef kSum = check({
    .name = "sum",
    .doc = "Sum over dim (all axes when None); dtype: the operand is first cast to it. Bools count "
           "in int64.",
    .in = {"input: any"},
    .attr = {"dim: int[]? = None", "keepdim: bool = False", "dtype: dtype? = None"},
    .type =
        [](TypeRuleCtx& c) {
          DType natural = is_bool(c.dtype(0)) ? DType::kInt64 : c.dtype(0);
          named_type(c, "dim", "keepdim",
                     c.attrs["dtype"].none() ? natural : c.attrs.dtype("dtype"));
        },
    .shard = "... -> ... : reduce(dim, sum)",
    .expand =
        [](Expansion& e) {
          Value x = e.attrs["dtype"].none() ? e.x(0) : cast_to(e.x(0), e.attrs.dtype("dtype"));
          e.result(kReduceSum({x}, {ints(e.attrs["dim"]), e.attrs.boolean("keepdim")}));
        },
    .cases = "input[2, 3, 4]; dim = None [] 1 [0, 2]; keepdim = False True; dtype = None float64; "
             "bad dim = 3; "
             "at ([1, 2, 3]) -> 6 | input[]; dim = []",
});

constexpr OpDef kAmax = check({
    .name = "amax",
    .doc = "Largest element over axis (all axes when None), no less than initial; where picks the "
           "elements that count.",
    .in = {"input: real", "where?: bool"},
    .attr = {"axis: int[]? = None", "keepdims: bool = False", "initial: float? = None"},
    .type = extreme_type,
    .shard = "..., ... -> ... : reduce(axis, max)",
    .expand = expand_extreme<true>,
    .cases = "input in distinct(-2, 2); input[2, 3, 4]; where[3, 1]; initial = -9; axis = None 1 "
             "[0, 2]; keepdims = False "
             "True; dtypes float16 float32 float64 int32 int64; at ([1, 5, 2]) -> 5; bad axis = 3 "
             "| without where; "
             "initial = None | input[]; where[]; axis = []",
    .method = "amax",
});

constexpr OpDef kAmin = check({
    .name = "amin",
    .doc = "Smallest element over axis (all axes when None), no more than initial; where picks the "
           "elements that count.",
    .in = {"input: real", "where?: bool"},
    .attr = {"axis: int[]? = None", "keepdims: bool = False", "initial: float? = None"},
    .type = extreme_type,
    .shard = "..., ... -> ... : reduce(axis, min)",
    .expand = expand_extreme<false>,
    .cases = "input in distinct(-2, 2); input[2, 3, 4]; where[3, 1]; initial = 9; axis = None 1 "
             "[0, 2]; keepdims = False "
             "True; dtypes float16 float32 float64 int32 int64; at ([1, 5, 2]) -> 1; bad axis = 3 "
             "| without where; "
             "initial = None | input[]; where[]; axis = []",
    .method = "amin",
});

constexpr OpDef kAminmax = check({
    .name = "aminmax",
    .doc = "Smallest and largest element along axis (all axes when None).",
    .in = {"input: real"},
    .attr = {"axis: int[]? = 0", "keepdims: bool = False"},
    .out = {"min", "max"},
    .type =
        [](TypeRuleCtx& c) {
          named_type(c, "axis", "keepdims", c.dtype(0));
          named_type(c, "axis", "keepdims", c.dtype(0));
        },
    .shard = "... -> ..., ... : reduce(axis, max)",
    .expand =
        [](Expansion& e) {
          Attrs along = {ints(e.attrs["axis"]), e.attrs.boolean("keepdims")};
          e.result(kReduceMin({e.x(0)}, along));
          e.result(kReduceMax({e.x(0)}, along));
        },
    .cases = "input in distinct(-2, 2); input[2, 3, 4]; axis = 0 None -1; keepdims = False True; "
             "at ([1, 5, 2]) -> 1, 5; "
             "bad axis = 3 | input[]; axis = []",
});

constexpr OpDef kNansum = check({
    .name = "nansum",
    .doc = "Sum over axis (all axes when None), NaN taken as 0.",
    .in = {"input: any"},
    .attr = {"axis: int[]? = None", "keepdims: bool = False", "dtype: dtype? = None"},
    .type =
        [](TypeRuleCtx& c) {
          DType natural = is_bool(c.dtype(0)) ? DType::kInt64 : c.dtype(0);
          named_type(c, "axis", "keepdims",
                     c.attrs["dtype"].none() ? natural : c.attrs.dtype("dtype"));
        },
    .shard = "... -> ... : reduce(axis, sum)",
    .expand =
        [](Expansion& e) {
          Value x = e.attrs["dtype"].none() ? e.x(0) : cast_to(e.x(0), e.attrs.dtype("dtype"));
          if (is_float(x.dtype()) || is_complex(x.dtype())) x = where(kIsnan({x}), 0.0, x);
          e.result(kReduceSum({x}, {ints(e.attrs["axis"]), e.attrs.boolean("keepdims")}));
        },
    .cases = "input[2, 3, 4]; axis = None 1 [0, 2]; keepdims = False True; at ([1, nan, 3]) -> 4; "
             "bad axis = 3 | input[]; axis = []",
    .method = "nansum",
});

constexpr OpDef kVar = check({
    .name = "var",
    .doc = "Variance over axis (all axes when None): mean of |x - mean|^2 with divisor n - ddof.",
    .in = {"input: number"},
    .attr = {"axis: int[]? = None", "ddof: int = 0", "keepdims: bool = False"},
    .type = [](TypeRuleCtx& c) { named_type(c, "axis", "keepdims", float_of(c.dtype(0))); },
    .shard = "... -> ... : whole(axis)",
    .expand =
        [](Expansion& e) {
          Attr::Ints axis = ints(e.attrs["axis"]);
          Value v = variance(inexact(e.x(0)), axis, static_cast<double>(e.attrs.integer("ddof")),
                             e.op.name);
          e.result(dropped(v, axis, e.attrs.boolean("keepdims")));
        },
    .cases = "input[2, 3, 4]; axis = None 1 [0, 2]; ddof = 0 1; keepdims = False True; tol 1e-2; "
             "at ([1, 2, 4]) -> 1.5555555555555556; bad axis = 3 | input[]; axis = []; ddof = 0 | "
             "input[5]; ddof = 1; axis = 0; "
             "at ([1, 2, 4]) -> 2.3333333333333335",
    .method = "var",
});

constexpr OpDef kStd = check({
    .name = "std",
    .doc = "Standard deviation over axis (all axes when None): the square root of var.",
    .in = {"input: number"},
    .attr = {"axis: int[]? = None", "ddof: int = 0", "keepdims: bool = False"},
    .type = [](TypeRuleCtx& c) { named_type(c, "axis", "keepdims", float_of(c.dtype(0))); },
    .shard = "... -> ... : whole(axis)",
    .expand =
        [](Expansion& e) {
          Attr::Ints axis = ints(e.attrs["axis"]);
          Value v = variance(inexact(e.x(0)), axis, static_cast<double>(e.attrs.integer("ddof")),
                             e.op.name);
          e.result(dropped(kSqrt({v}), axis, e.attrs.boolean("keepdims")));
        },
    .cases = "input[2, 3, 4]; axis = None 1 [0, 2]; ddof = 0 1; keepdims = False True; tol 1e-2; "
             "at ([1, 2, 4]) -> 1.247219128924647; bad axis = 3",
    .method = "std",
});

namespace {
template <bool root>
void expand_with_mean(Expansion& e) {
  Attr::Ints axis = ints(e.attrs["axis"]);
  Value x = inexact(e.x(0));
  Value v = variance(x, axis, static_cast<double>(e.attrs.integer("ddof")), e.op.name);
  if (root) v = kSqrt({v});
  e.result(dropped(v, axis, e.attrs.boolean("keepdims")));
  e.result(kReduceMean({x}, {axis, e.attrs.boolean("keepdims")}));
}
void with_mean_type(TypeRuleCtx& c) {
  named_type(c, "axis", "keepdims", float_of(c.dtype(0)));
  bool whole = is_int(c.dtype(0));
  named_type(c, "axis", "keepdims", whole ? DType::kFloat32 : c.dtype(0));
}
}  // namespace

constexpr OpDef kVarMean = check({
    .name = "var_mean",
    .doc = "Variance and mean over axis (all axes when None), as var and mean.",
    .in = {"input: number"},
    .attr = {"axis: int[]? = None", "ddof: int = 0", "keepdims: bool = False"},
    .out = {"var", "mean"},
    .type = with_mean_type,
    .shard = "... -> ..., ... : whole(axis)",
    .expand = expand_with_mean<false>,
    .cases = "input[2, 3, 4]; axis = None 1 [0, 2]; ddof = 0 1; keepdims = False True; tol 1e-2; "
             "at ([1, 2, 6]) -> 4.666666666666667, 3; bad axis = 3",
});

constexpr OpDef kStdMean = check({
    .name = "std_mean",
    .doc = "Standard deviation and mean over axis (all axes when None), as std and mean.",
    .in = {"input: number"},
    .attr = {"axis: int[]? = None", "ddof: int = 0", "keepdims: bool = False"},
    .out = {"std", "mean"},
    .type = with_mean_type,
    .shard = "... -> ..., ... : whole(axis)",
    .expand = expand_with_mean<true>,
    .cases = "input[2, 3, 4]; axis = None 1 [0, 2]; ddof = 0 1; keepdims = False True; tol 1e-2; "
             "at ([1, 2, 6]) -> 2.1602468994692869, 3; bad axis = 3",
});

constexpr OpDef kReduceStd = check({
    .name = "reduce_std",
    .doc = "Standard deviation and mean over axis (all axes when empty); unbiased: divisor n - 1.",
    .in = {"input_x: number"},
    .attr = {"axis: int[] = []", "unbiased: bool = True", "keep_dims: bool = False"},
    .out = {"std", "mean"},
    .type =
        [](TypeRuleCtx& c) {
          named_type(c, "axis", "keep_dims", float_of(c.dtype(0)));
          named_type(c, "axis", "keep_dims", is_int(c.dtype(0)) ? DType::kFloat32 : c.dtype(0));
        },
    .shard = "... -> ..., ... : whole(axis)",
    .expand =
        [](Expansion& e) {
          Attr::Ints axis = ints(e.attrs["axis"]);
          Value x = inexact(e.x(0));
          bool keep = e.attrs.boolean("keep_dims");
          e.result(dropped(kSqrt({variance(x, axis, e.attrs.boolean("unbiased"), e.op.name)}), axis,
                           keep));
          e.result(kReduceMean({x}, {axis, keep}));
        },
    .cases = "input_x[2, 3, 4]; axis = [] 1 [0, 2]; unbiased = True False; keep_dims = False True; "
             "tol 1e-2; "
             "at ([1, 2, 6]) -> 2.6457513110645907, 3; bad axis = 3",
    .primitive = "ReduceStd(axis, unbiased, keep_dims)",
    .internal = true,
});

void register_statistics() {
  register_ops({&kSum, &kAmax, &kAmin, &kAminmax, &kNansum, &kVar, &kStd, &kVarMean, &kStdMean,
                &kReduceStd});
}

}  // namespace mycel::ops
