// Convolutions: plain, by channel, transposed.
#include "interop/tensorflow/ops/conv.h"

#include "interop/tensorflow/ops/build.h"
#include "interop/tensorflow/ops/quantized.h"

namespace mycel::interop::tensorflow {

Convolution convolution_of(Call& c, const Tensor& x, const Tensor& w, bool depthwise) {
  const size_t n = static_cast<size_t>(x.rank()) - 2;
  if (x.rank() < 4 || w.rank() != x.rank())
    c.fail("a weight {} for {}", w.shape().str(), x.shape().str());
  Convolution v;
  v.channels_last = !channels_first(c);
  Dims in = c.dims(x), k = c.dims(w);
  const int64_t channels = in[v.channels_last ? n + 1 : 1];
  const size_t first = v.channels_last ? 1 : 2;
  Ints size(in.begin() + static_cast<int64_t>(first), in.begin() + static_cast<int64_t>(first + n));
  Ints kernel;
  Ints order;
  if (depthwise) {
    // TFLite 1 h w c m, GraphDefs h w c m: both to (c m) 1 h w.
    if (n != 2) c.unsupported("{} spatial dims", n);
    kernel = c.lite() ? Ints{k[1], k[2]} : Ints{k[0], k[1]};
    const int64_t out = c.lite() ? k[3] : k[2] * k[3];
    if (channels < 1 || out % channels != 0 || (c.lite() && k[0] != 1))
      c.fail("a weight {} for {} channels", w.shape().str(), channels);
    Tensor flat = ops::reshape(w, {kernel[0], kernel[1], out});
    v.weight =
        ops::reshape(ops::transpose(flat, ir::Attr(Ints{2, 0, 1})), {out, 1, kernel[0], kernel[1]});
    v.groups = channels;
  } else if (c.lite() && n == 2) {  // o h w i
    kernel = {k[1], k[2]};
    v.weight = ops::transpose(w, ir::Attr(Ints{0, 3, 1, 2}));
  } else {  // h w i o
    kernel.assign(k.begin(), k.begin() + static_cast<int64_t>(n));
    const auto m = static_cast<int64_t>(n);
    order = {m + 1, m};
    for (int64_t d = 0; d < m; ++d) order.push_back(d);
    v.weight = ops::transpose(w, ir::Attr(order));
  }
  if (!depthwise) {
    const int64_t each = v.weight.dim(1);
    if (each < 1 || channels % each != 0)
      c.fail("a weight {} for {} channels", w.shape().str(), channels);
    v.groups = channels / each;
  }
  v.stride = spatial(c, "strides", n);
  v.dilation = spatial(c, "dilations", n, Ints(n, 1));
  v.pads = pads_of(c, size, kernel, v.stride, v.dilation);
  return v;
}

namespace {

Tensor convolved(Call& c, const Tensor& x, const Tensor& w, const Tensor& bias, bool depthwise) {
  Convolution v = convolution_of(c, x, w, depthwise);
  const char* layout = v.channels_last ? "channel_last" : "channel_first";
  if (v.stride.size() == 2)
    return ops::conv2d(x, v.weight, bias, v.stride, "pad", v.pads, v.dilation, v.groups, layout);
  if (v.stride.size() == 3)
    return ops::conv3d(x, v.weight, bias, v.stride, "pad", v.pads, v.dilation, v.groups, layout);
  c.unsupported("{} spatial dims", v.stride.size());
}

Tensors float_convolution(Call& c, bool depthwise) {
  Tensor x = c.x(0);
  if (!is_hybrid(c, 1))
    return {activated(c, convolved(c, x, widened_weight(c, 1), c.x_or(2), depthwise))};
  Dims k = c.dims(c.x(1));
  // Around zero where one scale is that of all channels, as the published kernels do.
  const bool symmetric = !depthwise && !c.in_slot(1).quantization.by_channel();
  Rounded r = rounded_by_range(x, symmetric);
  Tensor w = whole_weight(c, 1, depthwise ? k[1] * k[2] : k[1] * k[2] * k[3]);
  Tensor y = as(convolved(c, as(r.whole, w.dtype()), w, {}, depthwise), DType::kFloat32);
  y = ops::mul(ops::mul(y, weight_scales(c, 1)), r.scale);
  return {activated(c, c.has(2) ? ops::add(y, c.x(2)) : y)};
}
Tensors conv(Call& c) { return float_convolution(c, false); }
Tensors depthwise(Call& c) { return float_convolution(c, true); }
Tensors quantized_conv(Call& c) {
  return is_float(c.x(0).dtype()) ? conv(c) : quantized_convolution(c, false);
}
Tensors quantized_depthwise(Call& c) {
  return is_float(c.x(0).dtype()) ? depthwise(c) : quantized_convolution(c, true);
}

// (sizes of the result, weight, what is spread): TFLite's weight is o h w i, GraphDefs' h w o i.
Tensors transposed(Call& c) {
  Tensor w = c.x(1), x = c.x(2), bias = c.x_or(3);
  if (channels_first(c)) c.unsupported("data_format NCHW");
  if (w.rank() != 4 || x.rank() != 4)
    c.fail("a weight {} for {}", w.shape().str(), x.shape().str());
  Ints want = c.known_ints(0);
  if (want.size() != 4) c.fail("a result with {} dims; 4 are expected", want.size());
  w = ops::transpose(w, ir::Attr(c.lite() ? Ints{3, 0, 1, 2} : Ints{3, 2, 0, 1}));  // i o h w
  Dims in = c.dims(x), k = c.dims(w);
  Ints stride = spatial(c, "strides", 2), dilation = spatial(c, "dilations", 2, {1, 1});
  Ints pads = pads_of(c, {want[1], want[2]}, {k[2], k[3]}, stride, dilation);
  Tensor y =
      ops::conv2d_transpose(x, w, {}, "valid", {0}, stride, dilation, 1, {0, 0}, "channel_last");
  for (size_t d = 0; d < 2; ++d) {
    const int axis = static_cast<int>(d) + 1;
    const int64_t behind = pads[2 * d] + want[d + 1] - y.dim(axis);
    if (want[d + 1] < 1 || behind > k[2 + d] + stride[d])
      c.fail("a result of size {} from {}", want[d + 1], in[d + 1]);
    if (behind > 0) {
      Ints low(4, 0), high(4, 0);
      high[static_cast<size_t>(axis)] = behind;
      y = padded(y, low, high);
    }
    if (pads[2 * d] != 0 || want[d + 1] != y.dim(axis))
      y = ops::narrow(y, axis, pads[2 * d], want[d + 1]);
  }
  if (bias) y = ops::add(y, bias);
  return {activated(c, y)};
}

constexpr Record kRecords[] = {
    {3, "CONV_2D", "Conv2D", conv, quantized_conv},
    {4, "DEPTHWISE_CONV_2D", "DepthwiseConv2dNative", depthwise, quantized_depthwise},
    {132, "CONV_3D", "Conv3D", conv},
    {67, "TRANSPOSE_CONV", "Conv2DBackpropInput", transposed, quantized_transposed, "0"},
};

}  // namespace

Records conv_records() { return kRecords; }

}  // namespace mycel::interop::tensorflow
