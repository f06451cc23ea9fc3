// Kernels of ragged sequences, of rows whose number an id gives, and the check of values.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "backend/cpu/function_kernel.h"
#include "base/error.h"
#include "ops/index/index_tables.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

int64_t whole(const Tensor& t, int64_t i) { return element_as_int(t.raw(), t.dtype(), i); }

Tensors zero_rows(const Problem& p, std::span<const Tensor> in) {
  const Tensor& ids = in[1];
  for (int64_t i = 0; i < ids.size(); ++i) {
    int64_t before = i == 0 ? 0 : whole(ids, i - 1);
    if (whole(ids, i) < before)
      value_error("{}: segment ids must ascend from 0 on, got {} behind {} at position {}",
                  p.op.name, whole(ids, i), before, i);
  }
  Shape s = in[0].shape();
  const int64_t last = ids.size() == 0 ? -1 : whole(ids, ids.size() - 1);
  if (last == std::numeric_limits<int64_t>::max())
    value_error("{}: segment id {} is out of range", p.op.name, last);
  s.set(0, last + 1);
  return {Tensor::zeros(in[0].dtype(), s)};
}

template <typename T>
Tensor as_vector(const std::vector<T>& values, DType dtype) {
  Tensor t = Tensor::empty(dtype, {static_cast<int64_t>(values.size())});
  void* raw = t.mutable_raw();
  for (size_t i = 0; i < values.size(); ++i)
    set_element(raw, dtype, static_cast<int64_t>(i), values[i]);
  return t;
}

// How many numbers from start on, by delta, lie before limit.
double count_of(double start, double limit, double delta) {
  return std::max(0.0, std::ceil((limit - start) / delta));
}
double count_of(__int128 start, __int128 limit, __int128 delta) {
  __int128 way = delta > 0 ? limit - start : start - limit, step = delta > 0 ? delta : -delta;
  return way <= 0 ? 0 : static_cast<double>((way + step - 1) / step);
}

// Whole numbers are counted exactly, in __int128; set_element takes what is `Stored`.
template <typename Wide, typename Stored, typename Read>
Tensors ranges(const Problem& p, std::span<const Tensor> in, int64_t n, Read at) {
  // Sizes first: the values are written where they belong, and too many are refused by their size.
  std::vector<int64_t> splits{0};
  for (int64_t i = 0; i < n; ++i) {
    Wide start = at(in[0], i), limit = at(in[1], i), delta = at(in[2], i);
    if (delta == 0) value_error("{}: deltas must not be 0, got one at position {}", p.op.name, i);
    double count = count_of(start, limit, delta);
    if (!(count <= 1e12))
      value_error("{}: range {} has too many elements: {} to {} by {}", p.op.name, i,
                  static_cast<Stored>(start), static_cast<Stored>(limit),
                  static_cast<Stored>(delta));
    splits.push_back(splits.back() + static_cast<int64_t>(count));
  }
  DType d = p.out[1].dtype;
  Tensor values = Tensor::empty(d, {splits.back()});
  void* raw = values.mutable_raw();
  for (int64_t i = 0; i < n; ++i) {
    Wide start = at(in[0], i), delta = at(in[2], i);
    int64_t first = splits[static_cast<size_t>(i)], end = splits[static_cast<size_t>(i) + 1];
    for (int64_t k = first; k < end; ++k)
      set_element(raw, d, k, static_cast<Stored>(start + static_cast<Wide>(k - first) * delta));
  }
  return {as_vector(splits, p.out[0].dtype), values};
}

Tensors ragged_range(const Problem& p, std::span<const Tensor> in) {
  int64_t n = 1;
  for (const Tensor& t : in) {
    if (t.rank() == 1 && t.size() != 1) n = t.size();
  }
  auto place = [](const Tensor& t, int64_t i) { return t.size() == 1 ? 0 : i; };
  if (is_float(in[0].dtype())) {
    return ranges<double, double>(p, in, n, [&](const Tensor& t, int64_t i) {
      return element_as_double(t.raw(), t.dtype(), place(t, i));
    });
  }
  return ranges<__int128, int64_t>(p, in, n, [&](const Tensor& t, int64_t i) {
    return element_as_int(t.raw(), t.dtype(), place(t, i));
  });
}

// The values of each sequence by the index of the sequence in row-major order.
std::map<int64_t, std::vector<double>> sequences(const Problem& p, const Tensor& indices,
                                                 const Tensor& values, const Tensor& shape,
                                                 const std::vector<int64_t>& group) {
  std::map<int64_t, std::vector<double>> out;
  int64_t rank = shape.size();
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < rank; ++d) {
      int64_t k = whole(indices, i * rank + d), size = whole(shape, d);
      if (k < 0 || k >= size)
        value_error("{}: index {} of value {} is outside [0, {})", p.op.name, k, i, size);
      if (d + 1 < rank) at = at * group[static_cast<size_t>(d)] + k;
    }
    out[at].push_back(element_as_double(values.raw(), values.dtype(), i));
  }
  return out;
}

int64_t edits(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<int64_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t corner = row[0];
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      int64_t best = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({best, row[j] + 1, corner + 1});
    }
  }
  return row[b.size()];
}

Tensors edit_distance(const Problem& p, std::span<const Tensor> in) {
  std::vector<int64_t> group;
  Shape s;
  for (int64_t d = 0; d + 1 < in[2].size(); ++d) {
    group.push_back(std::max(whole(in[2], d), whole(in[5], d)));
    s.push_back(group.back());
  }
  auto guessed = sequences(p, in[0], in[1], in[2], group);
  auto meant = sequences(p, in[3], in[4], in[5], group);
  Tensor y = Tensor::zeros(DType::kFloat32, s);
  bool normalize = p.view().boolean("normalize");
  float* out = static_cast<float*>(y.mutable_raw());
  for (int64_t i = 0; i < y.size(); ++i) {
    const std::vector<double>&a = guessed[i], &b = meant[i];
    double d = static_cast<double>(edits(a, b)), length = static_cast<double>(b.size());
    if (normalize && length > 0) d /= length;
    if (normalize && length == 0 && d > 0) d = std::numeric_limits<double>::infinity();
    out[i] = static_cast<float>(d);
  }
  return {y};
}

std::unique_ptr<Prepared> prepare_check_numerics(const Problem& p) {
  DType dtype = p.in[0]->dtype;
  int64_t n = p.in[0]->shape.size();
  auto run = [=, op = p.op.name](void* const* b) {
    for (int64_t i = 0; i < n; ++i) {
      double v = element_as_double(b[0], dtype, i);
      if (!std::isfinite(v))
        value_error("{}: the tensor holds {} at position {}", op,
                    std::isnan(v) ? "NaN" : "infinity", i);
    }
    if (b[1] != b[0] && n > 0) std::memcpy(b[1], b[0], static_cast<size_t>(n) * size_of(dtype));
  };
  return cpu::prepared_by("host", run, 0);
}

constexpr KernelDef kKernels[] = {
    {"zero_rows", "host", nullptr, nullptr, zero_rows},
    {"ragged_range", "host", nullptr, nullptr, ragged_range},
    {"edit_distance", "host", nullptr, nullptr, edit_distance},
    {"check_numerics", "host", nullptr, prepare_check_numerics},
};

}  // namespace

void register_sequence_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
