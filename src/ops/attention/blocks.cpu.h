// What the kernels of attention and of its gradient share: where the rows of each head lie, how the
// scores are cut into blocks of rows, which columns of a block a mask leaves over, and the loops
// over one block. Scores exist for one block of rows of one head at a time, in memory that stays in
// cache; the gradient computes them again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/kernel.h"
#include "backend/cpu/onednn/matmul.h"
#include "loops/jit.h"

namespace mycel::ops {

// One operand as matrices [rows, cols], one per head.
struct HeadRows {
  HeadRows() = default;
  HeadRows(const Shape& s, bool heads_last);
  int64_t offset(int64_t unit) const { return unit / inner * outer_step + unit % inner * step; }

  int64_t rows = 1, cols = 1, stride = 1, units = 1;

 private:
  int64_t inner = 1, outer_step = 0, step = 0;  // units within a batch; distance of batches, units
};

// Numbers of one problem, and the compiled loops over a block of scores.
class AttentionBlocks {
 public:
  // Operands q, k, v first; `mask` and `scale` are the positions of the optional ones.
  AttentionBlocks(const cpu::Problem& p, int mask, int scale);

  HeadRows q, k, v;
  int64_t units = 1;
  int64_t block = 1, blocks = 1;  // rows of a block; blocks of a head
  int64_t line = 1;               // elements from one row of scores to the next

  int64_t rows_of(int64_t b) const { return std::min(block, q.rows - b * block); }
  // Widths that blocks may have; the last is all columns.
  const std::vector<int64_t>& widths() const { return widths_; }

  // Columns, as a position in `widths`, that each block of each mask needs when scores are
  // moderate: beyond them every probability is exactly 0.
  std::vector<int> columns(void* const* buffers) const;
  // Of them, those of block `b` of `unit`.
  int width_of(const std::vector<int>& columns, int64_t unit, int64_t b) const;
  // Whether scores of a head are so moderate, and its numbers finite.
  bool moderate(void* const* buffers, int64_t unit) const;

  // scores -> probabilities, in place.
  void softmax(float* scores, void* const* buffers, int64_t unit, int64_t b, int64_t width) const;
  // dp -> gradient of q kᵀ, in place: p (dp - Σ p dp) scale.
  void softmax_grad(const float* p, float* dp, void* const* buffers, int64_t b,
                    int64_t width) const;

 private:
  const float* mask_rows(void* const* buffers, int64_t unit, int64_t b) const;
  float largest(const float* data, const HeadRows& h, int64_t unit) const;

  int mask_at_, scale_at_;  // -1: absent
  int64_t mask_row_ = 0;
  std::vector<int64_t> mask_of_;     // per unit: which mask
  std::vector<int64_t> mask_start_;  // per mask: its first element
  std::vector<int64_t> widths_;
  loops::Launch softmax_, softmax_grad_, largest_;
};

}  // namespace mycel::ops
