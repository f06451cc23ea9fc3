// Images moved by a linear or a projective map. Bytes are sampled as OpenCV does: places in 1/32 of
// a pixel, weights of 15 bits; a pixel outside of the image has the fill value.
#pragma once

#include <array>

#include "data/vision/image.h"
#include "data/vision/resize.h"

namespace mycel::data::vision {

// (x, y) of the input to (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]) of the output.
using LinearMap = std::array<double, 6>;
// (x, y) to ((m[0] x + m[1] y + m[2]) / w, (m[3] x + …) / w), w = m[6] x + m[7] y + m[8].
using Projection = std::array<double, 9>;

// uint8, int16, uint16, float32 or float64. Area and the wide filters sample like linear and cubic.
Tensor warp(const Tensor& image, const LinearMap& map, Size to, Filter filter, const Fill& fill);
Tensor warp(const Tensor& image, const Projection& map, Size to, Filter filter, const Fill& fill);

// About the centre of the pixels' grid: shear, turn (degrees, clockwise), scale; then a shift.
LinearMap affine_map(int64_t h, int64_t w, double degrees, double shift_x, double shift_y,
                     double scale, double shear_x, double shear_y);
// Turned counter-clockwise about `center` (x, y), by default the middle; `expand` makes the output
// as large as the turned image, whose middle it then has.
struct Rotation {
  double degrees = 0;
  bool expand = false;
  std::vector<double> center;
};
Tensor rotate(const Tensor& image, const Rotation& r, Filter filter, const Fill& fill);

using Quad = std::array<std::array<double, 2>, 4>;
// The projection that takes four points (x, y) to four others; ValueError when there is none.
Projection projection(const Quad& from, const Quad& to);

}  // namespace mycel::data::vision
