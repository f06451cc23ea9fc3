// Pixels as numbers: normalizing, and the order of dims.
#pragma once

#include <vector>

#include "data/vision/image.h"

namespace mycel::data::vision {

// Pixel v of channel k becomes v * scale[k] + shift[k]; one value stands for all channels.
struct Affine {
  std::vector<float> scale, shift;
};
// (v - mean) / std.
Affine normalizing(const Options& o);

// [h, w, c] to [c, h, w]; any dtype; [h, w] stays.
Tensor channels_first(const Tensor& image);
// Real dtypes to float32.
Tensor to_float(const Tensor& t);

}  // namespace mycel::data::vision
