// Fold: the loop nest of a reduction. Given how one element enters an accumulator and how two
// accumulators meet, it arranges loops for any axes: neighbouring dims merge; reductions along the
// last axis become vector reductions, those along earlier axes run over whole rows; few results of
// many elements are folded in two stages over chunks of fixed length, so that the result never
// depends on the number of threads.
#pragma once

#include <functional>
#include <vector>

#include "ir/loop_rule.h"
#include "loops/nest.h"

namespace mycel::ops {

struct Fold {
  DType accumulator;
  double init = 0;           // neutral element of `merge`, for float and complex accumulators
  int64_t integer_init = 0;  // the same for integers
  // The value that element x (as loaded) brings, in the accumulator's dtype.
  std::function<loops::Val(loops::Val x)> lift;
  std::function<loops::Val(loops::Val a, loops::Val b)> merge;
  // The result, from the accumulator; cast to the result's dtype by the store. Null: as it is.
  std::function<loops::Val(loops::Val a)> finish;
};

// Fills c.nest: result 0 = fold of operand 0 over `axes`.
void emit_fold(ir::LoopCtx& c, const std::vector<int>& axes, const Fold& fold);

// The dims of an operand merged into as few as possible, alternating kept and reduced.
struct MergedDim {
  int64_t extent, stride;
  bool reduced;
};
std::vector<MergedDim> merge_dims(const Shape& s, const std::vector<int>& axes);

}  // namespace mycel::ops
