// Sorting on the CPU. Every dtype is mapped to unsigned keys that order as its values do (NaN last,
// both zeros equal); key and position then sort together, which makes the order stable.
#include <algorithm>
#include <bit>
#include <cmath>

#include "backend/cpu/function_kernel.h"
#include "base/threads.h"
#include "ops/index/index_tables.h"
#include "tensor/element.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

template <typename E>
uint64_t key_of(typename E::Stored stored) {
  using T = typename E::Number;
  T v = E::load(stored);
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(v)) return ~uint64_t{0};
    uint64_t bits = std::bit_cast<uint64_t>(v + 0.0);  // -0 becomes +0
    return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
  } else if constexpr (std::is_same_v<T, float>) {
    if (std::isnan(v)) return ~uint32_t{0};
    uint32_t bits = std::bit_cast<uint32_t>(v + 0.0f);
    return bits >> 31 ? static_cast<uint32_t>(~bits) : bits | uint32_t{1} << 31;
  } else if constexpr (sizeof(T) < 8 && std::is_signed_v<T>) {
    return static_cast<uint32_t>(v) ^ uint32_t { 1 } << 31;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(v) ^ uint64_t { 1 } << 63;
  } else {
    return static_cast<uint64_t>(v);
  }
}

// Key and position in one word where both fit, else side by side.
struct Narrow {
  uint64_t word;
  Narrow(uint64_t key, uint32_t i) : word(key << 32 | i) {}
  uint32_t index() const { return static_cast<uint32_t>(word); }
  bool operator<(const Narrow& o) const { return word < o.word; }
};
struct Wide {
  uint64_t key;
  uint32_t i;
  Wide(uint64_t k, uint32_t at) : key(k), i(at) {}
  uint32_t index() const { return i; }
  bool operator<(const Wide& o) const { return key < o.key || (key == o.key && i < o.i); }
};

// One axis of a tensor: [outer, n, inner]; the first k of the order are wanted.
struct Lines {
  int64_t outer, n, inner, k;
  bool descending;
};

template <typename E, typename Entry>
void sort_line(const Lines& l, const typename E::Stored* x, typename E::Stored* y, int32_t* at,
               std::vector<Entry>& entries) {
  constexpr uint64_t kAll = sizeof(Entry) == 8 ? ~uint32_t{0} : ~uint64_t{0};
  entries.clear();
  for (int64_t i = 0; i < l.n; ++i) {
    uint64_t key = key_of<E>(x[i * l.inner]);
    entries.emplace_back(l.descending ? kAll - key : key, static_cast<uint32_t>(i));
  }
  if (l.k < l.n) std::nth_element(entries.begin(), entries.begin() + l.k, entries.end());
  std::sort(entries.begin(), entries.begin() + l.k);
  for (int64_t i = 0; i < l.k; ++i) {
    uint32_t from = entries[static_cast<size_t>(i)].index();
    y[i * l.inner] = x[static_cast<int64_t>(from) * l.inner];
    at[i * l.inner] = static_cast<int32_t>(from);
  }
}

template <typename E>
void sort_lines(const Lines& l, const void* in, void* values, int32_t* at) {
  using T = typename E::Stored;
  using Entry = std::conditional_t<sizeof(typename E::Number) < 8, Narrow, Wide>;
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(values);
  parallel_for(l.outer * l.inner, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, l.n)),
               [&](int64_t begin, int64_t end) {
                 std::vector<Entry> entries;
                 entries.reserve(static_cast<size_t>(l.n));
                 for (int64_t r = begin; r < end; ++r) {
                   int64_t o = r / l.inner, i = r % l.inner;
                   sort_line<E>(l, x + o * l.n * l.inner + i, y + o * l.k * l.inner + i,
                                at + o * l.k * l.inner + i, entries);
                 }
               });
}

std::unique_ptr<Prepared> prepare(const Problem& p) {
  const Shape& s = p.in[0]->shape;
  bool sort = p.op.name == "sort";
  int64_t a = p.view().integer(sort ? "axis" : "dim");
  int axis = static_cast<int>(a < 0 ? a + s.rank() : a);
  if (s[axis] > INT32_MAX)
    value_error("{}: axis {} of size {} is longer than int32 positions reach", p.op.name, axis,
                s[axis]);
  Lines l{s.size(0, axis), s[axis], s.size(axis + 1, s.rank()), p.out[0].shape[axis],
          p.view().boolean(sort ? "descending" : "largest")};
  DType dtype = p.in[0]->dtype;
  return cpu::prepared_by("host", [=](void* const* b) {
    with_real_element(dtype, [&](auto e) {
      sort_lines<decltype(e)>(l, b[0], b[1], static_cast<int32_t*>(b[2]));
    });
  });
}

constexpr KernelDef kKernels[] = {
    {"sort", "host", nullptr, prepare},
    {"topk", "host", nullptr, prepare},
};

}  // namespace

void register_order_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
