#include "interop/onnx/ops/window.h"

namespace mycel::interop::onnx {

Ints spatial_dims(Call& c, const Tensor& x) {
  if (x.rank() < 3) c.fail("the input has {} dims; at least 3 are allowed", x.rank());
  Dims dims = c.dims(x);
  return {dims.begin() + 2, dims.end()};
}

Ints kernel_dims(Call& c, const Tensor& x, const Tensor& w) {
  if (w.rank() != x.rank() || w.rank() < 3)
    c.fail("a weight {} for {}", w.shape().str(), x.shape().str());
  Dims dims = c.dims(w);
  return {dims.begin() + 2, dims.end()};
}

Window window_of(Call& c, Ints kernel, const Ints& spatial) {
  Window w;
  w.kernel = kernel.empty() ? c.ints("kernel_shape") : std::move(kernel);
  size_t n = spatial.size();
  w.stride = c.ints("strides", Ints(n, 1));
  w.dilation = c.ints("dilations", Ints(n, 1));
  Ints given = c.ints("pads", Ints(2 * n, 0));
  if (w.kernel.size() != n || w.stride.size() != n || w.dilation.size() != n ||
      given.size() != 2 * n)
    c.fail("{} spatial dims, kernel of {}, {} strides, {} dilations, {} pads", n, w.kernel.size(),
           w.stride.size(), w.dilation.size(), given.size());
  std::string mode = c.text("auto_pad", "NOTSET");
  for (size_t d = 0; d < n; ++d) {
    if (w.stride[d] < 1 || w.dilation[d] < 1 || w.kernel[d] < 1)
      c.fail("kernel {}, stride {}, dilation {} in dim {}", w.kernel[d], w.stride[d], w.dilation[d],
             d);
    int64_t before = given[d], after = given[d + n];
    if (mode == "VALID") before = after = 0;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      int64_t out = (spatial[d] + w.stride[d] - 1) / w.stride[d];
      int64_t need = (out - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
      int64_t total = std::max<int64_t>(need - spatial[d], 0);
      before = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      after = total - before;
    }
    w.pads.insert(w.pads.end(), {before, after});
  }
  return w;
}

}  // namespace mycel::interop::onnx
