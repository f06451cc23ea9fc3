#include "ops/matmul/product.h"

#include <algorithm>

namespace mycel::ops {
namespace {

using loops::Buf;
using loops::LoopKind;
using loops::Nest;
using loops::Trips;
using loops::Val;
using loops::Var;

constexpr int64_t kTile = 512;  // columns of one task when rows of b are added up
constexpr int64_t kBlock = 64;  // columns of one task when dot products are formed
constexpr int kUnroll = 4;
constexpr int64_t kFewColumns = 128;
constexpr int kRows = 4;  // of a block that shares its loads of b

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The run-time numbers of a product.
struct Numbers {
  Val m, n, k, a_row, a_col, b_row, b_col, tasks;
  std::vector<Val> batch, a_batch, b_batch;
};

Numbers numbers_of(Nest& nest, const Product& p, int64_t tasks) {
  auto list = [&](const std::vector<int64_t>& v) {
    std::vector<Val> out;
    for (int64_t x : v) out.push_back(nest.number(x));
    return out;
  };
  return {nest.number(p.m),     nest.number(p.n),     nest.number(p.k),     nest.number(p.a_row),
          nest.number(p.a_col), nest.number(p.b_row), nest.number(p.b_col), nest.number(tasks),
          list(p.batch),        list(p.a_batch),      list(p.b_batch)};
}

// Offsets of batch `index` in both operands.
void batch_offsets(const Numbers& s, Val index, Val* a, Val* b) {
  *a = index * 0;
  *b = index * 0;
  for (size_t d = s.batch.size(); d-- > 0;) {
    Val at = d == 0 ? index : index % s.batch[d];
    *a = *a + at * s.a_batch[d];
    *b = *b + at * s.b_batch[d];
    if (d > 0) index = index / s.batch[d];
  }
}

// sum + x y, with one rounding where the machine can.
Val multiply_add(Val x, Val y, Val sum) {
  return is_float(sum.dtype()) ? fma(x, y, sum) : sum + x * y;
}

// A block of rows of y over one tile of columns is a sum of rows of b, four of them per pass over
// the tile: what is loaded of b serves every row of the block.
void emit_rows(Nest& nest, Buf a, Buf b, Buf y, const Buf* bias, const Product& p,
               int64_t batches) {
  int64_t tiles = ceil_div(p.n, kTile), blocks = ceil_div(p.m, kRows);
  Numbers s = numbers_of(nest, p, tiles);
  Val block_count = nest.number(blocks);
  const Trips trips = p.n < kFewColumns ? Trips::kFew : Trips::kMany;
  nest.parallel(batches * tiles * blocks, std::min(p.n, kTile) * p.k * kRows, [&](Val task) {
    Val i0 = (task % block_count) * kRows, rest = task / block_count;
    Val j0 = (rest % s.tasks) * kTile, batch = rest / s.tasks;
    Val width = min(s.n - j0, nest.index(kTile));
    Val a0, b0;
    batch_offsets(s, batch, &a0, &b0);
    b0 = b0 + j0;
    // Rows i … i + count - 1.
    auto rows = [&](Val i, int count) {
      Val from = a0 + i * s.a_row, y0 = (batch * s.m + i) * s.n + j0;
      nest.loop(
          width, LoopKind::kVector,
          [&](Val j) {
            Val start =
                bias ? nest.load(*bias, j0 + j) : loops::constant(nest, y.dtype, int64_t{0});
            for (int r = 0; r < count; ++r) nest.store(y, y0 + s.n * r + j, start);
          },
          trips);
      auto add = [&](Val k, int terms) {
        std::vector<Val> factor;
        for (int r = 0; r < count; ++r) {
          for (int t = 0; t < terms; ++t)
            factor.push_back(nest.load(a, from + s.a_row * r + (k + t) * s.a_col));
        }
        nest.loop(
            width, LoopKind::kVector,
            [&](Val j) {
              std::vector<Val> of_b;
              for (int t = 0; t < terms; ++t)
                of_b.push_back(nest.load(b, b0 + (k + t) * s.b_row + j));
              for (int r = 0; r < count; ++r) {
                Val sum = nest.load(y, y0 + s.n * r + j);
                for (int t = 0; t < terms; ++t)
                  sum = multiply_add(factor[r * terms + t], of_b[t], sum);
                nest.store(y, y0 + s.n * r + j, sum);
              }
            },
            trips);
      };
      Val quads = s.k / kUnroll;
      nest.loop(quads, LoopKind::kSequential, [&](Val q) { add(q * kUnroll, kUnroll); });
      nest.loop(s.k - quads * kUnroll, LoopKind::kSequential,
                [&](Val r) { add(quads * kUnroll + r, 1); });
    };
    Val left = s.m - i0;
    nest.if_(
        left >= kRows, [&] { rows(i0, kRows); },
        [&] { nest.loop(left, LoopKind::kSequential, [&](Val r) { rows(i0 + r, 1); }); });
  });
}

bool narrow_float(DType t) { return is_float(t) && size_of(t) == 2; }
DType sum_dtype(DType t) { return narrow_float(t) ? DType::kFloat32 : t; }

// Each element of y is a dot product; four columns share the loads of a. Sums live in registers, in
// float32 for the 16-bit floats.
void emit_dots(Nest& nest, const ProductRead& a, const ProductRead& b, Buf y, const Buf* bias,
               const Product& p, int64_t batches) {
  int64_t blocks = ceil_div(p.n, kBlock);
  Numbers s = numbers_of(nest, p, blocks);
  nest.parallel(batches * p.m * blocks, std::min(p.n, kBlock) * p.k, [&](Val task) {
    Val j0 = (task % s.tasks) * kBlock, row = task / s.tasks;
    Val i = row % s.m, batch = row / s.m;
    Val width = min(s.n - j0, nest.index(kBlock));
    Val a0, b0;
    batch_offsets(s, batch, &a0, &b0);
    a0 = a0 + i * s.a_row;
    nest.loop((width + (kUnroll - 1)) / kUnroll, LoopKind::kSequential, [&](Val group) {
      std::vector<Val> column;
      std::vector<Var> sum;
      for (int c = 0; c < kUnroll; ++c) {
        // Beyond the last column the last one is computed again: the same value in the same place.
        column.push_back(min(j0 + group * kUnroll + c, s.n - 1));
        sum.push_back(nest.var(loops::constant(nest, sum_dtype(y.dtype), int64_t{0})));
      }
      nest.loop(s.k, LoopKind::kReduce, [&](Val k) {
        Val x = a(a0 + k * s.a_col, i);
        for (int c = 0; c < kUnroll; ++c) {
          sum[c] += x * b(b0 + k * s.b_row + column[c] * s.b_col, column[c]);
        }
      });
      for (int c = 0; c < kUnroll; ++c) {
        Val total = sum[c];
        if (bias) total = total + nest.load(*bias, column[c]);
        nest.store(y, row * s.n + column[c], total);
      }
    });
  });
}

// Joins neighbouring batch dims that both operands walk alike.
void merge_batch(Product& p) {
  for (size_t d = p.batch.size(); d-- > 1;) {
    if (p.a_batch[d - 1] != p.a_batch[d] * p.batch[d] ||
        p.b_batch[d - 1] != p.b_batch[d] * p.batch[d]) {
      continue;
    }
    p.batch[d] *= p.batch[d - 1];
    for (auto* list : {&p.batch, &p.a_batch, &p.b_batch}) list->erase(list->begin() + (d - 1));
  }
}

}  // namespace

Product product_of(const Shape& a, bool transpose_a, const Shape& b, bool transpose_b) {
  Product p;
  p.k = transpose_a ? a[-2] : a[-1];
  p.a_col = 1;
  if (a.rank() > 1) {
    p.m = transpose_a ? a[-1] : a[-2];
    p.a_row = a[-1];
    if (transpose_a) std::swap(p.a_row, p.a_col);
  }
  if (b.rank() > 1) {
    p.n = transpose_b ? b[-2] : b[-1];
    p.b_row = b[-1];
    if (transpose_b) std::swap(p.b_row, p.b_col);
  }
  int a_batch = std::max(a.rank() - 2, 0), b_batch = std::max(b.rank() - 2, 0);
  int rank = std::max(a_batch, b_batch);
  int64_t a_stride = p.m * p.k, b_stride = p.k * p.n;
  p.batch.assign(rank, 1);
  p.a_batch.assign(rank, 0);
  p.b_batch.assign(rank, 0);
  for (int d = rank; d-- > 0;) {
    int da = d - (rank - a_batch), db = d - (rank - b_batch);
    int64_t na = da < 0 ? 1 : a[da], nb = db < 0 ? 1 : b[db];
    p.batch[d] = na == 1 ? nb : na;
    if (na != 1) p.a_batch[d] = a_stride;
    if (nb != 1) p.b_batch[d] = b_stride;
    a_stride *= na;
    b_stride *= nb;
  }
  merge_batch(p);
  return p;
}

namespace {

// b with its columns side by side, as a stage of its own: [batch, k, n].
Buf transposed(Nest& nest, Buf b, const Product& p, int64_t batches) {
  Buf to = nest.scratch(b.dtype, std::max<int64_t>(batches * p.k * p.n, 1));
  Numbers s = numbers_of(nest, p, 0);
  nest.parallel(batches * p.k, 4 * p.n, [&](Val task) {
    Val a0, b0;
    batch_offsets(s, task / s.k, &a0, &b0);
    b0 = b0 + task % s.k * s.b_row;
    nest.loop(
        s.n, LoopKind::kVector,
        [&](Val j) { nest.store(to, task * s.n + j, nest.load(b, b0 + j * s.b_col)); },
        p.n < kFewColumns ? Trips::kFew : Trips::kMany);
  });
  return to;
}

}  // namespace

void emit_dot_products(Nest& nest, const ProductRead& a, const ProductRead& b, Buf y,
                       const Product& p) {
  int64_t batches = 1;
  for (int64_t n : p.batch) batches *= n;
  emit_dots(nest, a, b, y, nullptr, p, batches);
}

void emit_product(Nest& nest, Buf a, Buf b, Buf y, const Buf* bias, const Product& p) {
  int64_t batches = 1;
  bool shared = false;  // one matrix b for several of a
  for (size_t d = 0; d < p.batch.size(); ++d) {
    batches *= p.batch[d];
    shared |= p.batch[d] != 1 && p.b_batch[d] == 0;
  }
  if (narrow_float(y.dtype) || (p.b_col != 1 && (p.m < 2 * kRows || shared)))
    return emit_dots(
        nest, [&](Val at, Val) { return nest.load(a, at); },
        [&](Val at, Val) { return nest.load(b, at); }, y, bias, p, batches);
  if (p.b_col == 1) return emit_rows(nest, a, b, y, bias, p, batches);
  Product q = p;
  q.b_row = p.n, q.b_col = 1;
  int64_t stride = p.k * p.n;
  for (size_t d = p.batch.size(); d-- > 0; stride *= p.batch[d]) q.b_batch[d] = stride;
  emit_rows(nest, a, transposed(nest, b, p, batches), y, bias, q, batches);
}

}  // namespace mycel::ops
