#include "ops/attention/blocks.cpu.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace mycel::ops {

using loops::LoopKind;
using loops::Nest;
using loops::Val;
using loops::Var;

namespace {

constexpr int64_t kRows = 64;           // of a block: enough for a product at full speed
constexpr int64_t kElements = 1 << 17;  // of a block's scores: half a megabyte
constexpr int64_t kWidth = 64, kWidths = 8;
// A column whose mask lies this far below the row's largest gets probability 0 when all |scores|
// stay below kModerate: exp(2 kModerate - kFar) underflows.
constexpr float kFar = 1e4f, kModerate = 4e3f;

DType constexpr kFloat = DType::kFloat32;

// Numbers, in order: columns, line, elements from one row of the mask to the next.
Nest softmax_nest(bool mask, bool scale) {
  Nest nest("attention_softmax");
  loops::Buf m, f;
  if (mask) m = nest.input(kFloat);
  if (scale) f = nest.input(kFloat);
  loops::Buf s = nest.output(kFloat);
  Val cols = nest.number(int64_t{1}), line = nest.number(int64_t{1});
  Val mask_row = nest.number(int64_t{0});
  nest.parallel(1, 0, [&](Val row) {
    Val s0 = row * line, m0 = row * mask_row;
    Val factor = scale ? nest.load(f, nest.index(0)) : loops::constant(nest, kFloat, 1.0);
    auto score = [&](Val i) {
      Val x = nest.load(s, s0 + i);
      if (scale) x = x * factor;
      if (mask) x = x + nest.load(m, m0 + i);
      return x;
    };
    Var top = nest.var(loops::constant(nest, kFloat, -HUGE_VAL));
    nest.loop(cols, LoopKind::kReduce, [&](Val i) { top.set(max(top.get(), score(i))); });
    Val shift = top.get();
    Var sum = nest.var(loops::constant(nest, kFloat, 0.0));
    nest.loop(cols, LoopKind::kReduce, [&](Val i) {
      Val e = exp(score(i) - shift);
      nest.store(s, s0 + i, e);
      sum += e;
    });
    Val inverse = 1 / sum.get();
    nest.loop(cols, LoopKind::kVector,
              [&](Val i) { nest.store(s, s0 + i, nest.load(s, s0 + i) * inverse); });
  });
  return nest;
}

// Numbers: columns, line.
Nest softmax_grad_nest(bool scale) {
  Nest nest("attention_softmax_grad");
  loops::Buf p = nest.input(kFloat), f;
  if (scale) f = nest.input(kFloat);
  loops::Buf d = nest.output(kFloat);
  Val cols = nest.number(int64_t{1}), line = nest.number(int64_t{1});
  nest.parallel(1, 0, [&](Val row) {
    Val r0 = row * line;
    Val factor = scale ? nest.load(f, nest.index(0)) : loops::constant(nest, kFloat, 1.0);
    Var sum = nest.var(loops::constant(nest, kFloat, 0.0));
    nest.loop(cols, LoopKind::kReduce,
              [&](Val i) { sum += nest.load(p, r0 + i) * nest.load(d, r0 + i); });
    Val mean = sum.get();
    nest.loop(cols, LoopKind::kVector, [&](Val i) {
      Val g = nest.load(p, r0 + i) * (nest.load(d, r0 + i) - mean);
      nest.store(d, r0 + i, scale ? g * factor : g);
    });
  });
  return nest;
}

// The largest |x| of a matrix, NaN when there is one. Numbers: rows, columns, stride.
Nest largest_nest() {
  Nest nest("attention_largest");
  loops::Buf x = nest.input(kFloat), y = nest.output(kFloat);
  Val rows = nest.number(int64_t{1}), cols = nest.number(int64_t{1});
  Val stride = nest.number(int64_t{1});
  nest.parallel(1, 0, [&](Val) {
    Var top = nest.var(loops::constant(nest, kFloat, 0.0));
    nest.loop(rows, LoopKind::kSequential, [&](Val r) {
      nest.loop(cols, LoopKind::kReduce,
                [&](Val i) { top.set(max(top.get(), abs(nest.load(x, r * stride + i)))); });
    });
    nest.store(y, nest.index(0), top);
  });
  return nest;
}

// Runs the only stage of a nest on this thread over [0, rows).
void run(const loops::Launch& l, std::initializer_list<const void*> buffers,
         std::initializer_list<int64_t> numbers, int64_t rows) {
  l.code->stages[0](const_cast<void* const*>(buffers.begin()), numbers.begin(), 0, rows);
}

loops::Launch launched(const Nest& nest, size_t numbers) {
  loops::Launch l = loops::launch(nest);
  MYCEL_CHECK(l.numbers.size() == numbers && l.stages.size() == 1 && l.scratch_bytes.empty(),
              "attention: a nest has {} numbers and {} stages", l.numbers.size(), l.stages.size());
  return l;
}

}  // namespace

HeadRows::HeadRows(const Shape& s, bool heads_last) {
  int rank = s.rank();
  cols = s[-1];
  if (heads_last) {
    rows = s[1];
    inner = s[2];
    stride = inner * cols;
    step = cols;
    outer_step = rows * stride;
    units = s[0] * inner;
    return;
  }
  rows = s[-2];
  stride = cols;
  outer_step = rows * cols;
  units = s.size(0, rank - 2);
}

AttentionBlocks::AttentionBlocks(const cpu::Problem& p, int mask, int scale) {
  bool last = p.view().boolean("heads_last");
  const Shape& qs = p.in[0]->shape;
  q = HeadRows(qs, last);
  k = HeadRows(p.in[1]->shape, last);
  v = HeadRows(p.in[2]->shape, last);
  units = q.units;
  line = (k.rows + 15) / 16 * 16 + 16;  // lines of a power of two would meet in one cache set
  block = std::min({q.rows, kRows, std::max<int64_t>(16, kElements / k.rows / 16 * 16)});
  blocks = (q.rows + block - 1) / block;
  int64_t step = std::max(kWidth, (k.rows + kWidths - 1) / kWidths);
  for (int64_t w = step; w < k.rows; w += step) widths_.push_back(w);
  widths_.push_back(k.rows);
  mask_at_ = p.has(mask) ? mask : -1;
  scale_at_ = p.has(scale) ? scale : -1;
  softmax_ = launched(softmax_nest(mask_at_ >= 0, scale_at_ >= 0), 3);
  softmax_grad_ = launched(softmax_grad_nest(scale_at_ >= 0), 2);
  largest_ = launched(largest_nest(), 3);
  if (mask_at_ < 0) return;

  // Which mask each unit takes: the leading dims of the scores, some of which the mask repeats.
  const Shape& ms = p.in[mask]->shape;
  Shape lead;
  if (last) {
    lead = {qs[0], qs[2]};
  } else {
    for (int d = 0; d < qs.rank() - 2; ++d) lead.push_back(qs[d]);
  }
  mask_row_ = ms.rank() > 1 && ms[-2] > 1 ? ms[-1] : 0;
  int64_t size = ms[-1] * (ms.rank() > 1 ? ms[-2] : 1);
  for (int64_t u = 0; u < units; ++u) {
    int64_t rest = u, index = 0, stride = 1;
    for (int d = lead.rank() - 1; d >= 0; --d) {
      int64_t i = rest % lead[d];
      rest /= lead[d];
      int at = ms.rank() - 2 - (lead.rank() - d);  // the mask's dim under this one
      if (at < 0) continue;
      if (ms[at] > 1) index += i * stride;
      stride *= ms[at];
    }
    mask_of_.push_back(index);
    if (index >= static_cast<int64_t>(mask_start_.size())) mask_start_.resize(index + 1);
    mask_start_[index] = index * size;
  }
}

const float* AttentionBlocks::mask_rows(void* const* buffers, int64_t unit, int64_t b) const {
  return static_cast<const float*>(buffers[mask_at_]) + mask_start_[mask_of_[unit]] +
         b * block * mask_row_;
}

std::vector<int> AttentionBlocks::columns(void* const* buffers) const {
  std::vector<int> out;
  if (mask_at_ < 0 || widths_.size() < 2) return out;
  const auto* mask = static_cast<const float*>(buffers[mask_at_]);
  for (int64_t start : mask_start_) {
    for (int64_t b = 0; b < blocks; ++b) {
      int64_t needed = 0;
      for (int64_t r = 0; r < rows_of(b); ++r) {
        if (r > 0 && mask_row_ == 0) break;
        const float* row = mask + start + (b * block + r) * mask_row_;
        float top = *std::max_element(row, row + k.rows);
        int64_t n = k.rows;
        while (n > needed && row[n - 1] < top - kFar) --n;
        needed = std::max(needed, std::isfinite(top) ? n : k.rows);
      }
      int w = 0;
      while (widths_[w] < needed) ++w;
      out.push_back(w);
    }
  }
  return out;
}

int AttentionBlocks::width_of(const std::vector<int>& columns, int64_t unit, int64_t b) const {
  int all = static_cast<int>(widths_.size()) - 1;
  if (columns.empty()) return all;
  return columns[mask_of_[unit] * blocks + b];
}

float AttentionBlocks::largest(const float* data, const HeadRows& h, int64_t unit) const {
  float y = 0;
  run(largest_, {data + h.offset(unit), &y}, {h.rows, h.cols, h.stride}, 1);
  return y;
}

bool AttentionBlocks::moderate(void* const* buffers, int64_t unit) const {
  auto at = [&](int i) { return static_cast<const float*>(buffers[i]); };
  float bound = largest(at(0), q, unit) * largest(at(1), k, unit) * static_cast<float>(q.cols);
  if (scale_at_ >= 0) bound *= std::fabs(*at(scale_at_));
  return bound < kModerate && std::isfinite(largest(at(2), v, unit));
}

void AttentionBlocks::softmax(float* scores, void* const* buffers, int64_t unit, int64_t b,
                              int64_t width) const {
  const void* mask = mask_at_ >= 0 ? mask_rows(buffers, unit, b) : nullptr;
  const void* scale = scale_at_ >= 0 ? buffers[scale_at_] : nullptr;
  int64_t rows = rows_of(b);
  if (mask && scale) return run(softmax_, {mask, scale, scores}, {width, line, mask_row_}, rows);
  if (mask) return run(softmax_, {mask, scores}, {width, line, mask_row_}, rows);
  if (scale) return run(softmax_, {scale, scores}, {width, line, mask_row_}, rows);
  run(softmax_, {scores}, {width, line, mask_row_}, rows);
}

void AttentionBlocks::softmax_grad(const float* p, float* dp, void* const* buffers, int64_t b,
                                   int64_t width) const {
  if (scale_at_ >= 0) {
    return run(softmax_grad_, {p, buffers[scale_at_], dp}, {width, line}, rows_of(b));
  }
  run(softmax_grad_, {p, dp}, {width, line}, rows_of(b));
}

}  // namespace mycel::ops
