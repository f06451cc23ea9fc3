// Moves: most shape ops (transpose, concat, slice, pad, tile, flip…) are lists of strided copies
// from an operand, or from a constant, into a result. A record states its list once as a MoveRule;
// the portable loop nest (`move_loops`) and the CPU kernel (moves.cpu.cc) are derived from it.
// Copies never look at values, so every dtype of one size shares a kernel.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ir/loop_rule.h"
#include "ir/op.h"
#include "ir/type.h"

namespace mycel::ops {

constexpr int kMaxMoveRank = 2 * kMaxRank;
constexpr int kFromConstant = -1;

// dst[dst_offset + Σ i·dst] = src[src_offset + Σ i·src] for every index i. Offsets and strides
// count elements; source strides may be 0 or negative, destinations of one move are distinct.
struct Move {
  int operand = 0;  // kFromConstant: MoveCtx::constant
  int result = 0;
  int rank = 0;
  std::array<int64_t, kMaxMoveRank> extent{}, src{}, dst{};
  int64_t src_offset = 0, dst_offset = 0;

  Move& dim(int64_t n, int64_t src_stride, int64_t dst_stride);
  int64_t rows() const;  // product of all extents but the last
  int64_t inner() const { return rank ? extent[rank - 1] : 1; }
};

// What a MoveRule sees; shapes are concrete.
class MoveCtx {
 public:
  MoveCtx(const ir::Op& op, std::span<const ir::Type* const> in, std::span<const ir::Type> out,
          const ir::Attrs& attrs)
      : attrs(op, attrs), in_(in), out_(out) {}

  ir::AttrsView attrs;
  double constant = 0;
  std::vector<Move> moves;

  int inputs() const { return static_cast<int>(in_.size()); }
  int outputs() const { return static_cast<int>(out_.size()); }
  const Shape& in(int i = 0) const { return in_[i]->shape; }
  const Shape& out(int j = 0) const { return out_[j].shape; }
  int axis(int64_t a) const { return static_cast<int>(a < 0 ? a + in().rank() : a); }

  // A move with no dims yet.
  Move& add(int operand = 0, int result = 0);
  // Copies all of `operand` over all of `result`; the shapes have equal sizes.
  void whole(int operand = 0, int result = 0);

 private:
  std::span<const ir::Type* const> in_;
  std::span<const ir::Type> out_;
};

using MoveRule = void (*)(MoveCtx&);
using Strides = std::array<int64_t, kMaxRank>;

// Row-major strides in elements.
Strides row_strides(const Shape& s);
// Dims of extent 1 dropped, neighbours merged, rows ordered as they lie in the result, very long
// rows cut so that threads can share them. Empty moves vanish.
std::vector<Move> simplified(const std::vector<Move>& moves);

// The loop rule of a list of moves.
void emit_moves(ir::LoopCtx& c, const std::vector<Move>& moves, double constant);

template <MoveRule rule>
void move_loops(ir::LoopCtx& c) {
  std::vector<const ir::Type*> in;
  std::vector<ir::Type> out;
  for (int i = 0; i < c.inputs(); ++i) in.push_back(c.has(i) ? &c.in_type(i) : nullptr);
  for (int j = 0; j < c.outputs(); ++j) out.push_back(c.out_type(j));
  MoveCtx m(c.op, in, out, c.attrs.all());
  rule(m);
  emit_moves(c, simplified(m.moves), m.constant);
}

// The rules, by record.
void transpose_moves(MoveCtx&);
void broadcast_moves(MoveCtx&);
void tile_moves(MoveCtx&);
void repeat_moves(MoveCtx&);
void flip_moves(MoveCtx&);
void roll_moves(MoveCtx&);
void depth_to_space_moves(MoveCtx&);
void space_to_depth_moves(MoveCtx&);
void concat_moves(MoveCtx&);
void split_moves(MoveCtx&);
void split_v_moves(MoveCtx&);
void slice_moves(MoveCtx&);
void slice_update_moves(MoveCtx&);
void pad_moves(MoveCtx&);
void diagonal_moves(MoveCtx&);
void diagonal_update_moves(MoveCtx&);
void identity_moves(MoveCtx&);

}  // namespace mycel::ops
