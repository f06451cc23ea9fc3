#include <algorithm>
#include <limits>

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
  static constexpr int64_t kBlock = 64;  // channels whose chunks are added up together

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

  // f(c) for every channel.
  template <typename F>
  void each_channel(F f) {
    nest_.parallel(s_.channels, 16, f);
  }
  // Index in x of element e of channel c, e below outer * inner.
  Val index_of(Val e, Val c) const {
    return channel_last() ? e * channels + c : (e / inner * channels + c) * inner + e % inner;
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

  // Rows that one turn of a chunk's loop adds up in registers before it touches the sums.
  static constexpr int kTogether = 4;

  template <typename Terms, typename Done>
  void run_chunks(int count, Terms terms, Done done) {
    std::vector<Buf> part, total;
    for (int k = 0; k < count; ++k) {
      part.push_back(nest_.scratch(dtype_, std::max<int64_t>(chunks_ * s_.channels, 1)));
      total.push_back(nest_.scratch(dtype_, std::max<int64_t>(s_.channels, 1)));
    }
    auto clear = [&](const std::vector<Buf>& sums, Val at) {
      for (int k = 0; k < count; ++k) nest_.store(sums[k], at, zero());
    };
    Val rows = nest_.number(chunk_), chunk_count = nest_.number(chunks_);
    nest_.parallel(chunks_, 4 * chunk_ * s_.channels, [&](Val chunk) {
      Val to = chunk * channels, first = chunk * rows;
      nest_.loop(channels, LoopKind::kVector, [&](Val c) { clear(part, to + c); });
      auto add_rows = [&](Val row, int together) {
        nest_.loop(channels, LoopKind::kVector, [&](Val c) {
          std::vector<Val> t = terms(row * channels + c, c);
          for (int u = 1; u < together; ++u) {
            std::vector<Val> more = terms((row + u) * channels + c, c);
            for (int k = 0; k < count; ++k) t[k] = t[k] + more[k];
          }
          for (int k = 0; k < count; ++k) nest_.accumulate(part[k], to + c, t[k]);
        });
      };
      Val mine = min(outer - first, rows), turns = mine / nest_.index(kTogether);
      nest_.loop(turns, LoopKind::kSequential,
                 [&](Val r) { add_rows(first + r * kTogether, kTogether); });
      Val left = turns * kTogether;
      nest_.loop(mine - left, LoopKind::kSequential, [&](Val r) { add_rows(first + left + r, 1); });
    });
    Val width = nest_.number(kBlock);
    nest_.parallel((s_.channels + kBlock - 1) / kBlock, kBlock * chunks_, [&](Val block) {
      Val first = block * width, here = min(channels - first, width);
      nest_.loop(here, LoopKind::kVector, [&](Val c) { clear(total, first + c); });
      nest_.loop(chunk_count, LoopKind::kSequential, [&](Val chunk) {
        nest_.loop(here, LoopKind::kVector, [&](Val c) {
          for (int k = 0; k < count; ++k) {
            nest_.accumulate(total[k], first + c,
                             nest_.load(part[k], chunk * channels + first + c));
          }
        });
      });
      nest_.loop(here, LoopKind::kVector, [&](Val c) {
        std::vector<Val> totals;
        for (int k = 0; k < count; ++k) totals.push_back(nest_.load(total[k], first + c));
        done(first + c, totals);
      });
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

void emit_batch_moments(Nest& nest, const BatchSizes& s, const MomentBufs& b) {
  DType dtype = compute_dtype(b.x.dtype);
  ChannelSums sums(nest, s, dtype);
  // Deviations from the mean of a few elements: the sum of their squares is not much larger than
  // the variance, unless those elements are nothing like the others.
  constexpr int kSamples = 4;
  Buf middle = nest.scratch(dtype, std::max<int64_t>(s.channels, 1));
  auto get = [&](Val at) { return cast(nest.load(b.x, at), dtype); };
  if (s.outer * s.inner == 0) {  // moments of nothing
    Val none = loops::constant(nest, dtype, std::numeric_limits<double>::quiet_NaN());
    sums.each_channel([&](Val c) {
      nest.store(b.mean, c, none);
      nest.store(b.variance, c, none);
    });
    return;
  }
  std::vector<Val> samples;
  for (int64_t k = 0; k < kSamples; ++k) {
    samples.push_back(nest.number(s.outer * s.inner * (2 * k + 1) / (2 * kSamples)));
  }
  sums.each_channel([&](Val c) {
    Val sum = get(sums.index_of(samples[0], c));
    for (int k = 1; k < kSamples; ++k) sum = sum + get(sums.index_of(samples[k], c));
    nest.store(middle, c, sum / kSamples);
  });
  sums.run(
      2,
      [&](Val i, Val c) {
        Val d = get(i) - nest.load(middle, c);
        return std::vector<Val>{d, d * d};
      },
      [&](Val c, const std::vector<Val>& total) {
        Val n = sums.elements(), d = total[0] / n;
        nest.store(b.mean, c, nest.load(middle, c) + d);
        nest.store(b.variance, c, max(total[1] / n - d * d, 0));
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
  auto scaled_factor = [&](Val c) {
    Val f = rsqrt(get(b.variance, c) + eps);
    return b.scale ? f * get(*b.scale, c) : f;
  };
  if (b.relu_offset) sums.each_channel([&](Val c) { nest.store(k0, c, scaled_factor(c)); });
  // dy of the normalised value, whose deviation from the mean is `d`.
  auto gradient = [&](Val i, Val c, Val d) {
    Val dy = get(b.dy, i);
    if (!b.relu_offset) return dy;
    return select(d * nest.load(k0, c) + get(*b.relu_offset, c) > 0, dy, 0);
  };
  sums.run(
      2,
      [&](Val i, Val c) {
        Val d = get(b.x, i) - get(b.mean, c), dy = gradient(i, c, d);
        return std::vector<Val>{dy, dy * d};
      },
      [&](Val c, const std::vector<Val>& total) {
        Val f = rsqrt(get(b.variance, c) + eps), n = sums.elements();
        nest.store(b.doffset, c, total[0]);
        nest.store(b.dscale, c, total[1] * f);
        Val scaled = scaled_factor(c);
        if (!b.relu_offset) nest.store(k0, c, scaled);
        nest.store(k1, c, -(scaled * f * f * total[1] / n));
        nest.store(k2, c, -(scaled * total[0] / n));
      });
  sums.each([&](Val i, Val c) {
    Val d = get(b.x, i) - get(b.mean, c);
    nest.store(b.dx, i,
               nest.load(k0, c) * gradient(i, c, d) + nest.load(k1, c) * d + nest.load(k2, c));
  });
}

}  // namespace mycel::ops
