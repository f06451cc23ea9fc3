#include "loops/elementwise.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace mycel::loops {
namespace {

// Rows longer than this are cut when there are too few of them to go round.
constexpr int64_t kBlock = 16384;
constexpr int64_t kEnoughRows = 64;
constexpr int64_t kShort = 256;  // rows below this are not interleaved

class Builder {
 public:
  Builder(Nest& nest, const Walk& walk, std::span<const DType> in, std::span<const DType> out,
          const ElementFormula& formula)
      : nest_(nest), walk_(walk), formula_(formula), out_count_(out.size()) {
    for (size_t k = 0; k < in.size(); ++k) {
      inputs_.push_back(nest.input(in[k]));
      const auto& s = walk.stride[k];
      const bool full = std::all_of(s.begin(), s.end(), [](int64_t x) { return x != 0; });
      if (full) nest.allow_in_place(inputs_[k]);
    }
    for (DType t : out) outputs_.push_back(nest.output(t));
  }

  void build() {
    const auto& extent = walk_.extent;
    if (extent.size() <= 1) return flat(extent.empty() ? 1 : extent[0]);
    const size_t rank = extent.size();
    int64_t rows = 1;
    size_t shared = 0;  // leading dims that the parallel loop runs over
    while (shared + 1 < rank && rows < kEnoughRows) rows *= extent[shared++];
    const bool cut = rows < kEnoughRows && extent[rank - 1] >= 2 * kBlock;
    cut ? blocks(rows, shared) : nest_.parallel(rows, 0, [&](Val row) { outer(row, shared); });
  }

 private:
  bool moves(size_t k, size_t d) const { return walk_.stride[k][d] != 0; }

  void element(std::span<const Val> in, Val out_offset) {
    std::vector<Val> out(out_count_);
    formula_(in, out);
    for (size_t k = 0; k < out_count_; ++k) {
      MYCEL_CHECK(out[k].n, "{}: the formula left output {} empty", nest_.name(), k);
    }
    for (size_t k = 0; k < out_count_; ++k) nest_.store(outputs_[k], out_offset, out[k]);
  }

  void flat(int64_t n) {
    const bool single = walk_.extent.empty();
    nest_.parallel(n, 0, [&](Val i) {
      std::vector<Val> in;
      for (size_t k = 0; k < inputs_.size(); ++k) {
        in.push_back(nest_.load(inputs_[k], single || moves(k, 0) ? i : nest_.index(0)));
      }
      element(in, i);
    });
  }

  // Offsets of each input and of the outputs at the start of a row; grows while dims are entered.
  struct Position {
    std::vector<Val> in;
    Val out;  // counted in rows of the dims so far
  };

  Val extent(size_t d) {
    extents_.resize(walk_.extent.size());
    if (!extents_[d].n) extents_[d] = nest_.number(walk_.extent[d]);
    return extents_[d];
  }
  Val stride(size_t k, size_t d) {
    strides_.resize(inputs_.size(), std::vector<Val>(walk_.extent.size()));
    if (!strides_[k][d].n) strides_[k][d] = nest_.number(walk_.stride[k][d]);
    return strides_[k][d];
  }

  void enter(Position& at, size_t d, Val coordinate) {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (moves(k, d)) at.in[k] = at.in[k] + coordinate * stride(k, d);
    }
  }

  Position start(Val row, size_t shared) {
    Position at{std::vector<Val>(inputs_.size(), nest_.index(0)), row};
    Val rest = row;
    for (size_t d = shared; d-- > 0;) {
      Val coordinate = rest;
      if (d > 0) {
        const Val next = rest / extent(d);
        coordinate = rest - next * extent(d);
        rest = next;
      }
      enter(at, d, coordinate);
    }
    return at;
  }

  void outer(Val row, size_t shared) { middle(start(row, shared), shared); }

  void middle(Position at, size_t d) {
    const size_t last = walk_.extent.size() - 1;
    if (d == last) return inner(at, nest_.index(0), extent(last));
    nest_.loop(extent(d), LoopKind::kSequential, [&](Val c) {
      Position next = at;
      next.out = at.out * extent(d) + c;
      enter(next, d, c);
      middle(std::move(next), d + 1);
    });
  }

  // The vector loop over [first, first + count) of the innermost dim.
  void inner(const Position& at, Val first, Val count) {
    const size_t last = walk_.extent.size() - 1;
    const Val out = at.out * extent(last) + first;
    std::vector<Val> in(inputs_.size()), base(inputs_.size());
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (!moves(k, last)) in[k] = nest_.load(inputs_[k], at.in[k]);
      if (moves(k, last)) base[k] = at.in[k] + first;
    }
    nest_.loop(
        count, LoopKind::kVector,
        [&](Val j) {
          std::vector<Val> now = in;
          for (size_t k = 0; k < inputs_.size(); ++k) {
            if (base[k].n) now[k] = nest_.load(inputs_[k], base[k] + j);
          }
          element(now, out + j);
        },
        walk_.extent[last] < kShort ? Trips::kFew : Trips::kMany);
  }

  void blocks(int64_t rows, size_t shared) {
    const int64_t length = walk_.extent.back(), per_row = (length - 1) / kBlock + 1;
    const Val blocks = nest_.number(per_row);
    nest_.parallel(rows * per_row, 0, [&](Val i) {
      const Val row = i / blocks;
      const Val first = (i - row * blocks) * kBlock;
      const Val left = extent(walk_.extent.size() - 1) - first;
      inner(start(row, shared), first, min(left, nest_.index(kBlock)));
    });
  }

  Nest& nest_;
  const Walk& walk_;
  const ElementFormula& formula_;
  size_t out_count_;
  std::vector<Buf> inputs_, outputs_;
  std::vector<Val> extents_;
  std::vector<std::vector<Val>> strides_;
};

}  // namespace

Walk collapse(std::span<const Shape> in_shapes, const Shape& out_shape) {
  const int rank = out_shape.rank();
  Walk walk;
  walk.stride.resize(in_shapes.size());
  // From the innermost dim outwards; dims are reversed at the end.
  std::vector<int64_t> run(in_shapes.size(), 1);  // elements of each input within the dims so far
  for (int d = rank - 1; d >= 0; --d) {
    const int64_t extent = out_shape[d];
    if (extent == 1) continue;
    std::vector<int64_t> stride;
    bool joins = !walk.extent.empty();
    for (size_t k = 0; k < in_shapes.size(); ++k) {
      const int own = d - (rank - in_shapes[k].rank());
      const int64_t size = own >= 0 ? in_shapes[k][own] : 1;
      MYCEL_CHECK(size == extent || size == 1, "shape {} does not broadcast to {}",
                  in_shapes[k].str(), out_shape.str());
      stride.push_back(size == 1 ? 0 : run[k]);
      if (size != 1) run[k] *= size;
      if (joins) {
        const int64_t inner = walk.stride[k].back();
        joins = stride[k] == inner * (inner ? walk.extent.back() : 0) &&
                (inner != 0) == (stride[k] != 0);
      }
    }
    if (joins) {
      walk.extent.back() *= extent;
      continue;
    }
    walk.extent.push_back(extent);
    for (size_t k = 0; k < in_shapes.size(); ++k) walk.stride[k].push_back(stride[k]);
  }
  std::reverse(walk.extent.begin(), walk.extent.end());
  for (auto& s : walk.stride) std::reverse(s.begin(), s.end());
  return walk;
}

Nest elementwise(std::string name, std::span<const DType> in, std::span<const Shape> in_shapes,
                 std::span<const DType> out, const Shape& out_shape,
                 const ElementFormula& formula) {
  MYCEL_CHECK(in.size() == in_shapes.size(), "{}: {} dtypes for {} shapes", name, in.size(),
              in_shapes.size());
  Nest nest(std::move(name));
  const Walk walk = collapse(in_shapes, out_shape);
  Builder(nest, walk, in, out, formula).build();
  return nest;
}

}  // namespace mycel::loops
