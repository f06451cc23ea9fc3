// Kernels of the sparse room's primitives. Indices are checked before anything is computed. How
// work is split never changes a result: each sum is made by one thread, in the order of entries.
#include <algorithm>
#include <bit>

#include "backend/cpu/function_kernel.h"
#include "base/threads.h"
#include "ops/all_kernels.cpu.h"
#include "ops/index/indices.h"
#include "tensor/element.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

constexpr int64_t kWorkPerThread = 16 << 10;  // products
constexpr int64_t kBlock = 32;                // columns that one thread takes

// Entry k of a sparse matrix lies at (to[k], from[k]).
struct Entries {
  std::vector<int64_t> to, from;
  int64_t count, width;
};

// y[to] += value · x[from] for entries [first, last) and columns [left, right).
template <typename E>
void add_rows(const Entries& e, const typename E::Stored* values, const typename E::Stored* x,
              typename E::Stored* y, int64_t first, int64_t last, int64_t left, int64_t right) {
  using T = typename E::Number;
  for (int64_t k = first; k < last; ++k) {
    const T v = E::load(values[k]);
    const auto* from = x + e.from[static_cast<size_t>(k)] * e.width;
    auto* to = y + e.to[static_cast<size_t>(k)] * e.width;
    for (int64_t j = left; j < right; ++j) {
      to[j] = E::store(static_cast<T>(E::load(to[j]) + v * E::load(from[j])));
    }
  }
}

// Entries in the order of rows are split between rows, others between columns.
template <typename E>
void times(const Entries& e, bool ordered, const typename E::Stored* values,
           const typename E::Stored* x, typename E::Stored* y) {
  int64_t each = std::max<int64_t>(1, e.width);
  if (ordered) {
    // To the next entry that begins a row.
    auto row_start = [&](int64_t k) {
      while (k > 0 && k < e.count &&
             e.to[static_cast<size_t>(k)] == e.to[static_cast<size_t>(k - 1)]) {
        ++k;
      }
      return k;
    };
    parallel_for(e.count, std::max<int64_t>(1, kWorkPerThread / each),
                 [&](int64_t begin, int64_t end) {
                   add_rows<E>(e, values, x, y, row_start(begin), row_start(end), 0, e.width);
                 });
    return;
  }
  int64_t grain = e.count * kBlock < kWorkPerThread ? e.width : kBlock;
  parallel_for(e.width, std::max<int64_t>(1, grain), [&](int64_t left, int64_t right) {
    add_rows<E>(e, values, x, y, 0, e.count, left, right);
  });
}

std::unique_ptr<Prepared> prepare_times(const Problem& p) {
  int64_t count = p.in[0]->shape[0], width = p.in[3]->shape[1], rows = p.in[3]->shape[0],
          height = p.out[0].shape[0];
  DType to_type = p.in[0]->dtype, from_type = p.in[1]->dtype, dtype = p.out[0].dtype;
  return cpu::prepared_by("host", [=, name = p.op.name.c_str()](void* const* b) {
    Entries e{read_indices(name, b[0], to_type, count, height, Bounds::kError),
              read_indices(name, b[1], from_type, count, rows, Bounds::kError), count, width};
    bool ordered = std::is_sorted(e.to.begin(), e.to.end());
    with_element(dtype, [&](auto kind) {
      using E = decltype(kind);
      using S = typename E::Stored;
      auto* y = static_cast<S*>(b[4]);
      std::fill_n(y, height * width, E::store(typename E::Number(0)));
      times<E>(e, ordered, static_cast<const S*>(b[2]), static_cast<const S*>(b[3]), y);
    });
  });
}

// The product of two rows: eight sums side by side, so that it can be vectorized.
template <typename E>
typename E::Stored dot(const typename E::Stored* a, const typename E::Stored* b, int64_t n) {
  using T = typename E::Number;
  T part[8] = {};
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    for (int l = 0; l < 8; ++l) {
      part[l] = static_cast<T>(part[l] + E::load(a[j + l]) * E::load(b[j + l]));
    }
  }
  T sum{};
  for (; j < n; ++j) sum = static_cast<T>(sum + E::load(a[j]) * E::load(b[j]));
  for (T v : part) sum = static_cast<T>(sum + v);
  return E::store(sum);
}

std::unique_ptr<Prepared> prepare_dot(const Problem& p) {
  int64_t count = p.in[0]->shape[0], width = p.in[2]->shape[1], a_rows = p.in[2]->shape[0],
          b_rows = p.in[3]->shape[0];
  DType to_type = p.in[0]->dtype, from_type = p.in[1]->dtype, dtype = p.out[0].dtype;
  return cpu::prepared_by("host", [=, name = p.op.name.c_str()](void* const* b) {
    std::vector<int64_t> to = read_indices(name, b[0], to_type, count, a_rows, Bounds::kError),
                         from = read_indices(name, b[1], from_type, count, b_rows, Bounds::kError);
    with_element(dtype, [&](auto kind) {
      using E = decltype(kind);
      using S = typename E::Stored;
      auto *x = static_cast<const S*>(b[2]), *y = static_cast<const S*>(b[3]);
      auto* out = static_cast<S*>(b[4]);
      int64_t grain = std::max<int64_t>(1, kWorkPerThread / std::max<int64_t>(1, width));
      parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          auto i = static_cast<size_t>(k);
          out[k] = dot<E>(x + to[i] * width, y + from[i] * width, width);
        }
      });
    });
  });
}

// Entry k belongs to row r when pointers[r + 1] is the first row end above k; the last row takes
// what is left.
template <typename I>
void fill_rows(const I* pointers, int64_t rows, I* out, int64_t count) {
  int64_t k = 0;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t end = r + 1 < rows ? std::clamp<int64_t>(pointers[r + 1], k, count) : count;
    std::fill(out + k, out + end, static_cast<I>(r));
    k = end;
  }
}

std::unique_ptr<Prepared> prepare_rows(const Problem& p) {
  int64_t rows = std::max<int64_t>(p.in[0]->shape[0] - 1, 1), count = p.in[1]->shape[0];
  bool wide = p.in[0]->dtype == DType::kInt64;
  return cpu::prepared_by("host", [=](void* const* b) {
    if (wide) {
      fill_rows(static_cast<const int64_t*>(b[0]), rows, static_cast<int64_t*>(b[2]), count);
    } else {
      fill_rows(static_cast<const int32_t*>(b[0]), rows, static_cast<int32_t*>(b[2]), count);
    }
  });
}

struct Placed {
  uint64_t key;
  int64_t place;
};

// By key, equal ones in order: a radix sort of as many digits as the largest key has.
void sort_by_key(std::vector<Placed>& v, uint64_t largest) {
  constexpr int kDigit = 11;
  if (v.size() < 512) {
    std::stable_sort(v.begin(), v.end(),
                     [](const Placed& a, const Placed& b) { return a.key < b.key; });
    return;
  }
  std::vector<Placed> other(v.size());
  for (int shift = 0; shift < 64 && (largest >> shift) != 0; shift += kDigit) {
    size_t starts[(1 << kDigit) + 1] = {};
    auto digit = [&](const Placed& p) { return (p.key >> shift) & ((1 << kDigit) - 1); };
    for (const Placed& p : v) ++starts[digit(p) + 1];
    for (size_t d = 1; d < std::size(starts); ++d) starts[d] += starts[d - 1];
    for (const Placed& p : v) other[starts[digit(p)]++] = p;
    v.swap(other);
  }
}

Tensors sorted_distinct(const Problem&, std::span<const Tensor> in) {
  auto x = in[0].data<int64_t>();
  Tensor place = Tensor::empty(DType::kInt64, in[0].shape());
  if (x.empty()) return {Tensor::empty(DType::kInt64, {0}), place};
  auto [least, most] = std::minmax_element(x.begin(), x.end());
  uint64_t base = static_cast<uint64_t>(*least), largest = static_cast<uint64_t>(*most) - base;
  std::vector<Placed> sorted(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    sorted[i] = {static_cast<uint64_t>(x[i]) - base, static_cast<int64_t>(i)};
  }
  sort_by_key(sorted, largest);
  std::vector<int64_t> values;
  auto to = place.mutable_data<int64_t>();
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i].key != sorted[i - 1].key) {
      values.push_back(static_cast<int64_t>(sorted[i].key + base));
    }
    to[static_cast<size_t>(sorted[i].place)] = static_cast<int64_t>(values.size()) - 1;
  }
  return {Tensor::from(values, {static_cast<int64_t>(values.size())}), place};
}

constexpr KernelDef kKernels[] = {
    {"entries_times_matrix", "host", nullptr, prepare_times},
    {"entries_dot_rows", "host", nullptr, prepare_dot},
    {"csr_rows", "host", nullptr, prepare_rows},
    {"sorted_distinct", "host", nullptr, nullptr, sorted_distinct},
};

}  // namespace

void register_sparse_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
