#include "ops/image/resample_loops.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace mycel::ops {
namespace {

using loops::Buf;
using loops::LoopKind;
using loops::Nest;
using loops::Val;
using loops::Var;

// One input element and its weight; without one it is copied.
struct Tap {
  Val index, weight;
};

// Weights are computed in double for double operands, otherwise in float.
class Taps {
 public:
  Taps(Nest& nest, const ResampleRule& rule, const ResampleSizes& s, DType stored)
      : nest_(nest), rule_(rule), real_(stored == DType::kFloat64 ? stored : DType::kFloat32) {
    n = nest.number(s.n), m = nest.number(s.m);
    bool corners = rule.coordinates == "align_corners";
    double to = static_cast<double>(s.m), from = static_cast<double>(s.n);
    double step = corners          ? (s.m > 1 ? (from - 1) / (to - 1) : 0)
                  : rule.scale > 0 ? 1 / rule.scale
                                   : from / std::max(to, 1.0);
    step_ = nest.number(step, real_);
  }

  bool area() const { return rule_.method == "area"; }

  // The taps of output element i, except for areas.
  std::vector<Tap> of(Val i) const {
    if (rule_.method == "nearest") return {{nearest(i), {}}};
    Val at = position(i);
    return rule_.method == "linear" ? linear(at) : cubic(at);
  }

  // Overlaps of [i step, (i + 1) step) with the input elements, over step.
  void each_overlap(Val i, const std::function<void(Tap)>& body) const {
    Val start = cast(i, real_) * step_, end = start + step_;
    Val first = cast(floor(start), DType::kInt64), last = cast(ceil(end), DType::kInt64);
    nest_.loop(last - first, LoopKind::kSequential, [&](Val t) {
      Val at = first + t, low = cast(at, real_);
      Val share = (min(low + 1.0, end) - max(low, start)) / step_;
      body({min(at, n - 1), share});
    });
  }

  Val n, m;

 private:
  Val position(Val i) const {
    Val x = cast(i, real_);
    return rule_.coordinates == "half_pixel" ? (x + 0.5) * step_ - 0.5 : x * step_;
  }

  // Whole numbers where the ratio is one of sizes: rounding must not move a border.
  Val nearest(Val i) const {
    bool half = rule_.coordinates == "half_pixel";
    if (rule_.coordinates == "align_corners") {
      Val gaps = max(m - 1, 1);
      return min((2 * i * (n - 1) + gaps) / (2 * gaps), n - 1);
    }
    if (rule_.scale > 0) {
      Val at = (cast(i, real_) + (half ? 0.5 : 0.0)) * step_;
      return min(cast(floor(at), DType::kInt64), n - 1);
    }
    return half ? (2 * i + 1) * n / (2 * m) : i * n / m;
  }

  std::vector<Tap> linear(Val at) const {
    at = max(at, 0.0);
    Val low = min(cast(floor(at), DType::kInt64), n - 1);
    Val w = at - cast(low, real_);
    return {{low, 1.0 - w}, {min(low + 1, n - 1), w}};
  }

  std::vector<Tap> cubic(Val at) const {
    Val base = floor(at), t = at - base, first = cast(base, DType::kInt64) - 1;
    double a = rule_.cubic;
    auto inner = [&](Val d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
    auto outer = [&](Val d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    std::vector<Val> w = {outer(t + 1.0), inner(t), inner(1.0 - t), outer(2.0 - t)};
    if (rule_.drop_outside) {
      Val total;
      for (int k = 0; k < 4; ++k) {
        Val inside = first + k >= 0 && first + k < n;
        w[k] = select(inside, w[k], constant(w[k], 0.0));
        total = k ? total + w[k] : w[k];
      }
      for (Val& v : w) v = v / total;
    }
    std::vector<Tap> taps;
    for (int k = 0; k < 4; ++k) taps.push_back({max(min(first + k, n - 1), 0), w[k]});
    return taps;
  }

  Nest& nest_;
  const ResampleRule& rule_;
  DType real_;
  Val step_;
};

Val weighted(Val v, const Tap& tap) {
  return tap.weight.n ? cast(v, tap.weight.dtype()) * tap.weight : v;
}

}  // namespace

void emit_resample(Nest& nest, const ResampleRule& rule, const ResampleSizes& s, Buf x, Buf y) {
  Taps taps(nest, rule, s, x.dtype);
  Val inner = nest.number(s.inner);
  auto element = [&](Val row, Val i, Val k) {
    Val start = row * taps.n;
    Var sum = nest.var(nest.literal(x.dtype == DType::kFloat64 ? x.dtype : DType::kFloat32, 0.0));
    taps.each_overlap(
        i, [&](Tap tap) { sum += weighted(nest.load(x, (start + tap.index) * inner + k), tap); });
    return sum.get();
  };
  auto fixed = [&](Val row, const std::vector<Tap>& list, Val k) {
    Val start = row * taps.n, sum;
    for (const Tap& tap : list) {
      Val part = weighted(nest.load(x, (start + tap.index) * inner + k), tap);
      sum = sum.n ? sum + part : part;
    }
    return sum;
  };
  if (s.inner == 1) {  // along the last axis: one output row at a time
    nest.parallel(s.outer, std::max<int64_t>(1, s.m * 4), [&](Val row) {
      nest.loop(taps.m, taps.area() ? LoopKind::kSequential : LoopKind::kVector, [&](Val i) {
        Val zero = nest.index(0);
        nest.store(y, row * taps.m + i,
                   taps.area() ? element(row, i, zero) : fixed(row, taps.of(i), zero));
      });
    });
    return;
  }
  nest.parallel(s.outer * s.m, std::max<int64_t>(1, s.inner * 2), [&](Val task) {
    Val row = task / taps.m, i = task % taps.m;
    std::vector<Tap> list;
    if (!taps.area()) list = taps.of(i);
    nest.loop(inner, taps.area() ? LoopKind::kSequential : LoopKind::kVector, [&](Val k) {
      nest.store(y, task * inner + k, taps.area() ? element(row, i, k) : fixed(row, list, k));
    });
  });
}

void emit_resample_dx(Nest& nest, const ResampleRule& rule, const ResampleSizes& s, Buf dy,
                      Buf dx) {
  Taps taps(nest, rule, s, dy.dtype);
  // One task owns all rows of a stretch of columns, and so of the elements that it adds to.
  constexpr int64_t kColumns = 256;
  int64_t blocks = (s.inner + kColumns - 1) / kColumns;
  Val inner = nest.number(s.inner), stretches = nest.number(blocks);
  nest.parallel(
      s.outer * blocks, std::max<int64_t>(1, s.m * 2 * std::min(s.inner, kColumns)), [&](Val task) {
        Val row = task / stretches, from = task % stretches * kColumns;
        Val count = min(inner - from, kColumns);
        auto at = [&](Val size, Val i, Val k) { return (row * size + i) * inner + from + k; };
        nest.loop(taps.n, LoopKind::kSequential, [&](Val i) {
          nest.loop(count, LoopKind::kVector, [&](Val k) {
            nest.store(dx, at(taps.n, i, k), nest.literal(DType::kFloat32, 0.0));
          });
        });
        auto add = [&](Val i, Tap tap) {
          nest.loop(count, LoopKind::kVector, [&](Val k) {
            Val v = nest.load(dy, at(taps.m, i, k));
            nest.accumulate(dx, at(taps.n, tap.index, k), weighted(v, tap));
          });
        };
        nest.loop(taps.m, LoopKind::kSequential, [&](Val i) {
          if (taps.area()) return taps.each_overlap(i, [&](Tap tap) { add(i, tap); });
          for (const Tap& tap : taps.of(i)) add(i, tap);
        });
      });
}

}  // namespace mycel::ops
