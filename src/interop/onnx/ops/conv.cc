// Convolutions, plain and transposed, of one to three dims.
#include "interop/onnx/ops/window.h"

namespace mycel::interop::onnx {
namespace {

bool all_zero(const Ints& v) {
  return std::ranges::all_of(v, [](int64_t x) { return x == 0; });
}

Values conv(Call& c) {
  Tensor x = c.x(0), w = c.x(1), b = c.x_or(2);
  Window at = window_of(c, kernel_dims(c, x, w), spatial_dims(c, x));
  int64_t groups = c.integer("group", 1);
  const char* mode = all_zero(at.pads) ? "valid" : "pad";
  Ints pads = all_zero(at.pads) ? Ints{0} : at.pads;
  switch (at.rank()) {
    case 1:
      return one(ops::conv1d(x, w, b, at.stride, mode, pads, at.dilation, groups));
    case 2:
      return one(ops::conv2d(x, w, b, at.stride, mode, pads, at.dilation, groups));
    case 3:
      return one(ops::conv3d(x, w, b, at.stride, mode, pads, at.dilation, groups));
    default:
      c.unsupported("{} spatial dims; 1 to 3 are allowed", at.rank());
  }
}

Tensor transposed(Call& c, int rank, const Tensor& x, const Tensor& w, const Window& at,
                  const Ints& more) {
  int64_t groups = c.integer("group", 1);
  switch (rank) {
    case 1:
      return ops::conv1d_transpose(x, w, {}, "valid", {0}, at.stride, at.dilation, groups, more);
    case 2:
      return ops::conv2d_transpose(x, w, {}, "valid", {0}, at.stride, at.dilation, groups, more);
    case 3:
      return ops::conv3d_transpose(x, w, {}, "valid", {0}, at.stride, at.dilation, groups, more);
    default:
      c.unsupported("{} spatial dims; 1 to 3 are allowed", rank);
  }
}

// The whole result without padding first; then what `pads` or `output_shape` cuts off.
Values conv_transpose(Call& c) {
  Tensor x = c.x(0), w = c.x(1), b = c.x_or(2);
  Ints spatial = spatial_dims(c, x), kernel = kernel_dims(c, x, w);
  size_t n = spatial.size();
  Window at;
  at.kernel = kernel;
  at.stride = c.ints("strides", Ints(n, 1));
  at.dilation = c.ints("dilations", Ints(n, 1));
  Ints pads = c.ints("pads", Ints(2 * n, 0)), more = c.ints("output_padding", Ints(n, 0));
  Ints want = c.ints("output_shape");
  if (want.size() == n + 2) want.erase(want.begin(), want.begin() + 2);
  std::string mode = c.text("auto_pad", "NOTSET");
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (at.stride.size() != n || at.dilation.size() != n || pads.size() != 2 * n || more.size() != n)
    c.fail("{} spatial dims, {} strides, {} dilations, {} pads", n, at.stride.size(),
           at.dilation.size(), pads.size());
  Tensor y = transposed(c, static_cast<int>(n), x, w, at, Ints(n, 0));
  for (size_t d = 0; d < n; ++d) {
    int axis = static_cast<int>(d) + 2;
    int64_t full = (spatial[d] - 1) * at.stride[d] + (kernel[d] - 1) * at.dilation[d] + 1;
    int64_t before = pads[d], out = full + more[d] - pads[d] - pads[d + n];
    if (!want.empty() || same) {
      out = want.empty() ? spatial[d] * at.stride[d] : want[d];
      int64_t total = full + more[d] - out;
      before = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      if (total < 0) before = 0;
    }
    if (mode == "VALID") before = 0, out = full + more[d];
    int64_t behind = before + out - y.dim(axis);
    if (behind > 0) {
      Ints low(static_cast<size_t>(y.rank()), 0), high = low;
      high[static_cast<size_t>(axis)] = behind;
      static const ir::Op& op = ir::op_named("pad_nd");
      y = runtime::call1(op, {y},
                         {ir::Attr(low), ir::Attr(high), ir::Attr("constant"), ir::Attr(0.0)});
    }
    if (before != 0 || out != y.dim(axis)) y = ops::narrow(y, axis, before, out);
  }
  if (b) {
    Ints shape(n + 2, 1);
    shape[1] = b.size();
    y = ops::add(y, ops::reshape(b, shape));
  }
  return one(y);
}

// Depthwise and causal: what came before stands left of the sequence.
Values causal_conv_with_state(Call& c) {
  Tensor x = c.x(0), w = c.x(1), b = c.x_or(2);
  Dims dims = c.dims(x);
  int64_t channels = dims.at(1), kept = kernel_dims(c, x, w)[0] - 1;
  Tensor past = c.has(3) ? c.x(3) : Tensor::zeros(x.dtype(), Shape{dims[0], channels, kept});
  Tensor whole = ops::concat(Tensors{past, x}, 2);
  Tensor y = ops::conv1d(whole, w, b, {1}, "valid", {0}, {1}, channels);
  std::string act = c.text("activation", "none");
  if (act == "silu" || act == "swish")
    y = ops::silu(y);
  else if (act != "none")
    c.fail("activation '{}'; allowed: none, silu, swish", act);
  return {Value(y), Value(ops::narrow(whole, 2, dims.at(2), kept))};
}

constexpr Record kRecords[] = {
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"CausalConvWithState", causal_conv_with_state},
};

}  // namespace

Records conv_records() { return kRecords; }

}  // namespace mycel::interop::onnx
