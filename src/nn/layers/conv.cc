// Convolutions and transposed convolutions.
#include <fmt/format.h>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"

namespace mycel::nn {
namespace {

// What construct needs, worked out once.
struct Convolution {
  const ir::Op* op;
  ir::Attrs attrs;
  int spatial;
  bool channel_last = false;  // operands and weight [o, h, w, i]
};

struct Channels {
  int64_t in, out, groups;
};
Channels channels_of(Layer& l) {
  Channels c{l.args.positive("in_channels"), l.args.positive("out_channels"),
             l.args.positive("group")};
  if (c.in % c.groups || c.out % c.groups) {
    l.fail("'group' {} must divide 'in_channels' {} and 'out_channels' {}", c.groups, c.in, c.out);
  }
  return c;
}

void check_positive(Layer& l, const char* name) {
  for (int64_t v : l.args.ints(name)) {
    if (v <= 0) l.fail("'{}' must be positive, got {}", name, l.args.attr(name).str());
  }
}

// Paddings, one number for all sides or two a dim; only with pad_mode "pad".
void check_padding(Layer& l, int spatial) {
  const auto& p = l.args.ints("padding");
  bool any = false;
  for (int64_t v : p) {
    if (v < 0) l.fail("'padding' must not be negative, got {}", l.args.attr("padding").str());
    any |= v != 0;
  }
  if (p.size() != 1 && static_cast<int>(p.size()) != 2 * spatial) {
    l.fail("'padding' must be one number or {}, got {}", 2 * spatial, l.args.attr("padding").str());
  }
  if (any && l.args.string("pad_mode") != "pad") {
    l.fail("'padding' {} needs pad_mode 'pad', got '{}'", l.args.attr("padding").str(),
           l.args.string("pad_mode"));
  }
}

void check_windows(Layer& l, int spatial) {
  for (const char* name : {"kernel_size", "stride", "dilation"}) check_positive(l, name);
  check_padding(l, spatial);
}

// One dim is stored as published: kernels [.., 1, k].
std::vector<int64_t> stored_kernel(Layer& l, int spatial) {
  std::vector<int64_t> k = l.args.ints("kernel_size");
  if (spatial == 1) k.insert(k.begin(), 1);
  return k;
}

void add_weights(Layer& l, std::vector<int64_t> shape, const Channels& c) {
  l.add("weight", Shape(std::span<const int64_t>(shape)), l.args.init("weight_init"));
  if (l.args.boolean("has_bias")) l.add("bias", Shape{c.out}, l.args.init("bias_init"));
}

template <int spatial>
void setup_conv(Layer& l) {
  Channels c = channels_of(l);
  check_windows(l, spatial);
  bool last = spatial == 2 && l.args.string("data_format") == "NHWC";
  std::vector<int64_t> shape = stored_kernel(l, spatial);
  shape.insert(last ? shape.end() : shape.begin(), c.in / c.groups);
  shape.insert(shape.begin(), c.out);
  add_weights(l, shape, c);
  static const char* const names[] = {"", "conv1d", "conv2d", "conv3d"};
  l.keep(Convolution{&ir::op_named(names[spatial]),
                     {l.args.attr("stride"), l.args.attr("pad_mode"), l.args.attr("padding"),
                      l.args.attr("dilation"), c.groups, last ? "channel_last" : "channel_first"},
                     spatial,
                     last});
}

template <int spatial>
void setup_transposed(Layer& l) {
  Channels c = channels_of(l);
  check_windows(l, spatial);
  std::vector<int64_t> shape = stored_kernel(l, spatial);
  shape.insert(shape.begin(), {c.in, c.out / c.groups});
  add_weights(l, shape, c);
  ir::Attr extra = int64_t{0};
  if (l.args.signature().index("output_padding") >= 0) extra = l.args.attr("output_padding");
  static const char* const names[] = {"", "conv1d_transpose", "conv2d_transpose",
                                      "conv3d_transpose"};
  l.keep(Convolution{&ir::op_named(names[spatial]),
                     {l.args.attr("pad_mode"), l.args.attr("padding"), l.args.attr("stride"),
                      l.args.attr("dilation"), c.groups, extra},
                     spatial});
}

Tensor without_dim(const Tensor& t, int d) {
  std::vector<int64_t> shape(t.shape().begin(), t.shape().end());
  shape.erase(shape.begin() + d);
  return ops::reshape(t, shape);
}

Tensor convolve(Layer& l, Inputs x) {
  const auto& c = l.kept<Convolution>();
  Tensor w = l.value(0), bias = l.value(1);
  if (c.spatial == 1) w = without_dim(w, 2);
  if (c.channel_last) w = ops::transpose(w, ir::Attr(ir::Attr::Ints{0, 3, 1, 2}));
  bool single = x[0].rank() == c.spatial + 1;  // one sample without a batch dim
  Tensor in = single ? ops::expand_dims(x[0], 0) : x[0];
  Tensor y = runtime::call1(*c.op, {in, w, bias}, c.attrs);
  return single ? without_dim(y, 0) : y;
}

constexpr const char* kPadMode = "pad_mode: str(same|valid|pad) = same";

constexpr LayerDef kConv1d = check({
    .name = "Conv1d",
    .doc = "Cross-correlation along the last dim. x: [n, in, l], y: [n, out, l']; weight: [out, in "
           "/ group, 1, k].",
    .args = {"in_channels: int", "out_channels: int", "kernel_size: int[1]", "stride: int[1] = 1",
             kPadMode, "padding: int[] = 0", "dilation: int[1] = 1", "group: int = 1",
             "has_bias: bool = False", "weight_init: init = normal", "bias_init: init = zeros"},
    .setup = setup_conv<1>,
    .construct = convolve,
});

constexpr LayerDef kConv2d = check({
    .name = "Conv2d",
    .doc = "Cross-correlation over the last two dims. x: [n, in, h, w] (NHWC: [n, h, w, in]), y "
           "alike with out channels; "
           "weight: [out, in / group, kh, kw] (NHWC: [out, kh, kw, in / group]). Size: pad_mode "
           "same: h / stride rounded "
           "up; valid and pad: (h + pad - dilation (k - 1) - 1) / stride + 1. padding: one number "
           "or (top, bottom, left, "
           "right).",
    .args = {"in_channels: int", "out_channels: int", "kernel_size: int[2]", "stride: int[2] = 1",
             kPadMode, "padding: int[] = 0", "dilation: int[2] = 1", "group: int = 1",
             "has_bias: bool = False", "weight_init: init = normal", "bias_init: init = zeros",
             "data_format: str(NCHW|NHWC) = NCHW"},
    .setup = setup_conv<2>,
    .construct = convolve,
});

constexpr LayerDef kConv3d = check({
    .name = "Conv3d",
    .doc = "Cross-correlation over the last three dims. x: [n, in, d, h, w]; weight: [out, in / "
           "group, kd, kh, kw]; sizes "
           "as Conv2d; padding: one number or (head, tail, top, bottom, left, right).",
    .args = {"in_channels: int", "out_channels: int", "kernel_size: int[3]", "stride: int[3] = 1",
             kPadMode, "padding: int[] = 0", "dilation: int[3] = 1", "group: int = 1",
             "has_bias: bool = False", "weight_init: init = normal", "bias_init: init = zeros",
             "data_format: str(NCDHW) = NCDHW"},
    .setup = setup_conv<3>,
    .construct = convolve,
});

constexpr LayerDef kConv1dTranspose = check({
    .name = "Conv1dTranspose",
    .doc = "Transposed convolution (the gradient of Conv1d's operand) along the last dim. weight: "
           "[in, out / group, 1, k]; "
           "sizes as Conv2dTranspose.",
    .args = {"in_channels: int", "out_channels: int", "kernel_size: int[1]", "stride: int[1] = 1",
             kPadMode, "padding: int[] = 0", "dilation: int[1] = 1", "group: int = 1",
             "has_bias: bool = False", "weight_init: init = normal", "bias_init: init = zeros"},
    .setup = setup_transposed<1>,
    .construct = convolve,
});

constexpr LayerDef kConv2dTranspose = check({
    .name = "Conv2dTranspose",
    .doc = "Transposed convolution (the gradient of Conv2d's operand). x: [n, in, h, w], y: [n, "
           "out, h', w']; weight: [in, "
           "out / group, kh, kw]. h': same: h * stride; valid: h * stride + max(dilation (k - 1) + "
           "1 - stride, 0); pad: (h "
           "- 1) stride - pad + dilation (k - 1) + 1 + output_padding.",
    .args = {"in_channels: int", "out_channels: int", "kernel_size: int[2]", "stride: int[2] = 1",
             kPadMode, "padding: int[] = 0", "output_padding: int[2] = 0", "dilation: int[2] = 1",
             "group: int = 1", "has_bias: bool = False", "weight_init: init = normal",
             "bias_init: init = zeros"},
    .setup = setup_transposed<2>,
    .construct = convolve,
});

constexpr LayerDef kConv3dTranspose = check({
    .name = "Conv3dTranspose",
    .doc = "Transposed convolution over three dims: as Conv2dTranspose. weight: [in, out / group, "
           "kd, kh, kw].",
    .args = {"in_channels: int", "out_channels: int", "kernel_size: int[3]", "stride: int[3] = 1",
             kPadMode, "padding: int[] = 0", "dilation: int[3] = 1", "group: int = 1",
             "output_padding: int[3] = 0", "has_bias: bool = False", "weight_init: init = normal",
             "bias_init: init = zeros", "data_format: str(NCDHW) = NCDHW"},
    .setup = setup_transposed<3>,
    .construct = convolve,
});

}  // namespace

LayerDefs conv_layers() {
  return {&kConv1d, &kConv2d, &kConv3d, &kConv1dTranspose, &kConv2dTranspose, &kConv3dTranspose};
}

}  // namespace mycel::nn
