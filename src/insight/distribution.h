// What is recorded of many numbers: their distribution, and pictures made of tensors.
#pragma once

#include "insight/events/values.h"

namespace mycel::insight {

struct Measured {
  Distribution distribution;  // of the finite elements, in buckets of equal width
  int64_t nan = 0, inf = 0;
};
// Elements of a real dtype; TypeError for complex ones.
Measured distribution_of(const Tensor& values, int buckets = 64);

// One picture of images [n, c, h, w] with 1 or 3 channels, side by side, eight in a row. uint8
// elements are grey values; others are spread over 0 to 255, or taken times 255 when they lie
// in [0, 1]. ValueError for other shapes.
Picture picture_of(const Tensor& images);

}  // namespace mycel::insight
