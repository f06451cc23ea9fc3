#include "lite/runtime/packing.h"

#include <algorithm>

#include "lite/runtime/gemm.h"

namespace mycel::lite {
namespace {

// f(plain position, packed position) for every element of the weight.
template <typename F>
void each(Packing packing, const std::vector<int64_t>& dims, int64_t groups, F f) {
  int64_t positions = 1;
  for (size_t d = 2; d < dims.size(); ++d) positions *= dims[d];
  switch (packing) {
    case Packing::kPlain: {
      int64_t n = 1;
      for (int64_t d : dims) n *= d;
      for (int64_t i = 0; i < n; ++i) f(i, i);
      return;
    }
    case Packing::kColumns:
    case Packing::kRows: {
      const bool rows = packing == Packing::kRows;
      const int64_t terms = dims[rows ? 1 : 0], columns = dims[rows ? 0 : 1];
      for (int64_t k = 0; k < terms; ++k) {
        for (int64_t n = 0; n < columns; ++n) {
          f(rows ? n * terms + k : k * columns + n, (n / kPanel * terms + k) * kPanel + n % kPanel);
        }
      }
      return;
    }
    case Packing::kWindows: {
      const int64_t outs = dims[0] / groups, ins = dims[1], terms = positions * ins;
      const int64_t group_size = panels_of(outs) * terms * kPanel;
      for (int64_t o = 0; o < dims[0]; ++o) {
        const int64_t g = o / outs, n = o % outs;
        for (int64_t c = 0; c < ins; ++c) {
          for (int64_t p = 0; p < positions; ++p) {
            f((o * ins + c) * positions + p,
              g * group_size + (n / kPanel * terms + p * ins + c) * kPanel + n % kPanel);
          }
        }
      }
      return;
    }
    case Packing::kDepthwise:
      for (int64_t c = 0; c < dims[0]; ++c) {
        for (int64_t p = 0; p < positions; ++p) f(c * positions + p, p * dims[0] + c);
      }
      return;
  }
}

}  // namespace

int64_t packed_size(Packing packing, const std::vector<int64_t>& dims, int64_t groups) {
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < 0 || __builtin_mul_overflow(n, std::max<int64_t>(d, 1), &n) || n > (int64_t{1} << 40))
      return -1;
    if (d == 0 && packing != Packing::kPlain) return -1;
  }
  int64_t positions = 1;
  for (size_t d = 2; d < dims.size(); ++d) positions *= dims[d];
  switch (packing) {
    case Packing::kPlain:
      n = 1;
      for (int64_t d : dims) n *= d;
      return n;
    case Packing::kColumns:
      return dims.size() == 2 ? panels_of(dims[1]) * dims[0] * kPanel : -1;
    case Packing::kRows:
      return dims.size() == 2 ? panels_of(dims[0]) * dims[1] * kPanel : -1;
    case Packing::kWindows:
      if (dims.size() < 3 || groups < 1 || dims[0] % groups != 0) return -1;
      return groups * panels_of(dims[0] / groups) * dims[1] * positions * kPanel;
    case Packing::kDepthwise:
      return dims.size() >= 3 && dims[1] == 1 ? n : -1;
  }
  return -1;
}

void pack(Packing packing, const std::vector<int64_t>& dims, int64_t groups, const float* plain,
          float* packed) {
  std::fill(packed, packed + packed_size(packing, dims, groups), 0.0f);
  each(packing, dims, groups, [&](int64_t from, int64_t to) { packed[to] = plain[from]; });
}

void unpack(Packing packing, const std::vector<int64_t>& dims, int64_t groups, const float* packed,
            float* plain) {
  each(packing, dims, groups, [&](int64_t to, int64_t from) { plain[to] = packed[from]; });
}

void pack_matrix(const float* from, int64_t terms, int64_t columns, int64_t row, int64_t step,
                 float* packed) {
  for (int64_t first = 0; first < columns; first += kPanel) {
    const int64_t width = std::min<int64_t>(kPanel, columns - first);
    for (int64_t k = 0; k < terms; ++k) {
      const float* x = from + k * row + first * step;
      for (int64_t n = 0; n < width; ++n) packed[n] = x[n * step];
      for (int64_t n = width; n < kPanel; ++n) packed[n] = 0;
      packed += kPanel;
    }
  }
}

}  // namespace mycel::lite
