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

// The columns of a row in pieces along which the parameters are contiguous.
struct Pieces {
  Pieces(Nest& nest, const LayerSizes& s)
      : cols(nest.number(s.cols)),
        count(nest.number(s.params < s.cols && s.params > 0 ? s.cols / s.params : 1)),
        length(nest.number(std::min(s.params, s.cols))),
        rows_per_period(nest.number(std::max<int64_t>(s.cols > 0 ? s.params / s.cols : 1, 1))) {}

  Val cols, count, length, rows_per_period;

  // f(offset in x, offset in the parameters) for each column of `row`.
  template <typename F>
  void each(Nest& nest, Val row, LoopKind kind, F f) const {
    Val x0 = row * cols, p0 = row % rows_per_period * cols;
    nest.loop(count, LoopKind::kSequential, [&](Val piece) {
      Val x1 = x0 + piece * length;
      nest.loop(length, kind, [&](Val i) { f(x1 + i, p0 + i); });
    });
  }
};

}  // namespace

void emit_layer_norm(Nest& nest, const LayerSizes& s, double epsilon, const NormBufs& b) {
  DType dtype = compute_dtype(b.x.dtype);
  Pieces pieces(nest, s);
  Val n = cast(pieces.cols, dtype), eps = nest.number(epsilon, dtype);
  auto get = [&](const Buf& buf, Val at) { return cast(nest.load(buf, at), dtype); };
  nest.parallel(s.rows, 8 * s.cols, [&](Val row) {
    Val x0 = row * pieces.cols;
    Var sum = nest.var(loops::constant(nest, dtype, 0.0));
    nest.loop(pieces.cols, LoopKind::kReduce, [&](Val i) { sum += get(b.x, x0 + i); });
    Val mean = sum.get() / n;
    Var squares = nest.var(loops::constant(nest, dtype, 0.0));
    nest.loop(pieces.cols, LoopKind::kReduce, [&](Val i) {
      Val d = get(b.x, x0 + i) - mean;
      squares += d * d;
    });
    Val variance = squares.get() / n, factor = rsqrt(variance + eps);
    nest.store(b.mean, row, mean);
    nest.store(b.variance, row, variance);
    pieces.each(nest, row, LoopKind::kVector, [&](Val i, Val p) {
      Val v = (get(b.x, i) - mean) * factor;
      if (b.scale) v = v * get(*b.scale, p);
      if (b.offset) v = v + get(*b.offset, p);
      nest.store(b.y, i, v);
    });
  });
}

void emit_layer_norm_dx(Nest& nest, const LayerSizes& s, double epsilon, const NormGradBufs& b) {
  DType dtype = compute_dtype(b.x.dtype);
  // Rows of one chunk add up their share of the parameters' gradients; a second stage adds the
  // chunks.
  int64_t chunk = std::max<int64_t>(16, (s.rows + 63) / 64);
  int64_t chunks = (s.rows + chunk - 1) / chunk;
  Buf scale_part = nest.scratch(dtype, std::max<int64_t>(chunks * s.params, 1));
  Buf offset_part = nest.scratch(dtype, std::max<int64_t>(chunks * s.params, 1));
  Pieces pieces(nest, s);
  Val n = cast(pieces.cols, dtype), eps = nest.number(epsilon, dtype);
  Val rows = nest.number(s.rows), per_chunk = nest.number(chunk), chunk_count = nest.number(chunks);
  Val params = nest.number(s.params);
  auto get = [&](const Buf& buf, Val at) { return cast(nest.load(buf, at), dtype); };
  auto zero = [&] { return loops::constant(nest, dtype, 0.0); };
  nest.parallel(chunks, 16 * chunk * s.cols, [&](Val c) {
    Val part = c * params, first = c * per_chunk;
    nest.loop(params, LoopKind::kVector, [&](Val p) {
      nest.store(scale_part, part + p, zero());
      nest.store(offset_part, part + p, zero());
    });
    nest.loop(min(rows - first, per_chunk), LoopKind::kSequential, [&](Val r) {
      Val row = first + r;
      Val mean = get(b.mean, row), factor = rsqrt(get(b.variance, row) + eps);
      Var sum = nest.var(zero()), product = nest.var(zero());
      pieces.each(nest, row, LoopKind::kReduce, [&](Val i, Val p) {
        Val g = get(b.dy, i);
        if (b.scale) g = g * get(*b.scale, p);
        sum += g;
        product += g * ((get(b.x, i) - mean) * factor);
      });
      Val mean_g = sum.get() / n, mean_product = product.get() / n;
      pieces.each(nest, row, LoopKind::kVector, [&](Val i, Val p) {
        Val dy = get(b.dy, i), normal = (get(b.x, i) - mean) * factor;
        Val g = b.scale ? dy * get(*b.scale, p) : dy;
        nest.store(b.dx, i, factor * (g - mean_g - normal * mean_product));
        nest.accumulate(scale_part, part + p, dy * normal);
        nest.accumulate(offset_part, part + p, dy);
      });
    });
  });
  constexpr int64_t kBlock = 64;
  nest.parallel((s.params + kBlock - 1) / kBlock, kBlock * chunks, [&](Val block) {
    Val p0 = block * kBlock, width = min(params - p0, nest.index(kBlock));
    nest.loop(width, LoopKind::kSequential, [&](Val i) {
      Var scale_sum = nest.var(zero()), offset_sum = nest.var(zero());
      nest.loop(chunk_count, LoopKind::kSequential, [&](Val c) {
        scale_sum += nest.load(scale_part, c * params + p0 + i);
        offset_sum += nest.load(offset_part, c * params + p0 + i);
      });
      nest.store(b.dscale, p0 + i, scale_sum);
      nest.store(b.doffset, p0 + i, offset_sum);
    });
  });
}

}  // namespace mycel::ops
