#include <algorithm>

#include "ops/norm/norm_loops.h"

namespace mycel::ops {
namespace {

using loops::Buf;
using loops::LoopKind;
using loops::Nest;
using loops::Val;
using loops::Var;

DType compute_dtype(DType t) { return is_float(t) && size_of(t) == 2 ? DType::kFloat32 : t; }

// Per-channel sums over x seen as [outer, channels, inner]. With inner dims a task owns a channel;
// with channels last, rows are cut into chunks that each add up all channels at once, and the
// chunks are added in a second stage.
class ChannelSums {
 public:
  ChannelSums(Nest& nest, const BatchSizes& s, DType dtype)
      : nest_(nest),
        s_(s),
        dtype_(dtype),
        outer(nest.number(s.outer)),
        channels(nest.number(s.channels)),
        inner(nest.number(s.inner)) {
    chunk_ = std::max<int64_t>(64, (s.outer + 63) / 64);
    chunks_ = (s.outer + chunk_ - 1) / chunk_;
  }

  bool channel_last() const { return s_.inner == 1; }
  Val zero() const { return loops::constant(nest_, dtype_, 0.0); }
  Val elements() const { return cast(outer * inner, dtype_); }

  // For each channel c, f(index in x, c, sums) gives the terms of `count` sums; done(c, totals)
  // gets them.
  template <typename Terms, typename Done>
  void run(int count, Terms terms, Done done) {
    if (channel_last()) {
      run_chunks(count, terms, done);
    } else {
      run_channels(count, terms, done);
    }
  }

  // f(index in x, c) for every element, as a vector loop.
  template <typename F>
  void each(F f) {
    int64_t row = channel_last() ? s_.channels : s_.inner;
    int64_t rows = channel_last() ? s_.outer : s_.outer * s_.channels;
    Val width = channel_last() ? channels : inner;
    nest_.parallel(rows, 4 * row, [&](Val r) {
      nest_.loop(width, LoopKind::kVector,
                 [&](Val i) { f(r * width + i, channel_last() ? i : r % channels); });
    });
  }

 private:
  template <typename Terms, typename Done>
  void run_channels(int count, Terms terms, Done done) {
    nest_.parallel(s_.channels, 4 * s_.outer * s_.inner, [&](Val c) {
      std::vector<Var> total;
      for (int k = 0; k < count; ++k) total.push_back(nest_.var(zero()));
      nest_.loop(outer, LoopKind::kSequential, [&](Val o) {
        // A sum per plane first: adding short sums keeps the rounding small.
        std::vector<Var> plane;
        for (int k = 0; k < count; ++k) plane.push_back(nest_.var(zero()));
        Val from = (o * channels + c) * inner;
        nest_.loop(inner, LoopKind::kReduce, [&](Val i) {
          std::vector<Val> t = terms(from + i, c);
          for (int k = 0; k < count; ++k) plane[k] += t[k];
        });
        for (int k = 0; k < count; ++k) total[k] += plane[k].get();
      });
      std::vector<Val> totals(total.begin(), total.end());
      done(c, totals);
    });
  }

  template <typename Terms, typename Done>
  void run_chunks(int count, Terms terms, Done done) {
    std::vector<Buf> part;
    int64_t size = std::max<int64_t>(chunks_ * s_.channels, 1);
    for (int k = 0; k < count; ++k) part.push_back(nest_.scratch(dtype_, size));
    Val rows = nest_.number(chunk_), chunk_count = nest_.number(chunks_);
    nest_.parallel(chunks_, 4 * chunk_ * s_.channels, [&](Val chunk) {
      Val to = chunk * channels, first = chunk * rows;
      nest_.loop(channels, LoopKind::kVector, [&](Val c) {
        for (int k = 0; k < count; ++k) nest_.store(part[k], to + c, zero());
      });
      nest_.loop(min(outer - first, rows), LoopKind::kSequential, [&](Val r) {
        nest_.loop(channels, LoopKind::kVector, [&](Val c) {
          std::vector<Val> t = terms((first + r) * channels + c, c);
          for (int k = 0; k < count; ++k) nest_.accumulate(part[k], to + c, t[k]);
        });
      });
    });
    nest_.parallel(s_.channels, chunks_, [&](Val c) {
      std::vector<Var> total;
      for (int k = 0; k < count; ++k) total.push_back(nest_.var(zero()));
      nest_.loop(chunk_count, LoopKind::kSequential, [&](Val chunk) {
        for (int k = 0; k < count; ++k) total[k] += nest_.load(part[k], chunk * channels + c);
      });
      std::vector<Val> totals(total.begin(), total.end());
      done(c, totals);
    });
  }

  Nest& nest_;
  const BatchSizes s_;
  DType dtype_;
  int64_t chunk_ = 1, chunks_ = 1;

 public:
  Val outer, channels, inner;
};

}  // namespace

void emit_batch_norm(Nest& nest, const BatchSizes& s, double epsilon, const NormBufs& b) {
  DType dtype = compute_dtype(b.x.dtype);
  ChannelSums sums(nest, s, dtype);
  // Full precision for the statistics that later stages read, whatever dtype they are returned in.
  Buf mean = nest.scratch(dtype, std::max<int64_t>(s.channels, 1));
  Buf factor = nest.scratch(dtype, std::max<int64_t>(s.channels, 1));
  Val eps = nest.number(epsilon, dtype);
  auto get = [&](const Buf& buf, Val at) { return cast(nest.load(buf, at), dtype); };
  sums.run(
      1, [&](Val i, Val) { return std::vector<Val>{get(b.x, i)}; },
      [&](Val c, const std::vector<Val>& total) {
        Val m = total[0] / sums.elements();
        nest.store(mean, c, m);
        nest.store(b.mean, c, m);
      });
  sums.run(
      1,
      [&](Val i, Val c) {
        Val d = get(b.x, i) - nest.load(mean, c);
        return std::vector<Val>{d * d};
      },
      [&](Val c, const std::vector<Val>& total) {
        Val v = total[0] / sums.elements();
        nest.store(b.variance, c, v);
        Val f = rsqrt(v + eps);
        nest.store(factor, c, b.scale ? f * get(*b.scale, c) : f);
      });
  sums.each([&](Val i, Val c) {
    Val v = (get(b.x, i) - nest.load(mean, c)) * nest.load(factor, c);
    nest.store(b.y, i, b.offset ? v + get(*b.offset, c) : v);
  });
}

void emit_batch_norm_dx(Nest& nest, const BatchSizes& s, double epsilon, const NormGradBufs& b) {
  DType dtype = compute_dtype(b.x.dtype);
  ChannelSums sums(nest, s, dtype);
  // dx = k0 dy + k1 (x - mean) + k2, per channel.
  int64_t size = std::max<int64_t>(s.channels, 1);
  Buf k0 = nest.scratch(dtype, size), k1 = nest.scratch(dtype, size),
      k2 = nest.scratch(dtype, size);
  Val eps = nest.number(epsilon, dtype);
  auto get = [&](const Buf& buf, Val at) { return cast(nest.load(buf, at), dtype); };
  sums.run(
      2,
      [&](Val i, Val c) {
        Val dy = get(b.dy, i);
        return std::vector<Val>{dy, dy * (get(b.x, i) - get(b.mean, c))};
      },
      [&](Val c, const std::vector<Val>& total) {
        Val f = rsqrt(get(b.variance, c) + eps), n = sums.elements();
        nest.store(b.doffset, c, total[0]);
        nest.store(b.dscale, c, total[1] * f);
        Val scaled = b.scale ? f * get(*b.scale, c) : f;
        nest.store(k0, c, scaled);
        nest.store(k1, c, -(scaled * f * f * total[1] / n));
        nest.store(k2, c, -(scaled * total[0] / n));
      });
  sums.each([&](Val i, Val c) {
    Val d = get(b.x, i) - get(b.mean, c);
    nest.store(b.dx, i, nest.load(k0, c) * get(b.dy, i) + nest.load(k1, c) * d + nest.load(k2, c));
  });
}

}  // namespace mycel::ops
