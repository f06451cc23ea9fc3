// Colour and brightness of images: the arithmetic of the records in colour.cc, histogram.cc and
// hsv.cc, which augment.cc applies as well. uint8 throughout, rounded to nearest even and clipped;
// float32 where said.
#pragma once

#include <array>
#include <vector>

#include "data/vision/image.h"

namespace mycel::data::vision {

using Table = std::array<uint8_t, 256>;
// Each byte replaced by its entry; any shape.
Tensor looked_up(const Tensor& image, const Table& table);
// first * (1 - part) + second * part, byte by byte; tensors of one shape, uint8 or float32.
Tensor blended(const Tensor& first, const Tensor& second, double part);
// [h, w, 3] to its brightness [h, w], or three times that; uint8 or float32.
Tensor greyed(const Tensor& image, bool three);

Tensor adjust_brightness(const Tensor& image, double factor);  // uint8 or float32, any shape
Tensor adjust_contrast(const Tensor& image, double factor);    // [h, w, 3], uint8 or float32
Tensor adjust_saturation(const Tensor& image, double factor);  // [h, w, 3], uint8 or float32
Tensor adjust_hue(const Tensor& image, double turn);           // [h, w, 3]; turn in [-0.5, 0.5]
Tensor adjust_sharpness(const Tensor& image, double factor);   // uint8 or float32
Tensor invert(const Tensor& image);                            // uint8 or float32
Tensor posterize(const Tensor& image, int bits);
// Bytes v in [low, high] become 255 - v; low == high: all from low on. uint8 or float32.
Tensor solarize(const Tensor& image, double low, double high);
Tensor equalize(const Tensor& image);
Tensor auto_contrast(const Tensor& image, double cutoff, const std::vector<int64_t>& ignore);

}  // namespace mycel::data::vision
