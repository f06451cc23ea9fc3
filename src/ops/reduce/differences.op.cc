// Differences of neighbours along an axis, and the integral by trapezoids that is made of them.
#include <limits>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using namespace ir;  // NOLINT: the vocabulary of records

namespace {

// All but the first (head: the last) element of an axis; its size need not be known.
Value without(Value x, int axis, bool head) {
  Attr::Ints begin(x.rank(), 0), end(x.rank(), std::numeric_limits<int64_t>::max());
  (head ? end : begin)[axis] = head ? -1 : 1;
  return kBasicSlice({x}, {begin, end, Attr::Ints(x.rank(), 1)});
}
Value steps(Value x, int axis) { return without(x, axis, false) - without(x, axis, true); }

// A number becomes one slice of x along the axis; a tensor must have the dims of x.
Value edge(const Expansion& e, Value v, Value x, int axis) {
  if (v.rank() == 0) {
    Shape s = x.shape();
    s.set(axis, 1);
    if (!s.known())
      value_error("diff: a number can only be put before or after a known shape, got {}",
                  x.type().str());
    return kBroadcastTo({v}, {Attr(s)});
  }
  if (v.rank() != x.rank())
    value_error("{}: prepend and append must have {} dims or none, got {}", e.op.name, x.rank(),
                v.type().str());
  return v;
}

void expand_diff(Expansion& e) {
  Value x = e.x(0);
  if (x.rank() == 0) value_error("diff: the operand needs a dim, got {}", x.type().str());
  int axis = normalize_axis(e.attrs.integer("axis"), x.rank(), "diff");
  int64_t n = e.attrs.integer("n");
  if (n < 0) value_error("diff: n must not be negative, got {}", n);
  if (n == 0) return e.result(x);
  std::vector<Value> parts;
  if (e.has(1)) parts.push_back(edge(e, e.x(1), x, axis));
  parts.push_back(x);
  if (e.has(2)) parts.push_back(edge(e, e.x(2), x, axis));
  if (parts.size() > 1) x = kConcat(parts, {static_cast<int64_t>(axis)});
  for (int64_t i = 0; i < n && x.shape()[axis] != 0; ++i) x = steps(x, axis);
  e.result(x);
}

void expand_trapz(Expansion& e) {
  Value y = e.x(0);
  if (y.rank() == 0) value_error("trapz: the operand needs a dim, got {}", y.type().str());
  if (!is_float(y.dtype()) && !is_complex(y.dtype())) y = kCast({y}, {DType::kFloat32});
  int axis = normalize_axis(e.attrs.integer("dim"), y.rank(), "trapz");
  Value pair = without(y, axis, false) + without(y, axis, true);
  if (e.has(1)) {
    Value x = cast_to(e.x(1), y.dtype());
    if (x.rank() == 0) value_error("trapz: x needs a dim, got {}", x.type().str());
    // A vector lies along the axis of y; otherwise x broadcasts with y.
    Value width =
        steps(x, x.rank() == 1 ? 0 : normalize_axis(e.attrs.integer("dim"), x.rank(), "trapz"));
    for (int d = axis + 1; x.rank() == 1 && d < y.rank(); ++d) width = kExpandDims({width}, {-1});
    pair = pair * width;
  } else {
    pair = pair * e.attrs.real("dx");
  }
  e.result(kReduceSum({pair}, {Attr::Ints{axis - y.rank()}, false}) * 0.5);
}

}  // namespace

constexpr OpDef kDiff = check({
    .name = "diff",
    .doc = "The n-th differences of neighbours along axis, x[i + 1] - x[i] n times; prepend and "
           "append (a number or a tensor) are joined to x first.",
    .in = {"x: number", "prepend?: number", "append?: number"},
    .attr = {"n: int = 1", "axis: int = -1"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_diff,
    .cases = "x[3, 4]; prepend[3, 2] []; append[3, 1]; n = 1 0 2; axis = -1; bad n = -1; bad axis "
             "= 2; bad append[3]; skip zero_size: sizes belong together; skip scalar: a dim is "
             "needed | x[4, 3]; without prepend; without append; n = 1 5; axis = 0",
});

constexpr OpDef kTrapz = check({
    .name = "trapz",
    .doc = "The integral of y along dim by the trapezoid rule, at the points x (a vector, or a "
           "tensor that broadcasts with y) or at distances dx. Integers give float32.",
    .in = {"y: number", "x?: number"},
    .attr = {"dx: float = 1", "dim: int = -1"},
    .shard = "none",
    .expand = expand_trapz,
    .cases = "y[3, 4]; x[4] [3, 4] [1, 4]; dx = 1 0.5; dim = -1; bad dim = 2; bad x[3]; bad x[]; "
             "skip zero_size: sizes belong together; skip scalar: a dim is needed; skip dtypes: "
             "the result has the dtype of y | y[4, 3]; x[4]; dim = 0; without x",
});

void register_differences() { register_ops({&kDiff, &kTrapz}); }

}  // namespace mycel::ops
