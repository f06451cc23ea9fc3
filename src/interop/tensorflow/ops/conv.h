// What the float and the quantized convolution share: the geometry in Mycel's terms.
#pragma once

#include "interop/tensorflow/call.h"

namespace mycel::interop::tensorflow {

struct Convolution {
  Tensor weight;  // out, in / groups, kernel…
  Ints stride, dilation, pads;
  int64_t groups = 1;
  bool channels_last = true;
};

Convolution convolution_of(Call& c, const Tensor& x, const Tensor& w, bool depthwise);

}  // namespace mycel::interop::tensorflow
