// The passes of resizing: pixels times the weights of any separable filter, across and down.
#pragma once

#include <cstdint>
#include <vector>

#include "data/vision/image.h"

namespace mycel::data::vision {

// One side of a filter: output o is the sum of count[o] inputs from first[o] on, with the weights
// from o * width on. Inputs beyond the border stand for the border's.
struct Taps {
  int width = 0;
  std::vector<int64_t> first;
  std::vector<int> count;
  std::vector<float> weight;
};

// A rectangle of pixels of c channels; rows begin `stride` bytes apart.
struct Source {
  const char* data;
  int64_t stride;
  int64_t h, w, c;
};

// Sums in float32, rounded and clipped at the end; T: uint8, int16, uint16, float32, float64.
template <typename T>
void filter(const Source& s, const Taps& x, const Taps& y, Size to, T* out);

// Pillow's arithmetic for bytes: the weights `wx`, `wy` (for each of x and y) rounded to 22 bits,
// bytes between the two passes.
void filter_exact(const Source& s, const Taps& x, const std::vector<double>& wx, const Taps& y,
                  const std::vector<double>& wy, Size to, uint8_t* out);

// The linear filter on bytes, in fixed point (resize.h).
void linear_bytes(const Source& s, Size to, uint8_t* out);

// A filter of four taps on bytes, in fixed point: weights of 11 bits, as OpenCV's, and six bits
// behind the point between across and down.
void cubic_bytes(const Source& s, const Taps& x, const Taps& y, Size to, uint8_t* out);

// Pixels of `size` bytes, copied.
void nearest(const Source& s, Size to, int64_t size, char* out);

}  // namespace mycel::data::vision
