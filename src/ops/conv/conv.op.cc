// Convolutions and their gradients.
#include "ops/conv/conv.h"

#include "ops/batching.h"
#include "ops/conv/conv_rules.h"
#include "ops/conv/rooms.h"

namespace mycel::ops {

using ir::check;
using ir::Promote;
using ir::TypeRuleCtx;

#define MYCEL_CONV_ATTRS(length)            \
  {"stride: int[" length "] = 1",           \
   "pad_mode: str(pad|same|valid) = valid", \
   "padding: int[] = 0",                    \
   "dilation: int[" length "] = 1",         \
   "groups: int = 1",                       \
   "layout: str(channel_first|channel_last) = channel_first"}

constexpr OpDef kConv1d = check({
    .name = "conv1d",
    .doc = "Cross-correlation along one dim. Output size: (in + pad - dilation (k - 1) - 1) / "
           "stride + 1; "
           "with pad_mode same, in / stride rounded up.",
    .in = {"input: real[n, c, l]", "weight: real[o, c, k]", "bias?: real[o]"},
    .attr = MYCEL_CONV_ATTRS("1"),
    .promote = Promote::kCommon,
    .type = [](TypeRuleCtx& c) { conv_type(c, 1); },
    .shard = "n c l, o c k, o -> n o l : sum(c), halo(l)",
    .moves = "m . . -> m : layout best",
    .grad = conv_grad,
    .loops = conv_loops,
    .cases = "c = 4; l = 9; k = 3; stride = 1 2; pad_mode = same valid | input[2, 4, 9]; weight[6, "
             "2, 3]; bias[6]; "
             "groups = 2; pad_mode = pad; padding = 1 [2, 1]; dilation = 2; bad weight[6, 3, 3]; "
             "bad stride = 0",
    .onnx = "Conv",
});

constexpr OpDef kConv2d = check({
    .name = "conv2d",
    .doc = "Cross-correlation over two dims. Output size: (in + pad - dilation (k - 1) - 1) / "
           "stride + 1; with "
           "pad_mode same, in / stride rounded up; padding is one number, [vertical, horizontal] "
           "or [top, "
           "bottom, left, right].",
    .in = {"input: real[n, c, h, w]", "weight: real[o, c / groups, kh, kw]", "bias?: real[o]"},
    .attr = MYCEL_CONV_ATTRS("2"),
    .promote = Promote::kCommon,
    .type = [](TypeRuleCtx& c) { conv_type(c, 2); },
    .shard = "n c h w, o c i j, o -> n o h w : sum(c), halo(h,w)",
    .moves = "m . . -> m : layout best",
    .grad = conv_grad,
    .loops = conv_loops,
    .cases =
        "input[2, 3, 6, 5]; weight[4, 3, 3, 2]; bias[4]; stride = 1 2; pad_mode = same valid; bad "
        "input[3, 6, 5]; "
        "bad weight[4, 2, 3, 2]; bad bias[3]; bad padding = 1 | "
        "input[1, 4, 7, 6]; weight[6, 2, 3, 3]; bias[6]; groups = 2; pad_mode = pad; padding = 1 "
        "[0, 2] [0, 1, 2, "
        "1]; stride = 2; dilation = 1 2 | "
        "input[2, 4, 5, 5]; weight[4, 1, 3, 3]; bias[4]; groups = 4; pad_mode = pad; padding = 1 | "
        "input[2, 5, 6, 3]; weight[4, 3, 2, 2]; bias[4]; layout = channel_last; stride = [2, 1] | "
        "input[2, 3, 4, 4]; weight[5, 3, 1, 1]; bias[5]",
    .onnx = "Conv",
});

constexpr OpDef kConv3d = check({
    .name = "conv3d",
    .doc = "Cross-correlation over three dims; sizes and padding as in conv2d.",
    .in = {"input: real[n, c, d, h, w]", "weight: real[o, c / groups, kd, kh, kw]",
           "bias?: real[o]"},
    .attr = MYCEL_CONV_ATTRS("3"),
    .promote = Promote::kCommon,
    .type = [](TypeRuleCtx& c) { conv_type(c, 3); },
    .shard = "n c d h w, o c i j k, o -> n o d h w : sum(c), halo(d,h,w)",
    .moves = "m . . -> m : layout best",
    .grad = conv_grad,
    .loops = conv_loops,
    .cases = "input[1, 2, 4, 3, 5]; weight[2, 2, 2, 3, 2]; bias[2]; pad_mode = same valid; stride "
             "= 1 [1, 2, 2] | "
             "input[1, 2, 4, 4, 3]; weight[4, 1, 2, 2, 2]; bias[4]; groups = 2; pad_mode = pad; "
             "padding = [1, 0, 1]; "
             "dilation = [1, 2, 1]",
    .onnx = "Conv",
});

constexpr OpDef kConvDx = check({
    .name = "conv_dx",
    .doc = "Gradient of a convolution's input: dx[i] sums dy[p] w[k] over all p stride + k "
           "dilation - pad = i; "
           "the size of dx is that of `like`, or the smallest possible plus `extra`.",
    .in = {"dy: real[n, o, h, w]", "w: real[o, c / groups, kh, kw]", "like?: real"},
    .attr = {"stride: int[]", "pad_mode: str(pad|same|valid) = valid", "padding: int[] = 0",
             "dilation: int[]", "groups: int = 1",
             "layout: str(channel_first|channel_last) = channel_first", "extra: int[] = 0"},
    .type = conv_dx_type,
    .shard = "none",
    .moves = "m . . -> m : layout best",
    .grad = conv_dx_grad,
    .loops = conv_dx_loops,
    .batch = batch_merge,
    .cases = "dy[2, 4, 3, 2]; w[4, 3, 3, 2]; stride = [2, 1]; dilation = [1, 1]; pad_mode = pad; "
             "padding = 0 [1, 0, 0, "
             "1]; extra = 0 [1, 0]; without like; bad extra = 2; bad w[3, 3, 3, 2] | "
             "dy[1, 6, 4, 3]; w[6, 2, 3, 3]; stride = [1, 1]; dilation = [1, 2]; groups = 2; extra "
             "= 0; without like | "
             "dy[2, 4, 4, 4]; w[4, 1, 3, 3]; stride = [2, 2]; dilation = [1, 1]; groups = 4; "
             "pad_mode = same; "
             "padding = 0; extra = 0; like[2, 4, 7, 8]; with like; no grad of like: only its shape "
             "is used | "
             "dy[2, 4, 5]; w[4, 3, 2]; stride = [2]; dilation = [1]; padding = 0 1; extra = 0 1; "
             "without like",
    .onnx = "ConvTranspose",
    .internal = true,
});

constexpr OpDef kConvDw = check({
    .name = "conv_dw",
    .doc = "Gradient of a convolution's weight: dw[k] sums x[p stride + k dilation - pad] dy[p] "
           "over p and the batch; "
           "`kernel`, or the operand `like`, gives the size.",
    .in = {"x: real[n, c, h, w]", "dy: real[n, o, h, w]", "like?: real"},
    .attr = {"stride: int[]", "pad_mode: str(pad|same|valid) = valid", "padding: int[] = 0",
             "dilation: int[]", "groups: int = 1",
             "layout: str(channel_first|channel_last) = channel_first", "kernel: int[]? = None"},
    .type = conv_dw_type,
    .shard = "none",
    .moves = "m m - -> . : layout best",
    .grad = conv_dw_grad,
    .loops = conv_dw_loops,
    .cases = "x[2, 3, 7, 4]; dy[2, 4, 3, 3]; stride = [2, 1]; dilation = [1, 1]; kernel = [3, 2]; "
             "without like; bad dy[2, "
             "4, 4, 3] | "
             "x[1, 4, 6, 7]; dy[1, 6, 4, 3]; stride = [1, 1]; dilation = [1, 2]; kernel = [3, 3]; "
             "groups = 2; without "
             "like | "
             "x[2, 4, 7, 8]; dy[2, 4, 4, 4]; stride = [2, 2]; dilation = [1, 1]; kernel = [3, 3]; "
             "groups = 4; pad_mode = "
             "same; without like | "
             "x[2, 3, 9]; dy[2, 4, 4]; stride = [2]; dilation = [1]; kernel = [3]; without like",
    .internal = true,
});

#undef MYCEL_CONV_ATTRS

void register_convolutions() {
  ir::register_ops({&kConv1d, &kConv2d, &kConv3d, &kConvDx, &kConvDw});
}

}  // namespace mycel::ops
