// Lines: loop nests that walk along one axis, with values computed once per line (a maximum, a sum)
// and used again along it. Where the axis is the last one a line is contiguous and its values are
// registers; otherwise a block of neighbouring lines is walked together, element by element in
// vector loops, and the values lie in scratch memory.
#pragma once

#include <functional>
#include <initializer_list>
#include <vector>

#include "ir/loop_rule.h"
#include "loops/nest.h"

namespace mycel::ops {

// Attribute `axis` of an op on operand 0, in [0, rank); 0 for a 0-d operand.
int axis_of(ir::LoopCtx& c);

class LineWalk;

class Lines {
 public:
  // Where an element is: its offset in memory, its position along the axis, its line (for per-line
  // values).
  struct At {
    loops::Val offset, position, line;
  };
  using Term = std::function<loops::Val(At)>;
  using Merge = std::function<loops::Val(loops::Val, loops::Val)>;

  // Lines of operand 0 of `c` along `axis`. `values`: dtypes of the per-line values that the body
  // will ask for (fold, map, scan), in that order: their memory is declared before the stage
  // begins.
  Lines(ir::LoopCtx& c, int axis, std::initializer_list<DType> values);
  // One parallel stage; `body` describes what is done with one line (or a block of them).
  void each(const std::function<void(LineWalk&)>& body);

 private:
  friend class LineWalk;
  ir::LoopCtx& c_;
  int64_t outer_ = 1, length_ = 1, inner_ = 1;
  std::vector<loops::Buf> scratch_;
  size_t taken_ = 0;
};

class LineWalk {
 public:
  // A value per line: merge of the terms along the axis, in order.
  Lines::Term fold(DType dtype, double init, const Lines::Term& term, const Lines::Merge& merge);
  // A value per line computed from other per-line values.
  Lines::Term map(DType dtype, const Lines::Term& value);
  // buffer[element] = value, for every element; no order.
  void write(loops::Buf to, const Lines::Term& value);
  // A running value: for each element in order (or against it), `step(at, before)` gives the new
  // one; it may store. Starts with init.
  void scan(DType dtype, double init, bool reverse,
            const std::function<loops::Val(Lines::At, loops::Val before)>& step);
  // The same with two running values, of dtypes d0 and d1.
  void scan2(DType d0, double init0, DType d1, int64_t init1, bool reverse,
             const std::function<void(Lines::At, loops::Val* running)>& step);

 private:
  friend class Lines;
  LineWalk(Lines& lines, loops::Val base, loops::Val first_line, loops::Val count);
  // All elements: the axis outside, lines of the block inside.
  void over(loops::LoopKind along, const std::function<void(Lines::At)>& body,
            bool reverse = false);
  // Once per line of the block.
  void per_line(const std::function<void(loops::Val line)>& body);
  loops::Buf scratch(DType dtype);

  Lines& lines_;
  loops::Nest& nest_;
  loops::Val base_, first_line_,
      count_;    // offset of the first element; its line; lines in the block
  bool single_;  // one contiguous line
};

}  // namespace mycel::ops
