#include "lite/runtime/contractions.h"

#include <algorithm>
#include <cstring>

#include "lite/runtime/gemm.h"
#include "lite/runtime/packing.h"

namespace mycel::lite {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;
constexpr int kBlockRows = 96;  // rows that one piece of work goes through with each panel
constexpr int64_t kMostTaps = 4096;

bool sane(std::span<const int64_t> v, int64_t least) {
  return std::all_of(v.begin(), v.end(), [&](int64_t x) { return x >= least && x <= kMost; });
}

// a * b * …, or more than any memory.
uint64_t bytes_of(std::initializer_list<int64_t> factors) {
  uint64_t n = sizeof(float);
  for (int64_t f : factors) {
    if (__builtin_mul_overflow(n, static_cast<uint64_t>(f), &n)) return ~uint64_t{0};
  }
  return n;
}

int64_t product(const std::vector<int64_t>& v) {
  int64_t n = 1;
  for (int64_t x : v) n *= x;
  return n;
}

// Rows in blocks times panels in blocks, so that every thread has work.
struct Pieces {
  int64_t row_blocks, panel_blocks, panels_each;
  Pieces(int64_t rows, int64_t panels, int threads) {
    row_blocks = (rows + kBlockRows - 1) / kBlockRows;
    const int64_t wanted = std::max<int64_t>(1, 4 * threads / std::max<int64_t>(row_blocks, 1));
    panels_each = std::max<int64_t>(2, (panels + wanted - 1) / wanted + 1) / 2 * 2;
    panel_blocks = (panels + panels_each - 1) / panels_each;
  }
};

// The panels [first, last) of one block of rows, whose pointers are t.a.
void panels(GemmTile t, int rows, const float* b, int64_t first, int64_t last, int64_t columns,
            const float* bias, float* out) {
  const Gemm& g = gemm();
  const int64_t terms = t.taps * t.channels;
  const float* const* a = t.a;
  for (int64_t p = first; p < last;) {
    t.panels = static_cast<int>(std::min<int64_t>(g.panels, last - p));
    t.b = b + p * terms * kPanel;
    t.columns = static_cast<int>(std::min<int64_t>(t.panels * kPanel, columns - p * kPanel));
    t.bias = bias ? bias + p * kPanel : nullptr;
    for (int r = 0; r < rows; r += g.most_rows) {
      t.rows = std::min(g.most_rows, rows - r);
      t.a = a + r;
      t.out = out + r * t.out_stride + p * kPanel;
      g.tile(t);
    }
    p += t.panels;
  }
}

}  // namespace

std::string Product::read(std::span<const int64_t> n, std::span<const float> reals) {
  if (n.size() < 5 || reals.size() != 2) return "sizes are missing";
  rows = n[0], columns = n[1], terms = n[2];
  bias = n[3] & kBiasFlag, packed = n[3] & kPackedFlag;
  x_transposed = n[3] & kXTransposedFlag, w_transposed = n[3] & kWTransposedFlag;
  if (n[4] < 0 || n[4] > 32 || n.size() != 5 + 3 * static_cast<size_t>(n[4])) return "batches";
  const auto count = static_cast<size_t>(n[4]);
  auto part = [&](size_t i) { return n.subspan(5 + i * count, count); };
  batch.assign(part(0).begin(), part(0).end());
  x_stride.assign(part(1).begin(), part(1).end());
  w_stride.assign(part(2).begin(), part(2).end());
  low = reals[0], high = reals[1];
  if (!sane(n.first(3), 0) || !sane(part(0), 0) || !sane(part(1), 0) || !sane(part(2), 0))
    return "sizes out of range";
  int64_t all = 1;
  for (int64_t b : batch) {
    if (__builtin_mul_overflow(all, b, &all) || all > kMost) return "sizes out of range";
  }
  return packed && all > 1 &&
                 std::any_of(w_stride.begin(), w_stride.end(), [](int64_t s) { return s != 0; })
             ? "packed matrices in a batch"
             : "";
}

int64_t Product::batches() const { return product(batch); }

std::string Product::check(std::span<const uint64_t> bytes) const {
  const size_t w = 1, y = bias ? 3 : 2;
  if (bytes.size() < y + 1 || bytes.size() > y + 3) return "operands";
  int64_t x_last = 0, w_last = 0;
  for (size_t d = 0; d < batch.size(); ++d) {
    int64_t x = 0, v = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(batch[d] - 1, 0), x_stride[d], &x) ||
        __builtin_mul_overflow(std::max<int64_t>(batch[d] - 1, 0), w_stride[d], &v) ||
        __builtin_add_overflow(x_last, x, &x_last) || __builtin_add_overflow(w_last, v, &w_last)) {
      return "strides";
    }
  }
  const uint64_t panel_bytes = bytes_of({panels_of(columns), terms, kPanel});
  if (batches() > 0 && bytes[0] < bytes_of({x_last + 1, rows, terms})) return "the left operand";
  if (batches() > 0 && bytes[w] < (packed ? panel_bytes : bytes_of({w_last + 1, terms, columns})))
    return "the right operand";
  if (bias && bytes[2] < bytes_of({columns})) return "the bias";
  if (bytes[y] < bytes_of({batches(), rows, columns})) return "the result";
  size_t scratch = y + 1;
  if (!packed && (scratch >= bytes.size() || bytes[scratch++] < panel_bytes)) return "scratch";
  if (x_transposed && (scratch >= bytes.size() || bytes[scratch] < bytes_of({rows, terms})))
    return "scratch";
  return "";
}

void Product::run(void* const* buffers, Threads& threads) const {
  const auto* x = static_cast<const float*>(buffers[0]);
  const auto* w = static_cast<const float*>(buffers[1]);
  const auto* add = bias ? static_cast<const float*>(buffers[2]) : nullptr;
  const size_t y_at = bias ? 3 : 2;
  auto* y = static_cast<float*>(buffers[y_at]);
  size_t scratch = y_at + 1;
  auto* own_w = packed ? nullptr : static_cast<float*>(buffers[scratch++]);
  auto* own_x = x_transposed ? static_cast<float*>(buffers[scratch]) : nullptr;
  const Pieces pieces(rows, panels_of(columns), threads.count());
  const float *packed_from = nullptr, *turned_from = nullptr;
  for (int64_t b = 0; b < batches(); ++b) {
    int64_t rest = b, at_x = 0, at_w = 0;
    for (size_t d = batch.size(); d-- > 0;) {
      at_x += rest % batch[d] * x_stride[d];
      at_w += rest % batch[d] * w_stride[d];
      rest /= batch[d];
    }
    const float* left = x + at_x * rows * terms;
    const float* right = packed ? w : w + at_w * terms * columns;
    if (!packed) {
      if (right != packed_from) {
        const int64_t row = w_transposed ? 1 : columns, step = w_transposed ? terms : 1;
        threads.run(panels_of(columns), std::max<int64_t>(1, 16384 / (kPanel * (terms + 1))),
                    [&](int, int64_t p, int64_t end) {
                      const int64_t from = p * kPanel;
                      pack_matrix(right + from * step, terms,
                                  std::min(columns, end * kPanel) - from, row, step,
                                  own_w + from * terms);
                    });
        packed_from = right;
      }
      right = own_w;
    }
    if (x_transposed) {
      if (left != turned_from) {
        for (int64_t k = 0; k < terms; ++k) {
          for (int64_t i = 0; i < rows; ++i) own_x[i * terms + k] = left[k * rows + i];
        }
        turned_from = left;
      }
      left = own_x;
    }
    float* out = y + b * rows * columns;
    threads.run(pieces.row_blocks * pieces.panel_blocks, 1, [&](int, int64_t from, int64_t to) {
      const float* pointers[kBlockRows];
      for (int64_t piece = from; piece < to; ++piece) {
        const int64_t first = piece / pieces.panel_blocks * kBlockRows;
        const int count = static_cast<int>(std::min<int64_t>(kBlockRows, rows - first));
        for (int r = 0; r < count; ++r) pointers[r] = left + (first + r) * terms;
        const int64_t p = piece % pieces.panel_blocks * pieces.panels_each;
        GemmTile t{};
        t.a = pointers, t.stride = kBlockRows, t.taps = 1, t.channels = terms;
        t.low = low, t.high = high, t.out_stride = columns;
        panels(t, count, right, p, std::min(panels_of(columns), p + pieces.panels_each), columns,
               add, out + first * columns);
      }
    });
  }
}

std::string Convolution::read(std::span<const int64_t> n, std::span<const float> reals) {
  if (n.size() < 6 || reals.size() != 2) return "sizes are missing";
  batch = n[0], groups = n[1], in_channels = n[2], out_channels = n[3];
  bias = n[4] & kBiasFlag, depthwise = n[4] & kDepthwiseFlag;
  if (n[5] < 1 || n[5] > 3 || n.size() != 6 + 6 * static_cast<size_t>(n[5])) return "dims";
  const auto rank = static_cast<size_t>(n[5]);
  std::vector<int64_t>* lists[] = {&in, &kernel, &out, &stride, &dilation, &pad};
  for (size_t i = 0; i < 6; ++i) {
    auto part = n.subspan(6 + i * rank, rank);
    lists[i]->assign(part.begin(), part.end());
    const int64_t least = i == 5 ? 0 : i == 2 ? 0 : 1;
    if (!sane(part, least)) return "sizes out of range";
  }
  low = reals[0], high = reals[1];
  if (!sane(n.first(1), 0) || !sane(n.subspan(1, 3), 1)) return "sizes out of range";
  if (in_channels % groups != 0 || out_channels % groups != 0) return "groups";
  if (depthwise && (in_channels != groups || out_channels != groups)) return "groups";
  int64_t taps = 1, places = batch;
  for (size_t d = 0; d < rank; ++d) {
    if (kernel[d] > kMostTaps || (taps *= kernel[d]) > kMostTaps) return "a kernel too large";
    if (__builtin_mul_overflow(places, out[d], &places) || places > kMost)
      return "too many windows";
  }
  return "";
}

std::string Convolution::check(std::span<const uint64_t> bytes) const {
  const size_t y = bias ? 3 : 2;
  if (bytes.size() != y + 2) return "operands";
  int64_t in_places = 1;
  for (int64_t n : in) {
    if (__builtin_mul_overflow(in_places, n, &in_places)) return "the input";
  }
  const int64_t taps = product(kernel), ins = in_channels / groups;
  if (bytes[0] < bytes_of({batch, in_places, in_channels})) return "the input";
  const uint64_t weight =
      depthwise ? bytes_of({taps, in_channels})
                : bytes_of({groups, panels_of(out_channels / groups), taps, ins, kPanel});
  if (bytes[1] < weight) return "the weight";
  if (bias && bytes[2] < bytes_of({out_channels})) return "the bias";
  if (bytes[y] < bytes_of({batch, product(out), out_channels})) return "the result";
  if (bytes[y + 1] < bytes_of({in_channels})) return "scratch";
  return "";
}

void Convolution::run(void* const* buffers, Threads& threads) const {
  const auto* x = static_cast<const float*>(buffers[0]);
  const auto* w = static_cast<const float*>(buffers[1]);
  const auto* add = bias ? static_cast<const float*>(buffers[2]) : nullptr;
  auto* y = static_cast<float*>(buffers[bias ? 3 : 2]);
  auto* zeros = static_cast<float*>(buffers[bias ? 4 : 3]);
  std::memset(zeros, 0, sizeof(float) * static_cast<size_t>(in_channels));
  const size_t rank = in.size();
  const int64_t taps = product(kernel), places = product(out), in_places = product(in);
  const int64_t ins = in_channels / groups, outs = out_channels / groups;

  // Where the windows of one result begin: pointers[tap * stride], of channel 0 or into zeros.
  auto window = [&](int64_t row, const float** pointers, int64_t step) {
    int64_t rest = row % places;
    int64_t at[3];
    for (size_t d = rank; d-- > 0;) {
      at[d] = rest % out[d] * stride[d] - pad[d];
      rest /= out[d];
    }
    const float* image = x + row / places * in_places * in_channels;
    int64_t k[3] = {0, 0, 0};
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t offset = 0;
      bool inside = true;
      for (size_t d = 0; d < rank; ++d) {
        const int64_t p = at[d] + k[d] * dilation[d];
        inside &= p >= 0 && p < in[d];
        offset = offset * in[d] + p;
      }
      pointers[tap * step] = inside ? image + offset * in_channels : zeros;
      for (size_t d = rank; d-- > 0;) {
        if (++k[d] < kernel[d]) break;
        k[d] = 0;
      }
    }
  };

  const int64_t rows = batch * places;
  if (depthwise) {
    threads.run(rows, std::max<int64_t>(1, 65536 / (taps * in_channels)),
                [&](int, int64_t from, int64_t to) {
                  std::vector<const float*> pointers(static_cast<size_t>(taps));
                  for (int64_t r = from; r < to; ++r) {
                    window(r, pointers.data(), 1);
                    gemm().depthwise(pointers.data(), taps, in_channels, w, add, low, high,
                                     y + r * out_channels);
                  }
                });
    return;
  }
  const Pieces pieces(rows, panels_of(outs), threads.count());
  const int64_t work = pieces.row_blocks * pieces.panel_blocks;
  threads.run(work * groups, 1, [&](int, int64_t from, int64_t to) {
    std::vector<const float*> pointers(static_cast<size_t>(taps) * kBlockRows);
    int64_t there = -1;
    for (int64_t piece = from; piece < to; ++piece) {
      const int64_t g = piece / work, block = piece % work / pieces.panel_blocks;
      const int64_t first = block * kBlockRows;
      const int count = static_cast<int>(std::min<int64_t>(kBlockRows, rows - first));
      if (there != g * pieces.row_blocks + block) {
        there = g * pieces.row_blocks + block;
        for (int r = 0; r < count; ++r) window(first + r, pointers.data() + r, kBlockRows);
        if (g > 0) {
          for (const float*& p : pointers) p = p == zeros || !p ? p : p + g * ins;
        }
      }
      const int64_t p = piece % pieces.panel_blocks * pieces.panels_each;
      GemmTile t{};
      t.a = pointers.data(), t.stride = kBlockRows, t.taps = taps, t.channels = ins;
      t.low = low, t.high = high, t.out_stride = out_channels;
      panels(t, count, w + g * panels_of(outs) * taps * ins * kPanel, p,
             std::min(panels_of(outs), p + pieces.panels_each), outs,
             add ? add + g * outs : nullptr, y + first * out_channels + g * outs);
    }
  });
}

}  // namespace mycel::lite
