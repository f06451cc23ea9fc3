#include "ops/reduce/fold.h"

#include <algorithm>

#include "base/error.h"

namespace mycel::ops {

using loops::Buf;
using loops::LoopKind;
using loops::Nest;
using loops::Val;
using loops::Var;

namespace {

constexpr int64_t kBlock = 1024;      // results of one row that one task holds at a time
constexpr int64_t kChunk = 16384;     // elements that one task folds when a reduction is split
constexpr int64_t kEnoughTasks = 64;  // with so many results there is no need to split
constexpr int64_t kMaxChunks = 256;

DType computed(DType d) {
  return d == DType::kFloat16 || d == DType::kBFloat16 ? DType::kFloat32 : d;
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Emitter {
 public:
  Emitter(ir::LoopCtx& c, const std::vector<int>& axes, const Fold& f) : c_(c), n_(c.nest), f_(f) {
    dims_ = merge_dims(c.in_type(0).shape, axes);
    if (!dims_.back().reduced) {
      row_ = dims_.back().extent;
      dims_.pop_back();
      rows_kept_ = true;
    }
    for (const MergedDim& d : dims_) {
      (d.reduced ? reduced_ : kept_).push_back(d);
      (d.reduced ? reduced_size_ : outer_) *= d.extent;
    }
    if (reduced_.empty()) reduced_.push_back({1, 0, true});
    plan_split();
  }

  void emit() {
    if (chunks_ > 1) {
      partial_ = n_.scratch(f_.accumulator, outer_ * chunks_ * row_);
      fold_stage(partial_, chunks_, false);
      merge_stage();
    } else if (rows_kept_ && c_.out_type().dtype != f_.accumulator) {
      partial_ = n_.scratch(f_.accumulator, outer_ * row_);
      fold_stage(partial_, 1, false);
      merge_stage();
    } else {
      fold_stage(c_.out(), 1, true);
    }
  }

 private:
  // Splits the longest reduced dim when there are few results and many elements.
  void plan_split() {
    split_ = 0;
    for (size_t i = 1; i < reduced_.size(); ++i) {
      if (reduced_[i].extent > reduced_[split_].extent) split_ = i;
    }
    const int64_t length = reduced_[split_].extent;
    chunk_length_ = length;
    int64_t tasks = outer_ * ceil_div(row_, kBlock);
    int64_t elements = reduced_size_ * std::min(row_, kBlock);
    if (tasks >= kEnoughTasks || elements < 2 * kChunk) return;
    int64_t each = std::max<int64_t>(1, elements / length);
    chunk_length_ = std::max(ceil_div(kChunk, each), ceil_div(length, kMaxChunks));
    chunks_ = std::max<int64_t>(1, ceil_div(length, chunk_length_));
  }

  Val number(int64_t v) { return n_.number(v); }
  Val init() {
    DType d = f_.accumulator;
    return is_float(d) || is_complex(d) ? constant(n_, d, f_.init)
                                        : constant(n_, d, f_.integer_init);
  }
  Val lifted(Val offset) { return cast(f_.lift(n_.load(c_.in(0), offset)), f_.accumulator); }
  Val finished(Val a) { return f_.finish ? f_.finish(a) : a; }

  // Offset of kept index `o` in the operand.
  Val kept_offset(Val o) {
    Val offset = n_.index(0);
    for (size_t i = kept_.size(); i-- > 0;) {
      Val extent = number(kept_[i].extent);
      Val here = i ? o % extent : o;
      if (i) o = o / extent;
      offset = offset + here * number(kept_[i].stride);
    }
    return offset;
  }

  // Runs body(offset) over the reduced elements of chunk `chunk`; the innermost loop is of kind
  // `inner`.
  void over_reduced(Val base, Val chunk, LoopKind inner, const std::function<void(Val)>& body,
                    size_t depth = 0) {
    if (depth == reduced_.size()) return body(base);
    const MergedDim& d = reduced_[depth];
    Val extent = number(d.extent), stride = number(d.stride);
    Val start = n_.index(0);
    if (depth == split_ && chunks_ > 1) {
      Val length = number(chunk_length_);
      start = chunk * length;
      extent = min(extent - start, length);
    }
    bool last = depth + 1 == reduced_.size();
    bool unit = last && d.stride == 1;
    n_.loop(extent, last ? inner : LoopKind::kSequential, [&](Val i) {
      Val at = start + i;
      over_reduced(base + (unit ? at : at * stride), chunk, inner, body, depth + 1);
    });
  }

  // One task per kept index, chunk and block of a row.
  void fold_stage(Buf to, int64_t chunks, bool finish) {
    int64_t blocks = rows_kept_ ? ceil_div(row_, kBlock) : 1;
    int64_t cost = std::max<int64_t>(1, reduced_size_ / chunks) * std::min(row_, kBlock);
    n_.parallel(outer_ * chunks * blocks, cost, [&](Val task) {
      Val block = n_.index(0), chunk = n_.index(0), o = task;
      if (rows_kept_) {
        Val b = number(blocks);
        block = o % b;
        o = o / b;
      }
      Val result = o;
      if (chunks > 1) {
        Val n = number(chunks);
        chunk = o % n;
        o = o / n;
      }
      Val base = kept_offset(o);
      if (rows_kept_) {
        fold_rows(to, base, chunk, block, result, finish);
      } else {
        Var acc = n_.var(init());
        over_reduced(base, chunk, LoopKind::kReduce,
                     [&](Val at) { acc.set(f_.merge(acc.get(), lifted(at))); });
        n_.store(to, result, finish ? finished(acc.get()) : acc.get());
      }
    });
  }

  void fold_rows(Buf to, Val base, Val chunk, Val block, Val result, bool finish) {
    Val row = number(row_);
    Val first = block * n_.index(kBlock);
    Val count = min(row - first, n_.index(kBlock));
    Val out = result * row + first;
    n_.loop(count, LoopKind::kVector, [&](Val k) { n_.store(to, out + k, init()); });
    over_reduced(base + first, chunk, LoopKind::kSequential, [&](Val at) {
      n_.loop(count, LoopKind::kVector, [&](Val k) {
        n_.store(to, out + k, f_.merge(n_.load(to, out + k), lifted(at + k)));
      });
    });
    if (finish && f_.finish) {
      n_.loop(count, LoopKind::kVector,
              [&](Val k) { n_.store(to, out + k, finished(n_.load(to, out + k))); });
    }
  }

  // result[o, k] = finish(merge over chunks of partial[o, chunk, k]).
  void merge_stage() {
    int64_t total = outer_ * row_;
    n_.parallel(ceil_div(total, kBlock), kBlock * chunks_, [&](Val task) {
      Val first = task * n_.index(kBlock);
      Val count = min(number(total) - first, n_.index(kBlock));
      Val row = number(row_), chunks = number(chunks_);
      if (chunks_ == 1) {
        n_.loop(count, LoopKind::kVector, [&](Val k) {
          n_.store(c_.out(), first + k, finished(n_.load(partial_, first + k)));
        });
        return;
      }
      n_.loop(count, LoopKind::kSequential, [&](Val k) {
        Val at = first + k, o = at / row;
        Val from = o * chunks * row + (at - o * row);
        Var acc = n_.var(init());
        n_.loop(chunks, LoopKind::kSequential,
                [&](Val i) { acc.set(f_.merge(acc.get(), n_.load(partial_, from + i * row))); });
        n_.store(c_.out(), at, finished(acc.get()));
      });
    });
  }

  ir::LoopCtx& c_;
  Nest& n_;
  const Fold& f_;
  std::vector<MergedDim> dims_, kept_, reduced_;
  int64_t outer_ = 1, row_ = 1, reduced_size_ = 1;
  bool rows_kept_ = false;
  size_t split_ = 0;
  int64_t chunks_ = 1, chunk_length_ = 0;
  Buf partial_;
};

}  // namespace

std::vector<MergedDim> merge_dims(const Shape& s, const std::vector<int>& axes) {
  std::vector<MergedDim> dims;
  int64_t stride = 1;
  for (int d = s.rank() - 1; d >= 0; --d) {
    bool reduced = std::binary_search(axes.begin(), axes.end(), d);
    if (s[d] != 1) {
      if (!dims.empty() && dims.back().reduced == reduced) {
        dims.back().extent *= s[d];
      } else {
        dims.push_back({s[d], stride, reduced});
      }
    }
    stride *= s[d];
  }
  std::reverse(dims.begin(), dims.end());
  if (dims.empty()) dims.push_back({1, 1, true});
  return dims;
}

void emit_fold(ir::LoopCtx& c, const std::vector<int>& axes, const Fold& fold) {
  Fold f = fold;
  f.accumulator = computed(f.accumulator);
  Emitter(c, axes, f).emit();
}

}  // namespace mycel::ops
