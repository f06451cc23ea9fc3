// Gathering on the CPU. Indices are checked before anything is copied, so that a bad one raises at
// the call; then whole slices are copied.
#include <algorithm>
#include <cstring>

#include "backend/cpu/function_kernel.h"
#include "base/threads.h"
#include "ops/index/index_tables.h"
#include "ops/index/indices.h"
#include "ops/shape/moves.h"
#include "tensor/element.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

constexpr int64_t kBytesPerThread = 64 << 10;

// x as [batch, outer, n, inner], indices as [batch, count].
struct GatherShape {
  int64_t batch, outer, n, inner, count;
};
GatherShape gather_shape(const Problem& p) {
  const Shape &x = p.in[0]->shape, &index = p.in[1]->shape;
  int64_t a = p.view().integer("axis"), b = p.view().integer("batch_dims");
  int axis = static_cast<int>(a < 0 ? a + x.rank() : a),
      batch = static_cast<int>(b < 0 ? b + index.rank() : b);
  return {x.size(0, batch), x.size(batch, axis), x[axis], x.size(axis + 1, x.rank()),
          index.size(batch, index.rank())};
}

// Elements that one thread copies at least.
int64_t grain_for(int64_t slice_bytes) {
  return std::max<int64_t>(1, kBytesPerThread / std::max<int64_t>(1, slice_bytes));
}

// Slices [begin, end) of the result, counted over batch, outer and index.
template <typename T>
void copy_slices(const GatherShape& g, const T* x, const int64_t* index, T* y, int64_t begin,
                 int64_t end) {
  int64_t row = begin / g.count, k = begin % g.count;
  for (int64_t slice = begin; slice < end; ++slice) {
    int64_t at = index[row / g.outer * g.count + k];
    T* to = y + slice * g.inner;
    if (at == kSkipped) {
      std::memset(static_cast<void*>(to), 0, static_cast<size_t>(g.inner) * sizeof(T));
    } else if (g.inner == 1) {
      *to = x[row * g.n + at];
    } else {
      std::memcpy(static_cast<void*>(to), x + (row * g.n + at) * g.inner,
                  static_cast<size_t>(g.inner) * sizeof(T));
    }
    if (++k == g.count) k = 0, ++row;
  }
}

std::unique_ptr<Prepared> prepare_gather(const Problem& p) {
  GatherShape g = gather_shape(p);
  DType index_type = p.in[1]->dtype;
  size_t bytes = size_of(p.out[0].dtype);
  Bounds bounds = bounds_of(p.view().string("bounds"));
  return cpu::prepared_by("host", [=, name = p.op.name.c_str()](void* const* b) {
    std::vector<int64_t> index =
        read_indices(name, b[1], index_type, g.batch * g.count, g.n, bounds);
    with_element_size(bytes, [&](auto like) {
      using T = decltype(like);
      auto* x = static_cast<const T*>(b[0]);
      auto* y = static_cast<T*>(b[2]);
      parallel_for(
          g.batch * g.outer * g.count, grain_for(g.inner * static_cast<int64_t>(bytes)),
          [&](int64_t begin, int64_t end) { copy_slices(g, x, index.data(), y, begin, end); });
    });
  });
}

std::unique_ptr<Prepared> prepare_gather_d(const Problem& p) {
  Shape x = p.in[0]->shape, index = p.in[1]->shape;
  int64_t d = p.view().integer("dim");
  int axis = static_cast<int>(d < 0 ? d + x.rank() : d);
  DType index_type = p.in[1]->dtype;
  size_t bytes = size_of(p.out[0].dtype);
  return cpu::prepared_by("host", [=, name = p.op.name.c_str()](void* const* b) {
    std::vector<int64_t> at =
        read_indices(name, b[1], index_type, index.size(), x[axis], Bounds::kError);
    ElementPlaces places(x, index, axis);
    with_element_size(bytes, [&](auto like) {
      using T = decltype(like);
      auto* from = static_cast<const T*>(b[0]);
      auto* to = static_cast<T*>(b[2]);
      parallel_for(places.rows, grain_for(places.inner * static_cast<int64_t>(bytes)),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t r = begin; r < end; ++r) {
                       int64_t base = places.row_offset(r), first = r * places.inner;
                       for (int64_t i = 0; i < places.inner; ++i) {
                         to[first + i] =
                             from[places.element(base, i, at[static_cast<size_t>(first + i)])];
                       }
                     }
                   });
    });
  });
}

std::unique_ptr<Prepared> prepare_gather_nd(const Problem& p) {
  Shape x = p.in[0]->shape, index = p.in[1]->shape;
  int depth = static_cast<int>(index[-1]);
  int64_t count = index.size(0, index.rank() - 1), inner = x.size(depth, x.rank());
  Strides strides = row_strides(x);
  DType index_type = p.in[1]->dtype;
  size_t bytes = size_of(p.out[0].dtype);
  return cpu::prepared_by("host", [=, name = p.op.name.c_str()](void* const* b) {
    std::vector<int64_t> at =
        read_tuples(name, b[1], index_type, count, depth, x.begin(), strides.data());
    with_element_size(bytes, [&](auto like) {
      using T = decltype(like);
      auto* from = static_cast<const T*>(b[0]);
      auto* to = static_cast<T*>(b[2]);
      parallel_for(count, grain_for(inner * static_cast<int64_t>(bytes)),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t k = begin; k < end; ++k)
                       std::copy_n(from + at[static_cast<size_t>(k)], inner, to + k * inner);
                   });
    });
  });
}

constexpr KernelDef kKernels[] = {
    {"gather", "host", nullptr, prepare_gather},
    {"gather_d", "host", nullptr, prepare_gather_d},
    {"gather_nd", "host", nullptr, prepare_gather_nd},
};

}  // namespace

void register_gather_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
