// Transposed convolutions: the gradient of a convolution, used forward.
#include "ir/expansion.h"
#include "ops/conv/conv.h"
#include "ops/conv/geometry.h"
#include "ops/conv/rooms.h"
#include "ops/elementwise/elementwise.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::Attrs;
using ir::check;
using ir::Expansion;
using ir::Promote;
using ir::Value;

namespace {

// Borders and the extra size of each dim. "valid" and "same" are sized as published: in stride +
// max(window - stride, 0) and in stride, whatever the input's size.
struct Reach {
  Attr::Ints padding, extra;
};

Reach reach_of(const Expansion& e, const ConvSteps& s, const Shape& w, int rank) {
  const Attr::Ints& more = e.attrs.ints("output_padding");
  Reach r;
  for (int d = 0; d < rank; ++d) {
    if (w[d + 2] == kUnknownDim) value_error("{}: the kernel's size must be known", e.op.name);
    int64_t window = s.dilation[d] * (w[d + 2] - 1) + 1, stride = s.stride[d];
    if (s.pad_mode == "pad") {
      Border b = border_of(s, d, rank, kUnknownDim, w[d + 2]);
      r.padding.insert(r.padding.end(), {b.before, b.after});
      r.extra.push_back(more[d]);
      continue;
    }
    if (more[d] != 0)
      value_error("{}: 'output_padding' must be 0 unless pad_mode is 'pad'", e.op.name);
    int64_t total = s.pad_mode == "same" ? std::max<int64_t>(window - stride, 0) : 0;
    r.padding.insert(r.padding.end(), {total / 2, total - total / 2});
    r.extra.push_back(std::max<int64_t>(stride - window, 0));
  }
  return r;
}

void expand_transposed(Expansion& e, int rank) {
  Value x = e.x(0), w = e.x(1);
  if (x.rank() != rank + 2 || w.rank() != rank + 2) {
    value_error("{}: input and weight [in, out / group, kernel…] must have {} dims, got {} and {}",
                e.op.name, rank + 2, x.type().str(), w.type().str());
  }
  ConvSteps s{e.attrs.ints("stride"),     e.attrs.ints("dilation"),
              e.attrs.string("pad_mode"), e.attrs.ints("padding"),
              e.attrs.integer("group"),   e.attrs.string("layout") == "channel_last"};
  size_t n = s.padding.size();
  if (n != 1 && n != static_cast<size_t>(rank) && n != static_cast<size_t>(2 * rank)) {
    value_error("{}: 'padding' must be 1, {} or {} numbers", e.op.name, rank, 2 * rank);
  }
  Reach r = reach_of(e, s, w.shape(), rank);
  Value y = kConvDx({x, w},
                    {s.stride, "pad", r.padding, s.dilation, s.groups, e.attrs["layout"], r.extra});
  if (e.has(2)) {
    Value bias = e.x(2);
    for (int d = 0; d < rank && !s.channel_last; ++d) bias = kExpandDims({bias}, {-1});
    y = y + bias;
  }
  e.result(y);
}

}  // namespace

#define MYCEL_TRANSPOSED_ATTRS(length)      \
  {"pad_mode: str(pad|same|valid) = valid", \
   "padding: int[] = 0",                    \
   "stride: int[" length "] = 1",           \
   "dilation: int[" length "] = 1",         \
   "group: int = 1",                        \
   "output_padding: int[" length "] = 0",   \
   "layout: str(channel_first|channel_last) = channel_first"}

constexpr OpDef kConv1dTranspose = check({
    .name = "conv1d_transpose",
    .doc = "Transposed convolution along one dim: as conv2d_transpose.",
    .in = {"inputs: real[n, c, l]", "weight: real[c, o / group, k]", "bias?: real[o]"},
    .attr = MYCEL_TRANSPOSED_ATTRS("1"),
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = [](Expansion& e) { expand_transposed(e, 1); },
    .cases = "inputs[2, 4, 5]; weight[4, 3, 2]; bias[3]; stride = 1 3; pad_mode = valid same; bad "
             "weight[3, 3, 2]",
    .onnx = "ConvTranspose",
});

constexpr OpDef kConv2dTranspose = check({
    .name = "conv2d_transpose",
    .doc = "Transposed convolution over two dims. Output size: with pad_mode pad (in - 1) stride - "
           "pad + dilation (k - "
           "1) + 1 + output_padding; same: in stride; valid: in stride + max(dilation (k - 1) + 1 "
           "- stride, 0).",
    .in = {"inputs: real[n, c, h, w]", "weight: real[c, o / group, kh, kw]", "bias?: real[o]"},
    .attr = MYCEL_TRANSPOSED_ATTRS("2"),
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = [](Expansion& e) { expand_transposed(e, 2); },
    .cases = "inputs[2, 4, 3, 2]; weight[4, 3, 2, 3]; bias[3]; stride = 1 [3, 2]; pad_mode = valid "
             "same; bad "
             "inputs[4, 3, 2]; bad output_padding = 1 | inputs[1, 4, 3, 2]; weight[4, 2, 3, 3]; "
             "bias[4]; group = 2; "
             "stride = 2; pad_mode = pad; padding = 1 [0, 1]; output_padding = 0 1; dilation = 1 2",
    .onnx = "ConvTranspose",
});

constexpr OpDef kConv3dTranspose = check({
    .name = "conv3d_transpose",
    .doc = "Transposed convolution over three dims: as conv2d_transpose.",
    .in = {"inputs: real[n, c, d, h, w]", "weight: real[c, o / group, kd, kh, kw]",
           "bias?: real[o]"},
    .attr = MYCEL_TRANSPOSED_ATTRS("3"),
    .promote = Promote::kCommon,
    .shard = "none",
    .expand = [](Expansion& e) { expand_transposed(e, 3); },
    .cases = "inputs[1, 2, 2, 3, 2]; weight[2, 3, 2, 1, 2]; bias[3]; stride = 1 [2, 1, 2]; "
             "pad_mode = valid same",
    .onnx = "ConvTranspose",
});

#undef MYCEL_TRANSPOSED_ATTRS

void register_transposed_convolutions() {
  ir::register_ops({&kConv1dTranspose, &kConv2dTranspose, &kConv3dTranspose});
}

}  // namespace mycel::ops
