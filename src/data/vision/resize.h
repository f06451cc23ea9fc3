// Resizing. Nearest, linear, cubic and area follow OpenCV's definitions (linear and cubic look at
// two and four neighbours however much an image shrinks; area averages); antialias (Lanczos) and
// pilcubic widen their filter by the shrinkage, as Pillow does. Linear and the two of Pillow give
// equal bits on uint8; the rest is within one level.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/vision/image.h"
#include "data/vision/jpeg.h"

namespace mycel::data::vision {

enum class Filter : uint8_t { kNearest, kLinear, kCubic, kArea, kLanczos, kPilCubic };
// The filter of a member of Inter.
Filter filter_of(const std::string& member);

// The crop of an image, resized. Any real dtype for nearest; uint8, int16, uint16, float32 and
// float64 for the others (TypeError).
Tensor resize(const Tensor& image, const Crop& crop, Size to, Filter filter);
Tensor resize(const Tensor& image, Size to, Filter filter);

// One of linear, nearest, cubic and area, each equally likely.
Filter any_filter(Philox& draw);

// The size of which the shorter side is `side`, of the same proportions: the longer side is cut to
// a whole number.
Size keep_ratio(int64_t h, int64_t w, int64_t side);

// One side of a linear resize in fixed point: output i is made of the inputs first[i] and
// second[i], weighted a[i] and b[i] of 2048.
struct LinearTaps {
  std::vector<int32_t> first, second;
  std::vector<int16_t> a, b;
};
// The outputs cover `extent` inputs from `begin` on, of which `there` exist.
struct Span {
  double begin, extent;
  int64_t there;
};
LinearTaps linear_taps(const Span& from, int64_t to, bool rows);
LinearTaps linear_taps(int64_t from, int64_t to, bool rows);
// A row of pixels of three channels, resized, its channels apart: out[c * n + i], scaled by 128.
void resize_row_3(const uint8_t* row, const LinearTaps& taps, int64_t from, int16_t* out);
// The same with channels together, for c channels.
void resize_row(const uint8_t* row, const LinearTaps& taps, int64_t c, int16_t* out);
// Two such rows blended to pixels.
void blend_rows(const int16_t* upper, const int16_t* lower, int16_t a, int16_t b, int64_t n,
                uint8_t* out);
// Of rows with their channels apart, to pixels of three channels.
void blend_rows_3(const int16_t* upper, const int16_t* lower, int16_t a, int16_t b, int64_t n,
                  uint8_t* out);
// Blended, then each pixel v becomes v * scale + shift.
void blend_rows(const int16_t* upper, const int16_t* lower, int16_t a, int16_t b, int64_t n,
                float scale, float shift, float* out);

}  // namespace mycel::data::vision
