// What convolutions and pools share: kernel, strides, dilations and the padding that `auto_pad`
// means.
#pragma once

#include <string>

#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {

struct Window {
  Ints kernel, stride, dilation;
  Ints pads;  // before and after, dim by dim: Mycel's order
  int rank() const { return static_cast<int>(kernel.size()); }
};

// `kernel`: given, or empty to read the attribute; `spatial`: dims of the input.
Window window_of(Call& c, Ints kernel, const Ints& spatial);

// Dims from 2 on.
Ints spatial_dims(Call& c, const Tensor& x);
// Those of a weight of as many dims as `x`.
Ints kernel_dims(Call& c, const Tensor& x, const Tensor& w);

}  // namespace mycel::interop::onnx
