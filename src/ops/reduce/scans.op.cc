// Scans: running sums, products, extremes along one axis, and the linear recurrence behind their
// gradients.
#include <cmath>
#include <limits>

#include "ir/adjoint.h"
#include "ir/expansion.h"
#include "ir/type_rule.h"
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
  return d == DType::kFloat16 || d == DType::kBFloat16 ? DType::kFloat32 : d;
}

void check_axis(TypeRuleCtx& c) {
  int64_t axis = c.attrs.integer("axis");
  if (c.shape(0).rank() > 0) {
    c.axis(axis);
  } else if (axis != 0 && axis != -1) {
    c.fail("axis must be 0 or -1 for a 0-d operand");
  }
}

// Scans of bool count; a dtype may be given.
void scan_type(TypeRuleCtx& c) {
  check_axis(c);
  const Attr& d = c.attrs["dtype"];
  DType natural = is_bool(c.dtype(0)) ? DType::kInt64 : c.dtype(0);
  DType out = d.none() ? natural : d.dtype();
  if (is_bool(out)) c.fail_type("dtype must be a number dtype");
  c.result(out, c.shape(0));
}

template <bool product>
void scan_loops(LoopCtx& c) {
  DType d = computed(c.out_type().dtype);
  bool exclusive = c.attrs.boolean("exclusive");
  Lines lines(c, axis_of(c), {d});
  lines.each([&](LineWalk& w) {
    w.scan(d, product ? 1.0 : 0.0, c.attrs.boolean("reverse"), [&](Lines::At at, Val before) {
      Val x = cast(c.nest.load(c.in(0), at.offset), d);
      Val after = product ? before * x : before + x;
      c.nest.store(c.out(), at.offset, exclusive ? before : after);
      return after;
    });
  });
}

// h[i] = b[i] + a[j] h[i-1], where j is i, or with `shifted` the neighbour i-1; `reverse` runs the
// other way.
void linear_scan_loops(LoopCtx& c) {
  DType d = computed(c.out_type().dtype);
  bool reverse = c.attrs.boolean("reverse"), shifted = c.attrs.boolean("shifted");
  const Shape& s = c.in_type(0).shape;
  int axis = axis_of(c);
  int64_t stride = s.rank() == 0 ? 1 : s.size(axis + 1, s.rank());
  Lines lines(c, axis, {d});
  lines.each([&](LineWalk& w) {
    Val step = c.nest.number(stride), last = c.nest.number((s.rank() == 0 ? 1 : s[axis]) - 1);
    w.scan(d, 0.0, reverse, [&](Lines::At at, Val before) {
      Val from = at.offset;
      if (shifted) {
        // The first element of the walk has no neighbour; it reads itself, times zero.
        Val edge = reverse ? at.position == last : at.position == 0;
        from = select(edge, at.offset, reverse ? at.offset + step : at.offset - step);
      }
      Val h =
          cast(c.nest.load(c.in(1), at.offset), d) + cast(c.nest.load(c.in(0), from), d) * before;
      c.nest.store(c.out(), at.offset, h);
      return h;
    });
  });
}

// v moved by one place along the axis, a zero coming in: forward gives w[i] = v[i-1].
Value shifted_by_one(Value v, int axis, bool forward) {
  int64_t n = v.shape()[axis];
  Value zero = sliced(v, axis, 0, n < 1 ? 0 : 1) * 0.0;
  if (n <= 1) return v * 0.0;
  Value kept = sliced(v, axis, forward ? 0 : 1, n - 1);
  return forward ? kConcat({zero, kept}, {int64_t{axis}}) : kConcat({kept, zero}, {int64_t{axis}});
}

void linear_scan_gradient(Adjoint& a) {
  bool reverse = a.attrs().boolean("reverse"), shifted = a.attrs().boolean("shifted");
  Value coefficients = a.x(0);
  int rank = coefficients.rank();
  // The adjoint runs the other way, with the coefficient of the other neighbour.
  Value lambda =
      kLinearScan({conj_of(coefficients), a.dy()}, {a.attrs()["axis"], !reverse, !shifted});
  a.dx(1) += lambda;
  if (!a.wants(0) || rank == 0) return;
  int axis = normalize_axis(a.attrs().integer("axis"), rank, "linear_scan");
  Value h = conj_of(a.y());
  if (shifted) {
    a.dx(0) += shifted_by_one(lambda, axis, reverse) * h;
  } else {
    a.dx(0) += lambda * shifted_by_one(h, axis, !reverse);
  }
}

void extreme_type(TypeRuleCtx& c) {
  check_axis(c);
  if (is_complex(c.dtype(0))) c.fail_type("complex numbers have no order");
  c.result(DType::kInt64, c.shape(0));
}

// Position of the largest (smallest) element so far; of equal ones the later, once NaN the NaN.
template <bool largest>
void running_index_loops(LoopCtx& c) {
  DType d = computed(c.in_type(0).dtype);
  if (is_bool(d)) d = DType::kUInt8;
  Lines lines(c, axis_of(c), {d, DType::kInt64});
  lines.each([&](LineWalk& w) {
    w.scan2(d, 0.0, DType::kInt64, 0, false, [&](Lines::At at, Val* running) {
      Val x = cast(c.nest.load(c.in(0), at.offset), d);
      Val better = largest ? x >= running[0] : x <= running[0];
      Val take = (at.position == 0) | better | isnan(x);
      running[0] = select(take, x, running[0]);
      running[1] = select(take, at.position, running[1]);
      c.nest.store(c.out(), at.offset, running[1]);
    });
  });
}

extern const OpDef kCummaxIndex, kCumminIndex;

void expand_running(Expansion& e, const OpDef& index) {
  Value i = index({e.x(0)}, {e.attrs["axis"]});
  e.result(e.x(0).rank() == 0 ? e.x(0) : kGatherD({e.x(0), i}, {e.attrs["axis"]}));
  e.result(i);
}

}  // namespace

constexpr OpDef kCumsum = check({
    .name = "cumsum",
    .doc = "Running sum along axis. exclusive: without the element itself; reverse: from the end. "
           "Bools are "
           "counted in int64; float16 and bfloat16 accumulate in float32.",
    .in = {"x: any"},
    .attr = {"axis: int", "dtype: dtype? = None", "exclusive: bool = False",
             "reverse: bool = False"},
    .type = scan_type,
    .shard = "... -> ... : whole(axis)",
    .grad =
        [](Adjoint& a) {
          a.dx(0) += kCumsum({a.dy()}, {a.attrs()["axis"], Attr(), a.attrs()["exclusive"],
                                        !a.attrs().boolean("reverse")});
        },
    .loops = scan_loops<false>,
    .cases =
        "x[2, 3, 4]; axis = 0 1 -1; exclusive = False True; reverse = False True; bad axis = 3; "
        "at ([1, 2, 3]) -> [1, 3, 6] | x[2, 3, 600]; axis = 1 | axis = 0; x[4]; exclusive = True; "
        "reverse = True; "
        "at ([1, 2, 3]) -> [5, 3, 0] | x[]; axis = 0",
    .onnx = "CumSum",
    .primitive = "CumSum(exclusive, reverse)",
    .method = "cumsum",
});

constexpr OpDef kLinearScan = check({
    .name = "linear_scan",
    .doc = "The recurrence h[i] = b[i] + a[i] h[i-1] along axis from h = 0; shifted: with a[i-1]; "
           "reverse: from "
           "the end, neighbours i+1.",
    .in = {"a: inexact", "b: inexact"},
    .attr = {"axis: int", "reverse: bool = False", "shifted: bool = False"},
    .promote = Promote::kCommon,
    .type =
        [](TypeRuleCtx& c) {
          check_axis(c);
          types::broadcast(c);
          if (c.shape(0).known() && c.shape(1).known() && !(c.shape(0) == c.shape(1)))
            c.fail("the shapes differ");
        },
    .shard = "..., ... -> ... : whole(axis)",
    .grad = linear_scan_gradient,
    .loops = linear_scan_loops,
    .cases = "a[2, 3, 4]; b[2, 3, 4]; axis = 0 1 -1; reverse = False True; shifted = False True; "
             "at ([5, 2, 3], [1, 1, 1]) -> [1, 3, 10] | shifted = True; a[3]; b[3]; axis = 0; "
             "at ([5, 2, 3], [1, 1, 1]) -> [1, 6, 13] | shifted = True; reverse = True; a[3]; "
             "b[3]; axis = 0; "
             "at ([5, 2, 3], [1, 1, 1]) -> [9, 4, 1]",
});

constexpr OpDef kCumprod = check({
    .name = "cumprod",
    .doc = "Running product along axis. exclusive: without the element itself; reverse: from the "
           "end. The "
           "gradient is exact where elements are 0.",
    .in = {"input: any"},
    .attr = {"axis: int", "dtype: dtype? = None", "exclusive: bool = False",
             "reverse: bool = False"},
    .type = scan_type,
    .shard = "... -> ... : whole(axis)",
    .grad =
        [](Adjoint& a) {
          // dx[i] = (product before i) * S[i], S[i] = dy[i] + x[i+1] S[i+1]: no division. Without
          // the element itself, S starts with dy one place on.
          if (a.x_type(0).shape.rank() == 0) {
            if (!a.attrs().boolean("exclusive")) a.dx(0) += a.dy();
            return;
          }
          bool reverse = a.attrs().boolean("reverse");
          int axis = normalize_axis(a.attrs().integer("axis"), a.x_type(0).shape.rank(), "cumprod");
          Value x = cast_to(a.x(0), a.y_type().dtype), dy = a.dy();
          if (a.attrs().boolean("exclusive")) dy = shifted_by_one(dy, axis, reverse);
          Value before = kCumprod({x}, {a.attrs()["axis"], Attr(), true, reverse});
          Value tail = kLinearScan({conj_of(x), dy}, {a.attrs()["axis"], !reverse, true});
          a.dx(0) += conj_of(before) * tail;
        },
    .loops = scan_loops<true>,
    .cases = "input[2, 3, 4]; axis = 0 1 -1; exclusive = False True; reverse = False True; bad "
             "axis = 3; "
             "at ([1, 2, 3]) -> [1, 2, 6] | input in {0, 1, 2}; input[5] [3, 4]; axis = 0 | "
             "input[]; axis = 0",
    .primitive = "CumProd(exclusive, reverse)",
    .method = "cumprod",
});

namespace {
constexpr OpDef kCummaxIndex = check({
    .name = "cummax_index",
    .doc = "Position of the largest element so far along axis.",
    .in = {"x: any"},
    .attr = {"axis: int"},
    .type = extreme_type,
    .shard = "... -> ... : whole(axis)",
    .grad = no_gradient("positions do not change smoothly"),
    .loops = running_index_loops<true>,
    .cases = "dtypes int32 int64 uint8 float16 float32 float64; x[2, 3, 4]; axis = 0 1 -1; "
             "at ([1, 3, 2, 3]) -> [0, 1, 1, 3]; at ([1, nan, 5]) -> [0, 1, 1]",
    .internal = true,
});
constexpr OpDef kCumminIndex = check({
    .name = "cummin_index",
    .doc = "Position of the smallest element so far along axis.",
    .in = {"x: any"},
    .attr = {"axis: int"},
    .type = extreme_type,
    .shard = "... -> ... : whole(axis)",
    .grad = no_gradient("positions do not change smoothly"),
    .loops = running_index_loops<false>,
    .cases = "dtypes int32 int64 uint8 float16 float32 float64; x[2, 3, 4]; axis = 0 1 -1; "
             "at ([3, 1, 2, 1]) -> [0, 1, 1, 3]; at ([1, nan, 0]) -> [0, 1, 1]",
    .internal = true,
});
}  // namespace

constexpr OpDef kCummax = check({
    .name = "cummax",
    .doc = "Largest element so far along axis, and its position (of equal ones the last); NaN from "
           "the first NaN on.",
    .in = {"input: real"},
    .attr = {"axis: int"},
    .out = {"values", "indices"},
    .type =
        [](TypeRuleCtx& c) {
          check_axis(c);
          c.result(c.dtype(0), c.shape(0));
          c.result(DType::kInt64, c.shape(0));
        },
    .shard = "... -> ..., ... : whole(axis)",
    .expand = [](Expansion& e) { expand_running(e, kCummaxIndex); },
    .cases = "input in distinct(-2, 2); dtypes int32 int64 uint8 float16 float32 float64; input[2, "
             "3, 4]; axis = 0 1 -1; "
             "bad axis = 3; at ([1, 3, 2]) -> [1, 3, 3], [0, 1, 1] | input[]; axis = 0",
    .primitive = "Cummax(axis)",
    .method = "cummax",
});

constexpr OpDef kCummin = check({
    .name = "cummin",
    .doc = "Smallest element so far along axis, and its position (of equal ones the last), "
           "int32; NaN from the first NaN on.",
    .in = {"input: real"},
    .attr = {"axis: int"},
    .out = {"values", "indices"},
    .type =
        [](TypeRuleCtx& c) {
          check_axis(c);
          c.result(c.dtype(0), c.shape(0));
          c.result(DType::kInt32, c.shape(0));
        },
    .shard = "... -> ..., ... : whole(axis)",
    .expand =
        [](Expansion& e) {
          expand_running(e, kCumminIndex);
          e.results[1] = cast_to(e.results[1], DType::kInt32);
        },
    .cases = "input in distinct(-2, 2); dtypes int32 int64 uint8 float16 float32 float64; input[2, "
             "3, 4]; axis = 0 1 -1; "
             "bad axis = 3; at ([3, 1, 2]) -> [3, 1, 1], [0, 1, 1] | input[]; axis = 0",
    .primitive = "Cummin(axis)",
    .method = "cummin",
});

constexpr OpDef kCumulativeLogsumexp = check({
    .name = "cumulative_logsumexp",
    .doc =
        "Running log(sum(e^x)) along axis, without overflow; exclusive and reverse as in cumsum.",
    .in = {"x: float"},
    .attr = {"axis: int", "exclusive: bool = False", "reverse: bool = False"},
    .type =
        [](TypeRuleCtx& c) {
          check_axis(c);
          types::same_as_first(c);
        },
    .shard = "... -> ... : whole(axis)",
    .grad =
        [](Adjoint& a) {
          // dx[i] = e^x[i] * sum over later k of dy[k] e^-y[k]; scaled by the largest |y| this
          // stays finite for the usual ranges. Sums without an element (-inf) carry nothing.
          Value x = a.x(0), y = a.y();
          Value weight = where(kIsfinite({y}), a.dy() * kExp({-y}), 0.0);
          Value sums = kCumsum({weight}, {a.attrs()["axis"], Attr(), a.attrs()["exclusive"],
                                          !a.attrs().boolean("reverse")});
          a.dx(0) += kExp({x}) * sums;
        },
    .loops =
        [](LoopCtx& c) {
          DType d = computed(c.out_type().dtype);
          bool exclusive = c.attrs.boolean("exclusive");
          Lines lines(c, axis_of(c), {d});
          lines.each([&](LineWalk& w) {
            w.scan(d, -HUGE_VAL, c.attrs.boolean("reverse"), [&](Lines::At at, Val before) {
              Val x = c.nest.load(c.in(0), at.offset);
              Val sum = max(before, x) + log1p(exp(-abs(before - x)));
              Val after = select(before == constant(before, -HUGE_VAL), x,
                                 select(x == constant(x, -HUGE_VAL), before, sum));
              c.nest.store(c.out(), at.offset, exclusive ? before : after);
              return after;
            });
          });
        },
    .cases = "x[2, 3, 4]; axis = 0 1 -1; reverse = False True; bad axis = 3; "
             "at ([0, 0, 0]) -> [0, 0.69314718055994531, 1.0986122886681098]; at ([-inf, 1]) -> "
             "[-inf, 1] | x[]; axis = 0 | exclusive = "
             "True; at ([0, 0, 0]) -> [-inf, 0, 0.69314718055994531]; skip grad: the first sum is "
             "-inf; skip grad2: as for "
             "grad",
    .primitive = "CumulativeLogsumexp(exclusive, reverse)",
});

void register_scans() {
  register_ops({&kCumsum, &kLinearScan, &kCumprod, &kCummaxIndex, &kCumminIndex, &kCummax, &kCummin,
                &kCumulativeLogsumexp});
}

}  // namespace mycel::ops
