// Kernels of the sparse room's primitives. Indices are checked before anything is computed. How
// work is split never changes a result: each sum is made by one thread, in the order of entries.
#include <algorithm>
#include <bit>

#include "backend/cpu/function_kernel.h"
#include "base/threads.h"
#include "ops/all_kernels.cpu.h"
#include "ops/index/indices.h"
#include "tensor/element.h"
#include "tensor/wrapping.h"

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
      to[j] = E::store(wrapping_add<T>(E::load(to[j]), wrapping_mul<T>(v, E::load(from[j]))));
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
      part[l] = wrapping_add<T>(part[l], wrapping_mul<T>(E::load(a[j + l]), E::load(b[j + l])));
    }
  }
  T sum{};
  for (; j < n; ++j) sum = wrapping_add<T>(sum, wrapping_mul<T>(E::load(a[j]), E::load(b[j])));
  for (T v : part) sum = wrapping_add<T>(sum, v);
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

// Row pointers and columns of a CSR matrix, checked.
struct Structure {
  Structure(const char* op, const Tensor& indptr, const Tensor& indices, int64_t width)
      : columns(read_indices(op, indices.raw(), indices.dtype(), indices.size(), width,
                             Bounds::kError)),
        rows(indptr.size() - 1) {
    for (int64_t i = 0; i <= rows; ++i) {
      int64_t at = element_as_int(indptr.raw(), indptr.dtype(), i);
      if (at < (i ? starts.back() : 0) || at > indices.size()) {
        value_error("{}: row pointers must ascend from 0 to {}, got {} at {}", op, indices.size(),
                    at, i);
      }
      starts.push_back(at);
    }
  }
  std::vector<int64_t> columns, starts;
  int64_t rows;
};

// f(entry of a, entry of b, column) for each product of entries in row i.
template <typename F>
void each_pair(const Structure& a, const Structure& b, int64_t i, F f) {
  for (int64_t k = a.starts[i]; k < a.starts[i + 1]; ++k) {
    int64_t inner = a.columns[k];
    for (int64_t l = b.starts[inner]; l < b.starts[inner + 1]; ++l) f(k, l, b.columns[l]);
  }
}

// Where the entries and the pairs of each row of a product begin; and past the last one.
struct ProductRows {
  ProductRows(const Structure& a, const Structure& b, int64_t width)
      : entries(static_cast<size_t>(a.rows + 1)), pairs(entries.size()) {
    parallel_for(a.rows, kRows, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> seen(static_cast<size_t>(width), -1);  // the last row with this column
      for (int64_t i = begin; i < end; ++i) {
        each_pair(a, b, i, [&](int64_t, int64_t, int64_t column) {
          ++pairs[i + 1];
          if (seen[column] != i) seen[column] = i, ++entries[i + 1];
        });
      }
    });
    for (int64_t i = 0; i < a.rows; ++i) {
      entries[i + 1] += entries[i];
      pairs[i + 1] += pairs[i];
    }
  }
  static constexpr int64_t kRows = 256;  // that one thread takes at least
  std::vector<int64_t> entries, pairs;
};

// Row by row (Gustavson, "Two fast algorithms for sparse matrices", 1978): `slot` tells where a
// column stands in the row at hand.
template <typename I>
Tensors csr_pairs_as(DType d, const Structure& a, const Structure& b, int64_t width) {
  ProductRows rows(a, b, width);
  Tensor columns = Tensor::empty(d, {rows.entries.back()});
  auto vector = [&] { return Tensor::empty(DType::kInt64, {rows.pairs.back()}); };
  Tensor place = vector(), from = vector(), to = vector();
  auto* column_out = static_cast<I*>(columns.mutable_raw());
  auto place_out = place.mutable_data<int64_t>(), from_out = from.mutable_data<int64_t>(),
       to_out = to.mutable_data<int64_t>();
  parallel_for(a.rows, ProductRows::kRows, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> row, slot(static_cast<size_t>(width), -1);
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = rows.entries[i], next = rows.pairs[i];
      row.clear();
      each_pair(a, b, i, [&](int64_t, int64_t, int64_t column) {
        // A place before this row's is one of another row.
        if (slot[column] < first) slot[column] = first, row.push_back(column);
      });
      std::sort(row.begin(), row.end());
      for (size_t k = 0; k < row.size(); ++k) {
        slot[row[k]] = first + static_cast<int64_t>(k);
        column_out[slot[row[k]]] = static_cast<I>(row[k]);
      }
      each_pair(a, b, i, [&](int64_t k, int64_t l, int64_t column) {
        place_out[next] = slot[column];
        from_out[next] = k;
        to_out[next++] = l;
      });
    }
  });
  Tensor indptr = Tensor::empty(d, {a.rows + 1});
  std::copy(rows.entries.begin(), rows.entries.end(), static_cast<I*>(indptr.mutable_raw()));
  return {indptr, columns, place, from, to};
}

Tensors csr_pairs(const Problem& p, std::span<const Tensor> in) {
  const char* op = p.op.name.c_str();
  int64_t width = p.view().integer("width");
  Structure b(op, in[2], in[3], width), a(op, in[0], in[1], b.rows);
  DType d = in[0].dtype();
  return d == DType::kInt64 ? csr_pairs_as<int64_t>(d, a, b, width)
                            : csr_pairs_as<int32_t>(d, a, b, width);
}

constexpr KernelDef kKernels[] = {
    {"entries_times_matrix", "host", nullptr, prepare_times},
    {"entries_dot_rows", "host", nullptr, prepare_dot},
    {"csr_rows", "host", nullptr, prepare_rows},
    {"csr_pairs", "host", nullptr, nullptr, csr_pairs},
    {"sorted_distinct", "host", nullptr, nullptr, sorted_distinct},
};

}  // namespace

void register_sparse_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
