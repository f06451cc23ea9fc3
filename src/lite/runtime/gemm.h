// The heart of matrix products and convolutions: sums over rows of the left side, reached by
// pointers (so that a convolution needs no copy of its windows), times packed columns. Written
// with vectors of the compiler and compiled for several instruction sets; the tile is chosen by how
// many registers there are. Each result is summed in the order of its terms, whatever the tile and
// the number of threads.
#pragma once

#include <cstdint>

namespace mycel::lite {

// Columns that are packed together: [column / 16][term][column % 16], the last panel padded with
// zeros.
constexpr int kPanel = 16;
constexpr int64_t panels_of(int64_t columns) { return (columns + kPanel - 1) / kPanel; }

struct GemmTile {
  int rows;               // at most `most_rows`
  const float* const* a;  // [taps][stride]: row r of tap t begins at a[t * stride + r]
  int64_t stride;
  int64_t taps, channels;  // terms: taps * channels
  const float* b;          // a panel; the next one follows
  int panels;              // 1 or 2
  int columns;             // to write, at most 16 * panels
  const float* bias;       // of these columns, or null
  float low, high;         // results are clamped
  float* out;              // row r is written to out + r * out_stride
  int64_t out_stride;
};

struct Gemm {
  const char* name;
  int most_rows;
  int panels;  // at a time
  void (*tile)(const GemmTile& t);
  // out[c] = clamp(bias[c] + sum_t a[t][c] w[t * channels + c])
  void (*depthwise)(const float* const* a, int64_t taps, int64_t channels, const float* w,
                    const float* bias, float low, float high, float* out);
};
const Gemm& gemm();

}  // namespace mycel::lite
