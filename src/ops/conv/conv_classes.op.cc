// The published class forms of convolutions, whose constructors repeat what the weight's shape
// says.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/expansion.h"
#include "ops/conv/conv.h"
#include "ops/conv/geometry.h"
#include "ops/conv/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::check;
using ir::Expansion;
using ir::Promote;
using ir::Value;

namespace {

bool channel_last(const Expansion& e) { return e.attrs.string("data_format").back() == 'C'; }
const char* layout_of(const Expansion& e) {
  return channel_last(e) ? "channel_last" : "channel_first";
}

// The weight as [out, in / group, kernel…]: with data_format N…C it arrives as [out, kernel…, in /
// group].
Value checked_weight(const Expansion& e, Value w, int rank) {
  if (w.rank() != rank + 2) {
    value_error("{}: the weight has {} dims, expected {}: got {}", e.op.name, w.rank(), rank + 2,
                w.type().str());
  }
  if (channel_last(e)) {
    Attr::Ints order = {0, rank + 1};
    for (int d = 0; d < rank; ++d) order.push_back(d + 1);
    w = kTranspose({w}, {order});
  }
  const Attr::Ints& kernel = e.attrs.ints("kernel_size");
  for (int d = 0; d < rank; ++d) {
    if (dims_differ(w.shape()[d + 2], kernel[d])) {
      value_error("{}: the weight {} has another size than kernel_size {}", e.op.name,
                  w.type().str(), e.attrs["kernel_size"].str());
    }
  }
  return w;
}

void check_mode(const Expansion& e) {
  if (e.attrs.integer("mode") != 1) {
    value_error("{}: 'mode' must be 1 (cross-correlation), got {}", e.op.name,
                e.attrs.integer("mode"));
  }
}

void expand_conv_class(Expansion& e, const OpDef& conv, int rank) {
  check_mode(e);
  Value w = checked_weight(e, e.x(1), rank);
  if (dims_differ(w.shape()[0], e.attrs.integer("out_channel"))) {
    value_error("{}: the weight gives {} channels, out_channel is {}", e.op.name, w.shape()[0],
                e.attrs.integer("out_channel"));
  }
  e.result(conv({e.x(0), w}, {e.attrs["stride"], e.attrs["pad_mode"], e.attrs["pad"],
                              e.attrs["dilation"], e.attrs["group"], layout_of(e)}));
}

// The gradient of a conv2d whose input had `input_size`.
void expand_backprop_input(Expansion& e) {
  check_mode(e);
  Value dout = e.x(0), w = checked_weight(e, e.x(1), 2);
  const Attr::Ints& size = e.attrs.ints("input_size");
  if (size.size() != 4 || dout.rank() != 4) {
    value_error("{}: 'input_size' must be 4 numbers and 'dout' have 4 dims", e.op.name);
  }
  const Attr& list = e.attrs["pad_list"];
  ConvSteps s{e.attrs.ints("stride"),     e.attrs.ints("dilation"),
              e.attrs.string("pad_mode"), list.none() ? e.attrs.ints("pad") : list.ints(),
              e.attrs.integer("group"),   channel_last(e)};
  if (!list.none()) s.pad_mode = "pad";
  if (s.padding.size() != 1 && s.padding.size() != 2 && s.padding.size() != 4) {
    value_error("{}: 'pad' must be 1, 2 or 4 numbers", e.op.name);
  }
  for (const Attr::Ints* steps : {&s.stride, &s.dilation}) {
    if (std::any_of(steps->begin(), steps->end(), [](int64_t n) { return n < 1; })) {
      value_error("{}: 'stride' and 'dilation' must be at least 1, got {} and {}", e.op.name,
                  e.attrs["stride"].str(), e.attrs["dilation"].str());
    }
  }
  Attr::Ints padding, extra;
  for (int d = 0; d < 2; ++d) {
    int64_t in = size[spatial_axis(d, s.channel_last)], k = e.attrs.ints("kernel_size")[d];
    Border b = border_of(s, d, 2, in, k);
    int64_t room = in + b.before + b.after - s.dilation[d] * (k - 1) - 1;
    int64_t out = dout.shape()[spatial_axis(d, s.channel_last)];
    if (room < 0 || dims_differ(out, room / s.stride[d] + 1)) {
      value_error("{}: an input of size {} does not give {} positions", e.op.name,
                  e.attrs["input_size"].str(), out);
    }
    padding.insert(padding.end(), {b.before, b.after});
    extra.push_back(room % s.stride[d]);
  }
  e.result(
      kConvDx({dout, w}, {s.stride, "pad", padding, s.dilation, s.groups, layout_of(e), extra}));
}

}  // namespace

constexpr OpDef kConv2dClass = check({
    .name = "conv2d_class",
    .doc = "conv2d as the published class: out_channel and kernel_size must be those of the "
           "weight, which with "
           "data_format NHWC is [out, kh, kw, in / group].",
    .in = {"x: real[n, c, h, w]", "weight: real[o, c / group, kh, kw]"},
    .attr = {"out_channel: int", "kernel_size: int[2]", "mode: int = 1",
             "pad_mode: str(valid|same|pad) = valid", "pad: int[] = 0", "stride: int[2] = 1",
             "dilation: int[2] = 1", "group: int = 1", "data_format: str(NCHW|NHWC) = NCHW"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = [](Expansion& e) { expand_conv_class(e, kConv2d, 2); },
    .cases = "x[2, 4, 5, 6]; weight[6, 2, 3, 3]; out_channel = 6; kernel_size = 3; group = 2; "
             "pad_mode = same valid; bad "
             "out_channel = 5; bad kernel_size = 2; bad mode = 0 | x[2, 5, 6, 3]; weight[4, 3, 2, "
             "3]; out_channel = 4; "
             "kernel_size = [3, 2]; group = 1; data_format = NHWC",
    .primitive = "Conv2D(out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, "
                 "data_format)",
    .internal = true,
});

constexpr OpDef kConv3dClass = check({
    .name = "conv3d_class",
    .doc =
        "conv3d as the published class: out_channel and kernel_size must be those of the weight.",
    .in = {"x: real[n, c, d, h, w]", "weight: real[o, c / group, kd, kh, kw]"},
    .attr = {"out_channel: int", "kernel_size: int[3]", "mode: int = 1",
             "pad_mode: str(valid|same|pad) = valid", "pad: int[] = 0", "stride: int[3] = 1",
             "dilation: int[3] = 1", "group: int = 1", "data_format: str(NCDHW|NDHWC) = NCDHW"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = [](Expansion& e) { expand_conv_class(e, kConv3d, 3); },
    .cases = "x[1, 2, 3, 4, 3]; weight[3, 2, 2, 2, 2]; out_channel = 3; kernel_size = 2; pad_mode "
             "= same valid; bad "
             "out_channel = 5",
    .primitive = "Conv3D(out_channel, kernel_size, mode, pad_mode, pad, stride, dilation, group, "
                 "data_format)",
    .internal = true,
});

constexpr OpDef kConv2dBackpropInput = check({
    .name = "conv2d_backprop_input",
    .doc = "Gradient of conv2d's input: the size of that input is given as `input_size`.",
    .in = {"dout: real[n, o, h, w]", "weight: real[o, c / group, kh, kw]"},
    .attr = {"input_size: int[]", "out_channel: int", "kernel_size: int[2]",
             "pad_mode: str(valid|same|pad) = valid", "pad: int[] = 0", "pad_list: int[]? = None",
             "mode: int = 1", "stride: int[2] = 1", "dilation: int[2] = 1", "group: int = 1",
             "data_format: str(NCHW|NHWC) = NCHW"},
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = expand_backprop_input,
    .cases = "dout[2, 4, 3, 3]; weight[4, 3, 3, 2]; out_channel = 4; kernel_size = [3, 2]; "
             "input_size = [2, 3, 7, 6]; "
             "stride = 2; skip zero_size: sizes belong together; bad kernel_size = 3; bad stride = "
             "[0, 2]; bad dilation = [1, 0] | dout[2, 4, "
             "3, 3]; weight[4, 3, "
             "3, 2]; out_channel = 4; kernel_size = [3, 2]; input_size = [2, 3, 6, 5]; stride = 2; "
             "pad_mode = same",
    .primitive = "Conv2DBackpropInput(out_channel, kernel_size, pad_mode, pad, pad_list, mode, "
                 "stride, dilation, group, "
                 "data_format); Conv2DTranspose(out_channel, kernel_size, pad_mode, pad, pad_list, "
                 "mode, stride, dilation, "
                 "group, data_format)",
    .internal = true,
});

void register_conv_classes() {
  ir::register_ops({&kConv2dClass, &kConv3dClass, &kConv2dBackpropInput});
}

}  // namespace mycel::ops
