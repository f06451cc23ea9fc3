// One pass over the pixels of an image with three channels: a rectangle of it, resized, a window of
// the result, flipped, each pixel times a scale plus a shift, channels together or apart.
#pragma once

#include "data/vision/image.h"
#include "data/vision/jpeg.h"
#include "data/vision/resize.h"

namespace mycel::data::vision {

struct Frame {
  Crop source;           // of the image
  bool resized = false;  // to `full`
  Size full;
  Filter filter = Filter::kLinear;
  Crop window;  // of the resized rectangle
  bool flip_x = false, flip_y = false;
};

struct Finish {
  bool floats = false, planes = false;
  float scale[3] = {1, 1, 1}, shift[3] = {0, 0, 0};
};

// uint8 or float32, [h, w, 3] or [3, h, w]. `by`: the image is divided by 1, 2, 4 or 8 while it is
// decoded.
Tensor framed(JpegReader* reader, const Frame& f, int by, const Finish& finish);
Tensor framed(const Tensor& image, const Frame& f, const Finish& finish);

}  // namespace mycel::data::vision
