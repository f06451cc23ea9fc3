// Where resized pixels come from, for floats and for integers with a scale.
#pragma once

#include <cmath>

#include "interop/tensorflow/call.h"

namespace mycel::interop::tensorflow {

struct Resize {
  Ints in, out;  // height, width
  bool align_corners = false, half_pixel = false;
  float scale(int d) const;
};
Resize resize_of(Call& c);

// Of each result line: two lines of the input and the weight of the second.
struct Lines {
  Ints low, high;
  std::vector<float> weight;
};
Lines lines_of(const Resize& r, int d);
Ints nearest_of(const Resize& r, int d);
Tensor picked(const Tensor& x, const Ints& at, int axis);

}  // namespace mycel::interop::tensorflow
