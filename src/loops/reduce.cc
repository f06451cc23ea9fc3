#include "loops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace mycel::loops {
namespace {

constexpr int64_t kUnrolled = 8;      // n up to this is written out
constexpr int64_t kChunk = 16384;     // elements of one partial result
constexpr int64_t kEnoughTasks = 64;  // below this many, long reductions are cut into chunks
constexpr int64_t kLanes = 1024;      // inner results that one task carries along
constexpr int64_t kShort = 256;       // loops below this are not interleaved
constexpr int64_t kRowsAtOnce = 4;    // rows added per pass over the carried results

using Tuple = std::vector<Val>;

class Builder {
 public:
  Builder(const Reduction& r, int64_t outer, int64_t n, int64_t inner)
      : r_(r), outer_(outer), n_(n), inner_(inner), nest_(r.name) {
    for (const auto& in : r.in) inputs_.push_back(nest_.input(in.dtype));
    for (DType t : r.out) outputs_.push_back(nest_.output(t));
  }

  Nest build() && {
    if (n_ <= kUnrolled) {
      unrolled();
    } else if (inner_ == 1) {
      outer_ < kEnoughTasks&& n_ >= 2 * kChunk ? rows_in_chunks() : rows();
    } else {
      columns();
    }
    return std::move(nest_);
  }

 private:
  // -- the formula
  // ---------------------------------------------------------------------------------
  Tuple start() {
    Tuple t;
    for (const auto& a : r_.accumulators) {
      double v = a.start;
      if (is_int(a.dtype) && std::isinf(v)) {  // the extreme value of the type
        t.push_back(extreme(a.dtype, v > 0));
      } else {
        t.push_back(nest_.literal(a.dtype, v));
      }
    }
    return t;
  }
  Val extreme(DType t, bool largest) {
    const int bits = 8 * static_cast<int>(size_of(t));
    if (is_unsigned_int(t))
      return nest_.literal(t, largest ? int64_t(~uint64_t{0} >> (64 - bits)) : int64_t{0});
    const int64_t top = std::numeric_limits<int64_t>::max() >> (64 - bits);
    return nest_.literal(t, largest ? top : -top - 1);
  }

  Tuple combine(const Tuple& a, const Tuple& b) {
    Tuple t(a.size());
    r_.combine(a, b, t);
    return t;
  }

  // Per-result inputs at result `at`; the others stay empty.
  Tuple fixed(Val at) {
    Tuple in(inputs_.size());
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (r_.in[k].per_result) in[k] = nest_.load(inputs_[k], at);
    }
    return in;
  }
  // The lifted element `position` along n, at linear offset `at`.
  Tuple lift(Tuple in, Val at, Val position) {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (!r_.in[k].per_result) in[k] = nest_.load(inputs_[k], at);
    }
    Tuple t(r_.accumulators.size());
    r_.lift(in, position, t);
    for (size_t k = 0; k < t.size(); ++k) {
      MYCEL_CHECK(t[k].n && t[k].dtype() == r_.accumulators[k].dtype,
                  "{}: accumulator {} is lifted to another dtype", r_.name, k);
    }
    return t;
  }
  void finish(const Tuple& t, const Tuple& in, Val at) {
    Tuple out(outputs_.size());
    r_.finish(t, in, count(), out);
    for (size_t k = 0; k < out.size(); ++k) nest_.store(outputs_[k], at, out[k]);
  }
  Val count() {
    if (!count_.n) count_ = nest_.number(n_);
    return count_;
  }

  std::vector<Var> variables() {
    std::vector<Var> vars;
    for (const Val& v : start()) vars.push_back(nest_.var(v));
    return vars;
  }
  static Tuple read(const std::vector<Var>& vars) { return {vars.begin(), vars.end()}; }
  void add(const std::vector<Var>& vars, const Tuple& t) {
    const Tuple next = combine(read(vars), t);
    for (size_t k = 0; k < vars.size(); ++k) vars[k].set(next[k]);
  }

  std::vector<Buf> scratch(int64_t elements) {
    std::vector<Buf> bufs;
    for (const auto& a : r_.accumulators) bufs.push_back(nest_.scratch(a.dtype, elements));
    return bufs;
  }
  Tuple load(const std::vector<Buf>& bufs, Val at) {
    Tuple t;
    for (const Buf& b : bufs) t.push_back(nest_.load(b, at));
    return t;
  }
  void store(const std::vector<Buf>& bufs, Val at, const Tuple& t) {
    for (size_t k = 0; k < bufs.size(); ++k) nest_.store(bufs[k], at, t[k]);
  }

  static Trips trips(int64_t n) { return n < kShort ? Trips::kFew : Trips::kMany; }

  // -- the shapes
  // ----------------------------------------------------------------------------------

  // Few elements per result: no inner loop, so that the loop over results is the vector loop.
  void unrolled() {
    auto result = [&](Val at, Val base, Val step) {
      const Tuple in = fixed(at);
      Tuple t = start();
      for (int64_t k = 0; k < n_; ++k) {
        const Tuple e = lift(in, base + step * k, nest_.index(k));
        t = k == 0 ? e : combine(t, e);
      }
      finish(t, in, at);
    };
    if (inner_ == 1) {
      return nest_.parallel(outer_, 0, [&](Val i) { result(i, i * n_, nest_.index(1)); });
    }
    const Val inner = nest_.number(inner_);
    if (outer_ == 1) return nest_.parallel(inner_, 0, [&](Val j) { result(j, j, inner); });
    nest_.parallel(outer_, 0, [&](Val i) {
      const Val first = i * inner, base = first * n_;
      nest_.loop(inner, LoopKind::kVector, [&](Val j) { result(first + j, base + j, inner); });
    });
  }

  void rows() {
    const Val n = count();
    nest_.parallel(outer_, 0, [&](Val i) {
      const Tuple in = fixed(i);
      const Val base = i * n;
      const auto vars = variables();
      nest_.loop(n, LoopKind::kReduce, [&](Val j) { add(vars, lift(in, base + j, j)); }, trips(n_));
      finish(read(vars), in, i);
    });
  }

  void rows_in_chunks() {
    const int64_t chunks = (n_ - 1) / kChunk + 1;
    const auto partial = scratch(outer_ * chunks);
    const Val n = count(), per_row = nest_.number(chunks);
    nest_.parallel(outer_ * chunks, 0, [&](Val task) {
      const Val i = task / per_row, first = (task - i * per_row) * kChunk, base = i * n + first;
      const Tuple in = fixed(i);
      const auto vars = variables();
      nest_.loop(min(n - first, nest_.index(kChunk)), LoopKind::kReduce,
                 [&](Val j) { add(vars, lift(in, base + j, first + j)); });
      store(partial, task, read(vars));
    });
    nest_.parallel(outer_, 0, [&](Val i) {
      const auto vars = variables();
      const Val base = i * per_row;
      nest_.loop(per_row, LoopKind::kReduce, [&](Val c) { add(vars, load(partial, base + c)); });
      finish(read(vars), fixed(i), i);
    });
  }

  // Results lie side by side: a task carries up to kLanes of them through its rows, in scratch
  // memory that stays in the nearest cache.
  void columns() {
    const int64_t blocks = (inner_ - 1) / kLanes + 1;
    int64_t rows_per_chunk = n_;
    if (outer_ * blocks < kEnoughTasks)
      rows_per_chunk = std::max<int64_t>(64, 4 * kChunk / std::min(inner_, kLanes));
    const int64_t chunks = (n_ - 1) / rows_per_chunk + 1;
    const auto partial = scratch(outer_ * chunks * inner_);
    const Val n = count(), inner = nest_.number(inner_), per_row = nest_.number(blocks),
              splits = nest_.number(chunks), rows = nest_.number(std::min(rows_per_chunk, n_));
    // Task = (outer, chunk, block of lanes).
    nest_.parallel(outer_ * chunks * blocks, 0, [&](Val task) {
      const Val strip = task / per_row, lane = (task - strip * per_row) * kLanes;
      const Val i = chunks == 1 ? strip : strip / splits;
      const Val row = chunks == 1 ? nest_.index(0) : (strip - i * splits) * rows;
      const Val width = min(inner - lane, nest_.index(kLanes));
      const Val height = chunks == 1 ? n : min(n - row, rows);
      const Val result = i * inner + lane, held = strip * inner + lane;
      carry(partial, held, result, (i * n + row) * inner + lane, row, width, height, inner);
      if (chunks == 1) finish_lanes(partial, held, result, width);
    });
    if (chunks == 1) return;
    nest_.parallel(outer_ * blocks, 0, [&](Val task) {
      const Val i = task / per_row, lane = (task - i * per_row) * kLanes;
      const Val width = min(inner - lane, nest_.index(kLanes));
      const Val held = i * splits * inner + lane;
      nest_.loop(splits - 1, LoopKind::kSequential, [&](Val c) {
        const Val from = held + (c + 1) * inner;
        nest_.loop(
            width, LoopKind::kVector,
            [&](Val j) {
              store(partial, held + j, combine(load(partial, held + j), load(partial, from + j)));
            },
            Trips::kFew);
      });
      finish_lanes(partial, held, i * inner + lane, width);
    });
  }

  // Combines `height` rows, `width` lanes each, into partial[held...]; several rows a pass, in
  // order.
  void carry(const std::vector<Buf>& partial, Val held, Val result, Val base, Val row, Val width,
             Val height, Val inner) {
    nest_.loop(
        width, LoopKind::kVector, [&](Val j) { store(partial, held + j, start()); }, Trips::kFew);
    auto pass = [&](Val first, int64_t count) {
      const Val from = base + first * inner;
      nest_.loop(
          width, LoopKind::kVector,
          [&](Val j) {
            const Tuple in = fixed(result + j);
            Tuple t = load(partial, held + j);
            for (int64_t k = 0; k < count; ++k)
              t = combine(t, lift(in, from + inner * k + j, row + first + k));
            store(partial, held + j, t);
          },
          Trips::kFew);
    };
    const Val whole = height / kRowsAtOnce;
    nest_.loop(whole, LoopKind::kSequential, [&](Val g) { pass(g * kRowsAtOnce, kRowsAtOnce); });
    const Val done = whole * kRowsAtOnce;
    nest_.loop(height - done, LoopKind::kSequential, [&](Val g) { pass(done + g, 1); });
  }

  void finish_lanes(const std::vector<Buf>& partial, Val held, Val result, Val width) {
    nest_.loop(
        width, LoopKind::kVector,
        [&](Val j) { finish(load(partial, held + j), fixed(result + j), result + j); },
        Trips::kFew);
  }

  const Reduction& r_;
  const int64_t outer_, n_, inner_;
  Nest nest_;
  std::vector<Buf> inputs_, outputs_;
  Val count_;
};

}  // namespace

Nest reduce(const Reduction& r, int64_t outer, int64_t n, int64_t inner) {
  MYCEL_CHECK(r.lift && r.combine && r.finish, "{}: a reduction needs lift, combine and finish",
              r.name);
  MYCEL_CHECK(outer >= 0 && n >= 0 && inner >= 0, "{}: negative extents", r.name);
  return Builder(r, outer, n, inner).build();
}

}  // namespace mycel::loops
