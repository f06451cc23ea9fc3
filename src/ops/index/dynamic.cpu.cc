// Kernels that find out the size of their results while they run.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "backend/cpu/function_kernel.h"
#include "ops/index/index_tables.h"
#include "tensor/element.h"
#include "tensor/wrapping.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

template <typename E>
bool is_nonzero(typename E::Stored v) {
  return E::load(v) != typename E::Number(0);
}

Tensors nonzero(const Problem&, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  int rank = x.rank();
  return with_element(x.dtype(), [&](auto e) -> Tensors {
    using E = decltype(e);
    auto* v = static_cast<const typename E::Stored*>(x.raw());
    int64_t count = std::count_if(v, v + x.size(), is_nonzero<E>);
    Tensor out = Tensor::empty(DType::kInt64, {count, rank});
    int64_t* row = static_cast<int64_t*>(out.mutable_raw());
    if (rank == 0) return {out};
    int64_t at[kMaxRank] = {};
    for (int64_t i = 0; i < x.size(); ++i) {
      if (is_nonzero<E>(v[i])) row = std::copy_n(at, rank, row);
      for (int d = rank - 1; d >= 0 && ++at[d] == x.dim(d); --d) at[d] = 0;
    }
    return {out};
  });
}

Tensors shape_of(const Problem&, std::span<const Tensor> in) {
  Tensor out = Tensor::empty(DType::kInt64, {in[0].rank()});
  for (int d = 0; d < in[0].rank(); ++d) out.mutable_data<int64_t>()[d] = in[0].dim(d);
  return {out};
}

Tensors compress(const Problem&, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  auto* mask = static_cast<const uint8_t*>(in[1].raw());
  int64_t n = x.size(), count = std::count_if(mask, mask + n, [](uint8_t m) { return m != 0; });
  Tensor out = Tensor::empty(x.dtype(), {count});
  with_element_size(size_of(x.dtype()), [&](auto like) {
    using T = decltype(like);
    auto* from = static_cast<const T*>(x.raw());
    T* to = static_cast<T*>(out.mutable_raw());
    for (int64_t i = 0; i < n; ++i) {
      if (mask[i]) *to++ = from[i];
    }
  });
  return {out};
}

Tensors repeat_indices(const Problem&, std::span<const Tensor> in) {
  const Tensor& counts = in[0];
  auto count = [&](int64_t i) { return element_as_int(counts.raw(), counts.dtype(), i); };
  int64_t total = 0;
  for (int64_t i = 0; i < counts.size(); ++i) {
    if (count(i) < 0) value_error("repeat_indices: counts must not be negative, got {}", count(i));
    if (__builtin_add_overflow(total, count(i), &total))
      value_error("repeat_indices: counts have a sum beyond int64");
  }
  Tensor out = Tensor::empty(DType::kInt64, {total});
  auto* to = static_cast<int64_t*>(out.mutable_raw());
  for (int64_t i = 0; i < counts.size(); ++i) to = std::fill_n(to, count(i), i);
  return {out};
}

// Values that compare equal get one hash; NaNs are taken as one value.
template <typename T>
struct SameValue {
  size_t operator()(T v) const {
    if (v != v) return 0x7ff8;
    return std::hash<T>()(v == T(0) ? T(0) : v);
  }
  bool operator()(T a, T b) const { return a == b || (a != a && b != b); }
};

// Fills `place` (int32 or int64) per element and gives the different elements in order of
// appearance.
template <typename E, typename I>
std::vector<typename E::Stored> distinct(const typename E::Stored* x, int64_t n, I* place) {
  using T = typename E::Number;
  std::unordered_map<T, I, SameValue<T>, SameValue<T>> seen;
  std::vector<typename E::Stored> values;
  for (int64_t i = 0; i < n; ++i) {
    auto [it, fresh] = seen.try_emplace(E::load(x[i]), static_cast<I>(values.size()));
    if (fresh) values.push_back(x[i]);
    place[i] = it->second;
  }
  return values;
}

template <typename E>
std::vector<typename E::Stored> distinct_of(const typename E::Stored* x, int64_t n, void* place,
                                            DType place_type) {
  if (place_type == DType::kInt64) return distinct<E>(x, n, static_cast<int64_t*>(place));
  return distinct<E>(x, n, static_cast<int32_t*>(place));
}

Tensors unique(const Problem& p, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  Tensor place = Tensor::empty(p.out[1].dtype, x.shape());
  return with_real_element(x.dtype(), [&](auto e) -> Tensors {
    using E = decltype(e);
    using T = typename E::Stored;
    std::vector<T> values = distinct_of<E>(static_cast<const T*>(x.raw()), x.size(),
                                           place.mutable_raw(), place.dtype());
    Tensor y = Tensor::empty(x.dtype(), {static_cast<int64_t>(values.size())});
    std::copy(values.begin(), values.end(), static_cast<T*>(y.mutable_raw()));
    return {y, place};
  });
}

std::unique_ptr<Prepared> prepare_unique_with_pad(const Problem& p) {
  int64_t n = p.in[0]->shape.size();
  DType dtype = p.in[0]->dtype, place_type = p.out[1].dtype;
  return cpu::prepared_by("host", [=](void* const* b) {
    with_real_element(dtype, [&](auto e) {
      using E = decltype(e);
      using T = typename E::Stored;
      std::vector<T> values = distinct_of<E>(static_cast<const T*>(b[0]), n, b[3], place_type);
      values.resize(static_cast<size_t>(n), *static_cast<const T*>(b[1]));
      std::copy(values.begin(), values.end(), static_cast<T*>(b[2]));
    });
  });
}

// x as [outer, n, inner]: slice i differs from its predecessor where any of its elements does.
template <typename E>
bool same_slice(const typename E::Stored* x, int64_t outer, int64_t n, int64_t inner, int64_t i) {
  for (int64_t o = 0; o < outer; ++o) {
    const auto* a = x + (o * n + i) * inner;
    for (int64_t k = 0; k < inner; ++k) {
      if (!(E::load(a[k]) == E::load(a[k - inner]))) return false;
    }
  }
  return true;
}

Tensors runs(const Problem& p, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  const ir::Attr& given = p.view()["axis"];
  int64_t a = given.none() ? 0 : given.integer();
  int axis = static_cast<int>(a < 0 ? a + x.rank() : a);
  int64_t outer = given.none() ? 1 : x.shape().size(0, axis),
          n = given.none() ? x.size() : x.dim(axis);
  int64_t inner = given.none() ? 1 : x.shape().size(axis + 1, x.rank());
  Tensor idx = Tensor::empty(DType::kInt32, p.out[1].shape);
  auto* run = static_cast<int32_t*>(idx.mutable_raw());
  std::vector<int32_t> counts;
  std::vector<int64_t> first;
  with_element(x.dtype(), [&](auto e) {
    using E = decltype(e);
    auto* v = static_cast<const typename E::Stored*>(x.raw());
    for (int64_t i = 0; i < n; ++i) {
      if (i == 0 || !same_slice<E>(v, outer, n, inner, i)) {
        first.push_back(i);
        counts.push_back(0);
      }
      ++counts.back();
      run[i] = static_cast<int32_t>(first.size()) - 1;
    }
  });
  int64_t found = static_cast<int64_t>(first.size());
  Shape shape = p.out[0].shape;
  shape.set(given.none() ? 0 : axis, found);
  Tensor y = Tensor::empty(x.dtype(), shape);
  size_t bytes = static_cast<size_t>(inner) * size_of(x.dtype());
  auto* to = static_cast<char*>(y.mutable_raw());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i : first) {
      std::memcpy(to, static_cast<const char*>(x.raw()) + static_cast<size_t>(o * n + i) * bytes,
                  bytes);
      to += bytes;
    }
  }
  return {y, idx, Tensor::from(counts, Shape{found})};
}

Tensors bincount(const Problem& p, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  int64_t n = x.size(), length = p.view().integer("minlength");
  std::vector<int64_t> bin(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    int64_t v = element_as_int(x.raw(), x.dtype(), i);
    if (v < 0) value_error("bincount: values must not be negative, got {} at {}", v, i);
    if (v == std::numeric_limits<int64_t>::max())
      value_error("bincount: value {} at {} is out of range", v, i);
    length = std::max(length, v + 1);
    bin[static_cast<size_t>(i)] = v;
  }
  Tensor y = Tensor::zeros(p.out[0].dtype, {length});
  if (!p.has(1)) {
    auto* count = static_cast<int64_t*>(y.mutable_raw());
    for (int64_t v : bin) ++count[v];
    return {y};
  }
  with_element(y.dtype(), [&](auto e) {
    using E = decltype(e);
    using T = typename E::Stored;
    auto* sum = static_cast<T*>(y.mutable_raw());
    auto* w = static_cast<const T*>(in[1].raw());
    for (int64_t i = 0; i < n; ++i) {
      T& s = sum[bin[static_cast<size_t>(i)]];
      s = E::store(wrapping_add(E::load(s), E::load(w[i])));
    }
  });
  return {y};
}

// As NumPy's histogram with a fixed range, which corrects the rounding of the division at the
// edges.
std::unique_ptr<Prepared> prepare_histc(const Problem& p) {
  int64_t n = p.in[0]->shape.size(), bins = p.view().integer("bins");
  double min = p.view().real("min"), max = p.view().real("max");
  DType dtype = p.in[0]->dtype;
  return cpu::prepared_by("host", [=](void* const* b) {
    auto* count = static_cast<int32_t*>(b[1]);
    std::fill_n(count, bins, 0);
    double low = min, high = max;
    if (low == high && n > 0) {
      low = HUGE_VAL, high = -HUGE_VAL;
      for (int64_t i = 0; i < n; ++i) {
        double v = element_as_double(b[0], dtype, i);
        low = std::min(low, v);
        high = std::max(high, v);
      }
    }
    if (low == high) low -= 1, high += 1;  // one value only: it falls into the middle
    double width = (high - low) / static_cast<double>(bins);
    for (int64_t i = 0; i < n; ++i) {
      double v = element_as_double(b[0], dtype, i);
      if (!(v >= low && v <= high)) continue;
      int64_t k = std::min(bins - 1, static_cast<int64_t>((v - low) / width));
      if (k > 0 && v < low + static_cast<double>(k) * width) --k;
      if (k + 1 < bins && v >= low + static_cast<double>(k + 1) * width) ++k;
      ++count[k];
    }
  });
}

constexpr KernelDef kKernels[] = {
    {"nonzero", "host", nullptr, nullptr, nonzero},
    {"shape_of", "host", nullptr, nullptr, shape_of},
    {"compress_elements", "host", nullptr, nullptr, compress},
    {"repeat_indices", "host", nullptr, nullptr, repeat_indices},
    {"unique", "host", nullptr, nullptr, unique},
    {"unique_with_pad", "host", nullptr, prepare_unique_with_pad},
    {"consecutive_runs", "host", nullptr, nullptr, runs},
    {"bincount", "host", nullptr, nullptr, bincount},
    {"histc", "host", nullptr, prepare_histc},
};

}  // namespace

void register_dynamic_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
