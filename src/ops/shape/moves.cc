#include "ops/shape/moves.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace mycel::ops {

using loops::Val;

Move& Move::dim(int64_t n, int64_t src_stride, int64_t dst_stride) {
  extent[rank] = n;
  src[rank] = src_stride;
  dst[rank] = dst_stride;
  ++rank;
  return *this;
}

int64_t Move::rows() const {
  int64_t n = 1;
  for (int d = 0; d + 1 < rank; ++d) n *= extent[d];
  return n;
}

Move& MoveCtx::add(int operand, int result) {
  Move m;
  m.operand = operand;
  m.result = result;
  moves.push_back(m);
  return moves.back();
}

void MoveCtx::whole(int operand, int result) { add(operand, result).dim(out(result).size(), 1, 1); }

void identity_moves(MoveCtx& c) { c.whole(); }

Strides row_strides(const Shape& s) {
  Strides strides{};
  int64_t step = 1;
  for (int d = s.rank(); d-- > 0;) {
    strides[d] = step;
    step *= s[d];
  }
  return strides;
}

namespace {

constexpr int64_t kRowCut =
    16384;  // elements: long enough to copy at full speed, short enough to share
constexpr int64_t kFewRows = 64;

// Dims by falling destination stride, so that results are written front to back.
void order(Move& m) {
  std::array<int, kMaxMoveRank> by{};
  std::iota(by.begin(), by.begin() + m.rank, 0);
  std::stable_sort(by.begin(), by.begin() + m.rank,
                   [&](int a, int b) { return std::abs(m.dst[a]) > std::abs(m.dst[b]); });
  Move sorted = m;
  for (int d = 0; d < m.rank; ++d) {
    sorted.extent[d] = m.extent[by[d]];
    sorted.src[d] = m.src[by[d]];
    sorted.dst[d] = m.dst[by[d]];
  }
  m = sorted;
}

bool merge_dims(Move& m) {
  Move out = m;
  out.rank = 0;
  for (int d = 0; d < m.rank; ++d) {
    if (m.extent[d] == 0) return false;
    if (m.extent[d] != 1) out.dim(m.extent[d], m.src[d], m.dst[d]);
  }
  order(out);
  Move merged = out;
  merged.rank = 0;
  for (int d = 0; d < out.rank; ++d) {
    int last = merged.rank - 1;
    if (last >= 0 && merged.src[last] == out.src[d] * out.extent[d] &&
        merged.dst[last] == out.dst[d] * out.extent[d]) {
      merged.extent[last] *= out.extent[d];
      merged.src[last] = out.src[d];
      merged.dst[last] = out.dst[d];
    } else {
      merged.dim(out.extent[d], out.src[d], out.dst[d]);
    }
  }
  m = merged;
  return true;
}

// Few, long rows: the last dim becomes [whole cuts, cut] and a move for the rest.
void cut_long_rows(const Move& m, std::vector<Move>* out) {
  int64_t n = m.inner();
  if (n < 2 * kRowCut || m.rows() >= kFewRows || m.rank >= kMaxMoveRank) {
    out->push_back(m);
    return;
  }
  int last = m.rank - 1;
  int64_t src = m.src[last], dst = m.dst[last], cuts = n / kRowCut, rest = n % kRowCut;
  Move head = m;
  head.rank = last;
  head.dim(cuts, src * kRowCut, dst * kRowCut).dim(kRowCut, src, dst);
  out->push_back(head);
  if (!rest) return;
  Move tail = m;
  tail.extent[last] = rest;
  tail.src_offset += src * cuts * kRowCut;
  tail.dst_offset += dst * cuts * kRowCut;
  out->push_back(tail);
}

// A stride as seen by the nest: 0 and 1 are structure (they decide how a loop vectorises), others
// numbers.
Val stride_value(loops::Nest& nest, int64_t s) {
  return s == 0 || s == 1 ? nest.index(s) : nest.number(s);
}

Val constant_value(loops::Nest& nest, DType dtype, double value) {
  if (is_complex(dtype)) {
    DType part = real_part_of(dtype);
    return make_complex(nest.number(value, part), nest.literal(part, 0.0));
  }
  if (is_float(dtype))
    return nest.number(value, dtype == DType::kFloat64 ? dtype : DType::kFloat32);
  if (is_bool(dtype)) return nest.number(static_cast<int64_t>(value != 0)) != 0;
  return nest.number(static_cast<int64_t>(value));
}

}  // namespace

std::vector<Move> simplified(const std::vector<Move>& moves) {
  std::vector<Move> out;
  for (Move m : moves) {
    if (merge_dims(m)) cut_long_rows(m, &out);
  }
  return out;
}

void emit_moves(ir::LoopCtx& c, const std::vector<Move>& moves, double constant) {
  loops::Nest& nest = c.nest;
  for (const Move& m : moves) {
    loops::Buf to = c.out(m.result);
    std::vector<Val> extent, src, dst;
    for (int d = 0; d < m.rank; ++d) {
      extent.push_back(nest.number(m.extent[d]));
      src.push_back(stride_value(nest, m.src[d]));
      dst.push_back(stride_value(nest, m.dst[d]));
    }
    Val src_offset = nest.number(m.src_offset), dst_offset = nest.number(m.dst_offset);
    nest.parallel(m.rows(), m.inner(), [&](Val row) {
      Val s = src_offset, t = dst_offset, rest = row;
      for (int d = m.rank - 2; d >= 0; --d) {
        Val i = d ? rest % extent[d] : rest;
        if (d) rest = rest / extent[d];
        s = s + i * src[d];
        t = t + i * dst[d];
      }
      auto element = [&](Val from, Val at) {
        Val v = m.operand == kFromConstant ? constant_value(nest, to.dtype, constant)
                                           : nest.load(c.in(m.operand), from);
        nest.store(to, at, v);
      };
      if (m.rank == 0) {
        element(s, t);
        return;
      }
      int last = m.rank - 1;
      nest.loop(extent[last], loops::LoopKind::kVector,
                [&](Val i) { element(s + i * src[last], t + i * dst[last]); });
    });
  }
}

}  // namespace mycel::ops
