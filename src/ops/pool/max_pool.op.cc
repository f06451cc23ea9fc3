// Maxima over windows.
#include "ops/batching.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_rules.h"
#include "ops/pool/rooms.h"

namespace mycel::ops {

using ir::check;
using ir::TypeRuleCtx;

#define MYCEL_WINDOW_ATTRS(length)                                                         \
  "kernel_size: int[" length "]", "stride: int[" length "]? = None", "padding: int[] = 0", \
      "dilation: int[" length "] = 1", "ceil_mode: bool = False",                          \
      "pad_mode: str(pad|same|valid) = pad",                                               \
      "layout: str(channel_first|channel_last) = channel_first"

constexpr OpDef kMaxPool1d = check({
    .name = "max_pool1d",
    .doc = "Largest element of each window along one dim; stride None steps by the window. Padding "
           "never wins, "
           "NaN always does.",
    .in = {"x: real[n, c, l]"},
    .attr = {MYCEL_WINDOW_ATTRS("1")},
    .type = [](TypeRuleCtx& c) { max_pool_type(c, 1); },
    .shard = "n c l -> n c m : halo(l)",
    .moves = "m -> m : layout order",
    .grad = max_pool_grad,
    .loops = max_pool_loops,
    .cases = "x[2, 3, 8]; x in distinct(-9, 9); kernel_size = 3; stride = None 2; padding = 0 1; "
             "ceil_mode = False True; "
             "bad kernel_size = 9; bad x[2, 3]",
    .onnx = "MaxPool",
});

constexpr OpDef kMaxPool2d = check({
    .name = "max_pool2d",
    .doc = "Largest element of each window over two dims; stride None steps by the window. Output "
           "size: floor, in "
           "ceil_mode ceil, of (in + pad - dilation (k - 1) - 1) / stride, plus 1. Padding never "
           "wins, NaN "
           "always does.",
    .in = {"x: real[n, c, h, w]"},
    .attr = {MYCEL_WINDOW_ATTRS("2")},
    .type = [](TypeRuleCtx& c) { max_pool_type(c, 2); },
    .shard = "n c h w -> n c i j : halo(h,w)",
    .moves = "m -> m : layout order",
    .grad = max_pool_grad,
    .loops = max_pool_loops,
    .cases = "x[2, 2, 5, 6]; x in distinct(-9, 9); kernel_size = 2 [3, 2]; stride = None 1 [2, 1]; "
             "padding = 0 1; "
             "ceil_mode = False True; bad kernel_size = 0; bad stride = 0; bad padding = 2 | "
             "x[1, 2, 7, 7]; kernel_size = 2; dilation = 2; stride = 2 | x[2, 2, 5, 6]; "
             "kernel_size = 3; stride = 2; "
             "padding = 0; pad_mode = same valid | x[2, 5, 6, 3]; kernel_size = 3; stride = 2; "
             "padding = 1; layout = "
             "channel_last",
    .onnx = "MaxPool",
});

constexpr OpDef kMaxPool3d = check({
    .name = "max_pool3d",
    .doc = "Largest element of each window over three dims; sizes as in max_pool2d.",
    .in = {"x: real[n, c, d, h, w]"},
    .attr = {MYCEL_WINDOW_ATTRS("3")},
    .type = [](TypeRuleCtx& c) { max_pool_type(c, 3); },
    .shard = "n c d h w -> n c i j k : halo(d,h,w)",
    .moves = "m -> m : layout order",
    .grad = max_pool_grad,
    .loops = max_pool_loops,
    .cases = "x[1, 2, 4, 3, 5]; x in distinct(-9, 9); kernel_size = 2 [2, 1, 3]; stride = None 1; "
             "padding = 0; ceil_mode "
             "= False True",
    .onnx = "MaxPool",
});

constexpr OpDef kMaxPoolWithArgmax = check({
    .name = "max_pool_with_argmax",
    .doc = "Largest element of each window over 1 to 3 dims, and its row-major position within its "
           "plane.",
    .in = {"x: real[n, c, h, w]"},
    .attr = {MYCEL_WINDOW_ATTRS(""), "index_dtype: dtype = int32"},
    .out = {"y", "index"},
    .type = max_pool_argmax_type,
    .shard = "none",
    .moves = "m -> m m : layout order",
    .grad = max_pool_grad,
    .loops = max_pool_loops,
    .batch = batch_merge_all,
    .cases = "x[2, 2, 5, 6]; x in distinct(-9, 9); kernel_size = [2, 2] [3, 2]; stride = None [2, "
             "1]; dilation = [1, 1]; "
             "padding = 0 [1, 0]; index_dtype = int32 int64; bad index_dtype = float32",
});

constexpr OpDef kMaxPoolGather = check({
    .name = "max_pool_gather",
    .doc = "The elements of v where x has the first maximum of each window; 0 for a window of "
           "padding alone.",
    .in = {"x: real[n, c, h, w]", "v: real[n, c, h, w]"},
    .attr = {MYCEL_WINDOW_ATTRS(""), "output_size: int[] = []"},
    .type = max_gather_type,
    .shard = "none",
    .moves = "m m -> m : layout order",
    .grad = max_gather_grad,
    .loops = max_gather_loops,
    .batch = batch_merge_all,
    .cases = "x[2, 2, 5, 6]; v[2, 2, 5, 6]; x in distinct(-9, 9); kernel_size = [3, 2]; stride = "
             "[2, 1]; dilation = [1, "
             "1]; padding = 0 1; no grad of x: piecewise constant",
    .internal = true,
});

constexpr OpDef kMaxPoolScatter = check({
    .name = "max_pool_scatter",
    .doc = "Adds each element of u where x has the first maximum of its window: the gradient of a "
           "maximum.",
    .in = {"x: real[n, c, h, w]", "u: real[n, c, i, j]"},
    .attr = {MYCEL_WINDOW_ATTRS(""), "output_size: int[] = []"},
    .out = {"dx"},
    .type = max_scatter_type,
    .shard = "none",
    .moves = "m m -> m : layout order",
    .grad = max_scatter_grad,
    .loops = max_scatter_loops,
    .batch = batch_merge_all,
    .cases = "x[2, 2, 5, 6]; u[2, 2, 2, 5]; x in distinct(-9, 9); kernel_size = [3, 2]; stride = "
             "[2, 1]; dilation = [1, "
             "1]; no grad of x: piecewise constant; skip zero_size: the sizes belong together",
    .internal = true,
});

#undef MYCEL_WINDOW_ATTRS

void register_max_pools() {
  ir::register_ops({&kMaxPool1d, &kMaxPool2d, &kMaxPool3d, &kMaxPoolWithArgmax, &kMaxPoolGather,
                    &kMaxPoolScatter});
}

}  // namespace mycel::ops
