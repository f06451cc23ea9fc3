// Attention block by block: a block of rows of one head's scores is a product by oneDNN, becomes
// probabilities in place and is multiplied with v, all in cache. The gradient walks over the same
// blocks. Heads run in parallel; each sums in a fixed order.
#include <cstring>

#include "backend/cpu/function_kernel.h"
#include "base/threads.h"
#include "ops/all_kernels.cpu.h"
#include "ops/attention/blocks.cpu.h"
#include "tensor/storage.h"

namespace mycel::ops {
namespace {

using cpu::onednn::Tile;
using Product = std::shared_ptr<const cpu::Prepared>;

// A product for every width and for the last, shorter block.
class Products {
 public:
  template <typename F>
  Products(const AttentionBlocks& a, F tile) {
    for (int64_t b : {int64_t{0}, a.blocks - 1}) {
      for (int64_t w : a.widths()) {
        made_.push_back(cpu::onednn::tile_product(tile(a.rows_of(b), w)));
      }
    }
    widths_ = a.widths().size();
    last_ = a.blocks - 1;
  }
  void run(int64_t block, int width, const float* a, const float* b, float* y) const {
    size_t i = (block == last_ ? widths_ : 0) + static_cast<size_t>(width);
    void* buffers[] = {const_cast<float*>(a), const_cast<float*>(b), y};
    made_[i]->run(buffers);
  }

 private:
  std::vector<Product> made_;
  size_t widths_;
  int64_t last_;
};

const float* in(void* const* buffers, int i) { return static_cast<const float*>(buffers[i]); }
float* out(void* const* buffers, int i) { return static_cast<float*>(buffers[i]); }

std::string refuses(const cpu::Problem& p) {
  bool last = p.view().boolean("heads_last");
  for (const ir::Type* t : p.in) {
    if (t && (t->dtype != DType::kFloat32 || t->shape.size() == 0))
      return "operands other than float32, or without elements";
  }
  const Shape &q = p.in[0]->shape, &k = p.in[1]->shape, &v = p.in[2]->shape;
  if (q.rank() != k.rank() || q.rank() != v.rank()) return "batches that broadcast";
  int positions = last ? 1 : q.rank() - 2;
  for (int d = 0; d < q.rank() - 1; ++d) {
    if (k[d] != v[d] || (d != positions && q[d] != k[d])) return "batches that broadcast";
  }
  int mask = p.op.def.out.size() == 1 ? 3 : 4;
  if (!p.has(mask)) return "";
  const Shape& m = p.in[mask]->shape;
  if (m.rank() == 0 || m[-1] != k[positions]) return "a mask that repeats along the columns";
  if (m.rank() > q.rank()) return "a mask with more dims than the scores";
  return m.rank() > 1 && m[-2] != 1 && m[-2] != q[positions] ? "a mask of other rows" : "";
}

// Columns that a unit's blocks really need, decided once per unit.
class Width {
 public:
  Width(const AttentionBlocks& a, const std::vector<int>& columns, void* const* buffers)
      : a_(a), columns_(columns), buffers_(buffers) {}
  int operator()(int64_t unit, int64_t block) {
    int all = static_cast<int>(a_.widths().size()) - 1;
    if (columns_.empty()) return all;
    if (unit != unit_) {
      unit_ = unit;
      narrow_ = a_.moderate(buffers_, unit);
    }
    return narrow_ ? a_.width_of(columns_, unit, block) : all;
  }

 private:
  const AttentionBlocks& a_;
  const std::vector<int>& columns_;
  void* const* buffers_;
  int64_t unit_ = -1;
  bool narrow_ = false;
};

std::unique_ptr<cpu::Prepared> forward(const cpu::Problem& p) {
  struct Kernel {
    AttentionBlocks a;
    HeadRows y;
    Products scores, mix;
  };
  AttentionBlocks a(p, 3, 4);
  HeadRows y(p.out[0].shape, p.view().boolean("heads_last"));
  Products scores(a, [&](int64_t rows, int64_t w) {
    return Tile{rows, w, a.q.cols, a.q.stride, 1, 1, a.k.stride, a.line};
  });
  Products mix(a, [&](int64_t rows, int64_t w) {
    return Tile{rows, a.v.cols, w, a.line, 1, a.v.stride, 1, y.stride};
  });
  auto k = std::make_shared<Kernel>(Kernel{std::move(a), y, std::move(scores), std::move(mix)});
  int y_at = static_cast<int>(p.in.size());
  return cpu::prepared_by("blocks", [k, y_at](void* const* buffers) {
    const AttentionBlocks& a = k->a;
    std::vector<int> columns = a.columns(buffers);
    int64_t tasks = a.units * a.blocks;
    parallel_for(tasks, a.units >= 8 ? a.blocks : 1, [&](int64_t begin, int64_t end) {
      auto memory = Storage::allocate(static_cast<size_t>(a.block * a.line) * sizeof(float));
      auto* s = static_cast<float*>(memory->data());
      Width width(a, columns, buffers);
      for (int64_t task = begin; task < end; ++task) {
        int64_t unit = task / a.blocks, b = task % a.blocks, row = b * a.block;
        int w = width(unit, b);
        k->scores.run(b, w, in(buffers, 0) + a.q.offset(unit) + row * a.q.stride,
                      in(buffers, 1) + a.k.offset(unit), s);
        a.softmax(s, buffers, unit, b, a.widths()[w]);
        k->mix.run(b, w, s, in(buffers, 2) + a.v.offset(unit),
                   out(buffers, y_at) + k->y.offset(unit) + row * k->y.stride);
      }
    });
  });
}

void zero(float* to, const HeadRows& h) {
  for (int64_t r = 0; r < h.rows; ++r)
    std::memset(to + r * h.stride, 0, static_cast<size_t>(h.cols) * sizeof(float));
}

std::unique_ptr<cpu::Prepared> backward(const cpu::Problem& p) {
  struct Kernel {
    AttentionBlocks a;
    HeadRows dy;
    Products scores, dp, dq, dk, dv;
  };
  AttentionBlocks a(p, 4, 5);
  HeadRows dy(p.in[3]->shape, p.view().boolean("heads_last"));
  Products scores(a, [&](int64_t rows, int64_t w) {
    return Tile{rows, w, a.q.cols, a.q.stride, 1, 1, a.k.stride, a.line};
  });
  Products dp(a, [&](int64_t rows, int64_t w) {
    return Tile{rows, w, a.v.cols, dy.stride, 1, 1, a.v.stride, a.line};
  });
  Products dq(a, [&](int64_t rows, int64_t w) {
    return Tile{rows, a.q.cols, w, a.line, 1, a.k.stride, 1, a.q.stride};
  });
  Products dk(a, [&](int64_t rows, int64_t w) {
    return Tile{w, a.k.cols, rows, 1, a.line, a.q.stride, 1, a.k.stride, true};
  });
  Products dv(a, [&](int64_t rows, int64_t w) {
    return Tile{w, a.v.cols, rows, 1, a.line, dy.stride, 1, a.v.stride, true};
  });
  auto k = std::make_shared<Kernel>(Kernel{std::move(a), dy, std::move(scores), std::move(dp),
                                           std::move(dq), std::move(dk), std::move(dv)});
  int y_at = static_cast<int>(p.in.size());
  return cpu::prepared_by("blocks", [k, y_at](void* const* buffers) {
    const AttentionBlocks& a = k->a;
    std::vector<int> columns = a.columns(buffers);
    parallel_for(a.units, 1, [&](int64_t begin, int64_t end) {
      int64_t size = a.block * a.line;
      auto memory = Storage::allocate(static_cast<size_t>(2 * size) * sizeof(float));
      auto *s = static_cast<float*>(memory->data()), *g = s + size;
      Width width(a, columns, buffers);
      for (int64_t unit = begin; unit < end; ++unit) {
        const float *q = in(buffers, 0) + a.q.offset(unit),
                    *keys = in(buffers, 1) + a.k.offset(unit);
        const float *v = in(buffers, 2) + a.v.offset(unit),
                    *dy = in(buffers, 3) + k->dy.offset(unit);
        float *dq = out(buffers, y_at) + a.q.offset(unit),
              *dk = out(buffers, y_at + 1) + a.k.offset(unit);
        float* dv = out(buffers, y_at + 2) + a.v.offset(unit);
        zero(dk, a.k);
        zero(dv, a.v);
        for (int64_t b = 0; b < a.blocks; ++b) {
          int64_t row = b * a.block;
          const float *qb = q + row * a.q.stride, *dyb = dy + row * k->dy.stride;
          int w = width(unit, b);
          k->scores.run(b, w, qb, keys, s);
          a.softmax(s, buffers, unit, b, a.widths()[w]);
          k->dv.run(b, w, s, dyb, dv);
          k->dp.run(b, w, dyb, v, g);
          a.softmax_grad(s, g, buffers, b, a.widths()[w]);
          k->dq.run(b, w, g, keys, dq + row * a.q.stride);
          k->dk.run(b, w, g, qb, dk);
        }
      }
    });
  });
}

constexpr cpu::KernelDef kKernels[] = {
    {"attention", "blocks", refuses, forward},
    {"attention_grad", "blocks", refuses, backward},
};

}  // namespace

void register_attention_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
