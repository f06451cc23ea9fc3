#include "ops/reduce/lines.h"

#include <algorithm>

#include "base/error.h"

namespace mycel::ops {

using loops::Buf;
using loops::LoopKind;
using loops::Val;
using loops::Var;

namespace {
constexpr int64_t kBlock = 512;  // neighbouring lines walked together
}

int axis_of(ir::LoopCtx& c) {
  int rank = c.in_type(0).shape.rank();
  return rank == 0 ? 0 : normalize_axis(c.attrs.integer("axis"), rank, c.op.name.c_str());
}

Lines::Lines(ir::LoopCtx& c, int axis, std::initializer_list<DType> values) : c_(c) {
  const Shape& s = c.in_type(0).shape;
  if (s.rank() == 0) return;
  outer_ = s.size(0, axis);
  length_ = s[axis];
  inner_ = s.size(axis + 1, s.rank());
  if (inner_ == 1) return;
  for (DType d : values) scratch_.push_back(c.nest.scratch(d, outer_ * inner_));
}

void Lines::each(const std::function<void(LineWalk&)>& body) {
  loops::Nest& n = c_.nest;
  if (inner_ == 1) {
    n.parallel(outer_, 4 * length_, [&](Val line) {
      LineWalk w(*this, line * n.number(length_), line, n.index(1));
      body(w);
    });
    return;
  }
  int64_t blocks = (inner_ + kBlock - 1) / kBlock;
  n.parallel(outer_ * blocks, 4 * length_ * std::min(inner_, kBlock), [&](Val task) {
    Val b = n.number(blocks), inner = n.number(inner_);
    Val o = task / b, first = (task - o * b) * n.index(kBlock);
    LineWalk w(*this, o * n.number(length_) * inner + first, o * inner + first,
               min(inner - first, n.index(kBlock)));
    body(w);
  });
}

LineWalk::LineWalk(Lines& lines, Val base, Val first_line, Val count)
    : lines_(lines),
      nest_(lines.c_.nest),
      base_(base),
      first_line_(first_line),
      count_(count),
      single_(lines.inner_ == 1) {}

Buf LineWalk::scratch(DType dtype) {
  MYCEL_CHECK(
      lines_.taken_ < lines_.scratch_.size() && lines_.scratch_[lines_.taken_].dtype == dtype,
      "per-line value {} of {} was not declared as {}", lines_.taken_, nest_.name(),
      name_of(dtype));
  return lines_.scratch_[lines_.taken_++];
}

void LineWalk::over(LoopKind along, const std::function<void(Lines::At)>& body, bool reverse) {
  Val length = nest_.number(lines_.length_);
  auto turned = [&](Val i) { return reverse ? length - nest_.index(1) - i : i; };
  if (single_) {
    nest_.loop(length, along, [&](Val i) { body({base_ + turned(i), turned(i), first_line_}); });
    return;
  }
  Val inner = nest_.number(lines_.inner_);
  nest_.loop(length, LoopKind::kSequential, [&](Val i) {
    Val row = base_ + turned(i) * inner;
    nest_.loop(count_, LoopKind::kVector,
               [&](Val k) { body({row + k, turned(i), first_line_ + k}); });
  });
}

void LineWalk::per_line(const std::function<void(Val)>& body) {
  nest_.loop(count_, LoopKind::kVector, [&](Val k) { body(first_line_ + k); });
}

Lines::Term LineWalk::fold(DType dtype, double init, const Lines::Term& term,
                           const Lines::Merge& merge) {
  if (single_) {
    Var acc = nest_.var(constant(nest_, dtype, init));
    over(LoopKind::kReduce, [&](Lines::At at) { acc.set(merge(acc.get(), term(at))); });
    Val result = acc.get();
    return [result](Lines::At) { return result; };
  }
  Buf acc = scratch(dtype);
  per_line([&](Val line) { nest_.store(acc, line, constant(nest_, dtype, init)); });
  over(LoopKind::kVector,
       [&](Lines::At at) { nest_.store(acc, at.line, merge(nest_.load(acc, at.line), term(at))); });
  return [this, acc](Lines::At at) { return nest_.load(acc, at.line); };
}

Lines::Term LineWalk::map(DType dtype, const Lines::Term& value) {
  if (single_) {
    Val result = nest_.var(value({base_, nest_.index(0), first_line_})).get();
    return [result](Lines::At) { return result; };
  }
  Buf kept = scratch(dtype);
  per_line([&](Val line) { nest_.store(kept, line, value({base_, nest_.index(0), line})); });
  return [this, kept](Lines::At at) { return nest_.load(kept, at.line); };
}

void LineWalk::write(Buf to, const Lines::Term& value) {
  over(LoopKind::kVector, [&](Lines::At at) { nest_.store(to, at.offset, value(at)); });
}

void LineWalk::scan(DType dtype, double init, bool reverse,
                    const std::function<Val(Lines::At, Val)>& step) {
  if (single_) {
    Var running = nest_.var(constant(nest_, dtype, init));
    over(
        LoopKind::kSequential, [&](Lines::At at) { running.set(step(at, running.get())); },
        reverse);
    return;
  }
  Buf running = scratch(dtype);
  per_line([&](Val line) { nest_.store(running, line, constant(nest_, dtype, init)); });
  over(
      LoopKind::kVector,
      [&](Lines::At at) { nest_.store(running, at.line, step(at, nest_.load(running, at.line))); },
      reverse);
}

void LineWalk::scan2(DType d0, double init0, DType d1, int64_t init1, bool reverse,
                     const std::function<void(Lines::At, Val*)>& step) {
  Val start0 = constant(nest_, d0, init0), start1 = constant(nest_, d1, init1);
  if (single_) {
    Var a = nest_.var(start0), b = nest_.var(start1);
    over(
        LoopKind::kSequential,
        [&](Lines::At at) {
          Val running[2] = {a.get(), b.get()};
          step(at, running);
          a.set(running[0]);
          b.set(running[1]);
        },
        reverse);
    return;
  }
  Buf a = scratch(d0), b = scratch(d1);
  per_line([&](Val line) {
    nest_.store(a, line, start0);
    nest_.store(b, line, start1);
  });
  over(
      LoopKind::kVector,
      [&](Lines::At at) {
        Val running[2] = {nest_.load(a, at.line), nest_.load(b, at.line)};
        step(at, running);
        nest_.store(a, at.line, running[0]);
        nest_.store(b, at.line, running[1]);
      },
      reverse);
}

}  // namespace mycel::ops
