#include "ops/reduce/softmax_loops.h"

#include <cmath>

#include "ops/reduce/lines.h"

namespace mycel::ops {

using loops::LoopKind;
using loops::Nest;
using loops::Val;

namespace {

DType computed(DType d) {
  return d == DType::kFloat16 || d == DType::kBFloat16 ? DType::kFloat32 : d;
}

// The accuracy that the result keeps; x is brought to it before anything is computed.
DType work_dtype(ir::LoopCtx& c) { return computed(c.out_type().dtype); }

Val plus(Val a, Val b) { return a + b; }
Val larger(Val a, Val b) { return max(a, b); }

template <bool log>
void forward(ir::LoopCtx& c) {
  DType d = work_dtype(c);
  Lines lines(c, axis_of(c), {d, d, d});
  lines.each([&](LineWalk& w) {
    auto x = [&](Lines::At at) { return cast(c.nest.load(c.in(0), at.offset), d); };
    auto top = w.fold(d, -HUGE_VAL, x, larger);
    if (log) {
      auto sum = w.fold(d, 0.0, [&](Lines::At at) { return exp(x(at) - top(at)); }, plus);
      auto shift = w.map(d, [&](Lines::At at) { return top(at) + loops::log(sum(at)); });
      w.write(c.out(), [&](Lines::At at) { return x(at) - shift(at); });
    } else if (c.out_type().dtype == d) {
      // The exponentials wait in the result for their sum.
      auto sum = w.fold(
          d, 0.0,
          [&](Lines::At at) {
            Val e = exp(x(at) - top(at));
            c.nest.store(c.out(), at.offset, e);
            return e;
          },
          plus);
      auto scale = w.map(d, [&](Lines::At at) { return 1 / sum(at); });
      w.write(c.out(), [&](Lines::At at) { return c.nest.load(c.out(), at.offset) * scale(at); });
    } else {
      auto sum = w.fold(d, 0.0, [&](Lines::At at) { return exp(x(at) - top(at)); }, plus);
      auto scale = w.map(d, [&](Lines::At at) { return 1 / sum(at); });
      w.write(c.out(), [&](Lines::At at) { return exp(x(at) - top(at)) * scale(at); });
    }
  });
}

}  // namespace

void softmax_loops(ir::LoopCtx& c) { forward<false>(c); }
void log_softmax_loops(ir::LoopCtx& c) { forward<true>(c); }

void softmax_grad_loops(ir::LoopCtx& c) {
  DType d = work_dtype(c);
  Lines lines(c, axis_of(c), {d});
  lines.each([&](LineWalk& w) {
    auto y = [&](Lines::At at) { return c.nest.load(c.in(0), at.offset); };
    auto dy = [&](Lines::At at) { return c.nest.load(c.in(1), at.offset); };
    auto sum = w.fold(d, 0.0, [&](Lines::At at) { return y(at) * dy(at); }, plus);
    w.write(c.out(), [&](Lines::At at) { return y(at) * (dy(at) - sum(at)); });
  });
}

void log_softmax_grad_loops(ir::LoopCtx& c) {
  DType d = work_dtype(c);
  Lines lines(c, axis_of(c), {d});
  lines.each([&](LineWalk& w) {
    auto y = [&](Lines::At at) { return c.nest.load(c.in(0), at.offset); };
    auto dy = [&](Lines::At at) { return c.nest.load(c.in(1), at.offset); };
    auto sum = w.fold(d, 0.0, dy, plus);
    w.write(c.out(), [&](Lines::At at) { return dy(at) - exp(y(at)) * sum(at); });
  });
}

}  // namespace mycel::ops
