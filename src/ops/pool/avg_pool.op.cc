// Means over windows.
#include "ops/batching.h"
#include "ops/pool/pool.h"
#include "ops/pool/pool_rules.h"
#include "ops/pool/rooms.h"

namespace mycel::ops {

using ir::check;
using ir::TypeRuleCtx;

#define MYCEL_MEAN_ATTRS(length, one)                                                           \
  "kernel_size: int[" length "]" one, "stride: int[" length "]?" one, "padding: int[] = 0",     \
      "ceil_mode: bool = False", "count_include_pad: bool = True", "divisor_override: int = 0", \
      "pad_mode: str(pad|same|valid) = pad",                                                    \
      "layout: str(channel_first|channel_last) = channel_first"

constexpr OpDef kAvgPool1d = check({
    .name = "avg_pool1d",
    .doc = "Mean of each window along one dim; as avg_pool2d.",
    .in = {"input_x: float[n, c, l]"},
    .attr = {MYCEL_MEAN_ATTRS("1", " = 1")},
    .type = [](TypeRuleCtx& c) { avg_pool_type(c, 1); },
    .shard = "n c l -> n c m : halo(l)",
    .moves = "m -> m : layout order",
    .grad = avg_pool_grad,
    .loops = avg_pool_loops,
    .cases = "input_x[2, 3, 8]; kernel_size = 3; stride = 1 2; padding = 0 1; count_include_pad = "
             "True False",
    .onnx = "AveragePool",
});

constexpr OpDef kAvgPool2d = check({
    .name = "avg_pool2d",
    .doc = "Mean of each window over two dims; stride None steps by the window. The divisor counts "
           "padding (but "
           "never what ceil_mode reaches beyond it) unless count_include_pad is False; "
           "divisor_override, when "
           "not 0, replaces it.",
    .in = {"input_x: float[n, c, h, w]"},
    .attr = {MYCEL_MEAN_ATTRS("2", " = 1")},
    .type = [](TypeRuleCtx& c) { avg_pool_type(c, 2); },
    .shard = "n c h w -> n c i j : halo(h,w)",
    .moves = "m -> m : layout order",
    .grad = avg_pool_grad,
    .loops = avg_pool_loops,
    .cases = "input_x[2, 2, 5, 6]; kernel_size = 2 [3, 2]; stride = 1 2; padding = 0 1; ceil_mode "
             "= False True; "
             "count_include_pad = True False; bad divisor_override = -1; bad kernel_size = 9 | "
             "input_x[2, 2, 5, 6]; "
             "kernel_size = 2; stride = 2; divisor_override = 3 | input_x[1, 2, 5, 6]; kernel_size "
             "= 3; stride = 2; "
             "padding = 0; pad_mode = same valid | input_x[2, 5, 6, 3]; kernel_size = 3; stride = "
             "2; padding = 1; layout "
             "= channel_last",
    .onnx = "AveragePool",
});

constexpr OpDef kAvgPool3d = check({
    .name = "avg_pool3d",
    .doc = "Mean of each window over three dims; as avg_pool2d.",
    .in = {"input_x: float[n, c, d, h, w]"},
    .attr = {MYCEL_MEAN_ATTRS("3", " = 1")},
    .type = [](TypeRuleCtx& c) { avg_pool_type(c, 3); },
    .shard = "n c d h w -> n c i j k : halo(d,h,w)",
    .moves = "m -> m : layout order",
    .grad = avg_pool_grad,
    .loops = avg_pool_loops,
    .cases = "input_x[1, 2, 4, 3, 5]; kernel_size = 2; stride = 1 2; padding = 0 1; "
             "count_include_pad = True False",
    .onnx = "AveragePool",
});

constexpr OpDef kAvgPoolDx = check({
    .name = "avg_pool_dx",
    .doc = "Gradient of a windowed mean: each element of dy over its divisor, added to all of its "
           "window. `size`, or "
           "the operand `like`, gives the size.",
    .in = {"dy: float[n, c, i, j]", "like?: float"},
    .attr = {MYCEL_MEAN_ATTRS("", ""), "output_size: int[] = []", "size: int[]? = None"},
    .out = {"dx"},
    .type = avg_dx_type,
    .shard = "none",
    .moves = "m - -> m : layout order",
    .grad = avg_dx_grad,
    .loops = avg_dx_loops,
    .batch = batch_merge_all,
    .cases = "dy[2, 2, 2, 5]; kernel_size = [3, 2]; stride = [2, 1]; size = [5, 6]; without like; "
             "skip zero_size: the "
             "sizes belong together | dy[2, 2, 3, 2]; kernel_size = []; stride = []; output_size = "
             "[3, 2]; size = [5, 7]",
    .internal = true,
});

#undef MYCEL_MEAN_ATTRS

void register_avg_pools() {
  ir::register_ops({&kAvgPool1d, &kAvgPool2d, &kAvgPool3d, &kAvgPoolDx});
}

}  // namespace mycel::ops
