// Tensors whose elements follow from their position.
#include <cmath>

#include "ir/expansion.h"
#include "ir/loop_rule.h"
#include "ir/type_rule.h"
#include "ops/shape/shape.h"
#include "ops/value.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::LoopCtx;
using ir::no_gradient;
using ir::TypeRuleCtx;
using loops::Val;

namespace {

constexpr const char* kNoOperand = "it has no operand to differentiate";
constexpr int64_t kChunk = 4096;

// Stores value(i) at i, for i in [0, size).
void by_position(LoopCtx& c, int64_t size, const std::function<Val(Val)>& value) {
  Val n = c.nest.number(size);
  c.nest.parallel((size + kChunk - 1) / kChunk, kChunk, [&](Val chunk) {
    Val start = chunk * kChunk;
    c.nest.loop(min(n - start, kChunk), loops::LoopKind::kVector,
                [&](Val i) { c.nest.store(c.out(), start + i, value(start + i)); });
  });
}

bool whole(double v) { return v == std::floor(v) && std::abs(v) < 0x1p53; }

int64_t arange_size(TypeRuleCtx& c) {
  double start = c.attrs.real("start"), end = c.attrs.real("end"), step = c.attrs.real("step");
  if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step))
    c.fail("start, end and step must be finite");
  if (step == 0) c.fail("step must not be 0");
  double count = std::ceil((end - start) / step);
  if (count > 0x1p62) c.fail("there would be {} elements", count);
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

void arange_type(TypeRuleCtx& c) {
  DType d = c.attrs.dtype("dtype");
  if (is_bool(d)) c.fail("dtype must be a number type");
  c.result(d, {arange_size(c)});
}

// start + i·step, computed in double precision (integers exactly) and rounded once.
void arange_loops(LoopCtx& c) {
  double start = c.attrs.real("start"), step = c.attrs.real("step");
  DType d = c.out_type().dtype;
  if (is_int(d) && whole(start) && whole(step)) {
    Val from = c.nest.number(static_cast<int64_t>(start)),
        by = c.nest.number(static_cast<int64_t>(step));
    return by_position(c, c.out_type().shape.size(), [&](Val i) { return from + i * by; });
  }
  Val from = c.nest.number(start, DType::kFloat64), by = c.nest.number(step, DType::kFloat64);
  by_position(c, c.out_type().shape.size(), [&](Val i) {
    Val v = from + cast(i, DType::kFloat64) * by;
    return is_complex(d)
               ? make_complex(cast(v, real_part_of(d)), c.nest.literal(real_part_of(d), 0.0))
               : v;
  });
}

void linspace_type(TypeRuleCtx& c) {
  int64_t steps = c.attrs.integer("steps");
  if (steps < 0) c.fail("steps must not be negative, got {}", steps);
  if (c.dtype(0) != c.dtype(1)) c.fail_type("start and end must have one dtype");
  Shape s;
  if (!mycel::broadcast(c.shape(0), c.shape(1), &s)) c.fail("start and end do not broadcast");
  if (s.rank() != 0) c.fail("start and end must be scalars");
  c.result(c.dtype(0), {steps});
}

// Counted from the nearer end, so that both ends are hit exactly.
void linspace_loops(LoopCtx& c) {
  int64_t steps = c.attrs.integer("steps");
  Val last = c.nest.number(steps > 1 ? steps - 1 : 1), half = c.nest.number(steps / 2);
  DType d = c.out_type().dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  by_position(c, steps, [&](Val i) {
    Val a = cast(c.nest.load(c.in(0), c.nest.index(0)), d),
        b = cast(c.nest.load(c.in(1), c.nest.index(0)), d);
    Val step = (b - a) / cast(last, d);
    Val back = b - cast(last - i, d) * step;
    return select(i <= half && i < last, a + cast(i, d) * step, back);
  });
}

void linspace_grad(ir::Adjoint& a) {
  int64_t steps = a.attrs().integer("steps");
  double last = steps > 1 ? static_cast<double>(steps - 1) : 1;
  DType d = a.y_type().dtype;
  ir::Value at =
      a.graph().add(op_of(kArange), {}, {0.0, static_cast<double>(steps), 1.0, d})->out() / last;
  if (a.wants(0)) a.dx(0) += a.dy() * (1.0 - at);
  if (a.wants(1)) a.dx(1) += a.dy() * at;
}

void eye_type(TypeRuleCtx& c) {
  int64_t n = c.attrs.integer("n");
  const Attr& m = c.attrs["m"];
  if (n < 0 || (!m.none() && m.integer() < 0)) c.fail("n and m must not be negative");
  c.result(c.attrs.dtype("dtype"), {n, m.none() ? n : m.integer()});
}

void eye_loops(LoopCtx& c) {
  Val columns = c.nest.number(c.out_type().shape[1]);
  c.nest.parallel(c.out_type().shape[0], c.out_type().shape[1], [&](Val row) {
    c.nest.loop(columns, loops::LoopKind::kVector, [&](Val column) {
      Val one = cast(row == column, DType::kInt32);
      DType d = c.out_type().dtype, part = real_part_of(d);
      c.nest.store(c.out(), row * columns + column,
                   is_complex(d) ? make_complex(cast(one, part), c.nest.literal(part, 0.0)) : one);
    });
  });
}

}  // namespace

constexpr OpDef kArange = check({
    .name = "arange",
    .doc = "start, start + step, … up to but without end: ceil((end - start) / step) elements.",
    .attr = {"start: float", "end: float", "step: float = 1", "dtype: dtype = int64"},
    .type = arange_type,
    .shard = "-> none",
    .grad = no_gradient(kNoOperand),
    .loops = arange_loops,
    .cases = "start = 0 2.5 -3; end = 7; step = 1 0.75; dtype = int64 float32 float64 int8 | start "
             "= 5; end = -5; step = -2; "
             "dtype = int32; bad step = 0.0",
    .primitive = "Range",
    .alias = "range",
});

constexpr OpDef kLinspace = check({
    .name = "linspace",
    .doc = "`steps` numbers at equal distances from start to end, both included.",
    .in = {"start: float[]", "end: float[]"},
    .attr = {"steps: int"},
    .type = linspace_type,
    .shard = "-> none",
    .grad = linspace_grad,
    .loops = linspace_loops,
    .cases = "start[]; end[]; steps = 1 2 7; bad steps = -1; bad start[2]; skip zero_size: scalars "
             "are needed; skip dtypes: "
             "both have one dtype",
    .primitive = "LinSpace",
});

constexpr OpDef kEye = check({
    .name = "eye",
    .doc = "An n by m matrix (square without m) with ones on the diagonal and zeros elsewhere.",
    .attr = {"n: int", "m: int? = None", "dtype: dtype = float32"},
    .type = eye_type,
    .shard = "-> none",
    .grad = no_gradient(kNoOperand),
    .loops = eye_loops,
    .cases = "n = 0 3; m = None 2 5; dtype = float32 int8 bool complex64 float16; bad n = -1",
    .primitive = "Eye",
});

}  // namespace mycel::ops
