// Poolings whose windows follow from the output size.
#include "ops/pool/pool.h"
#include "ops/pool/pool_rules.h"
#include "ops/pool/rooms.h"

namespace mycel::ops {

using ir::check;
using ir::TypeRuleCtx;

constexpr OpDef kAdaptiveMaxPool1d = check({
    .name = "adaptive_max_pool1d",
    .doc = "Largest element of output_size windows that divide one dim: window o of n covers "
           "floor(o in / n) "
           "to ceil((o + 1) in / n); -1 keeps a size.",
    .in = {"input: real[n, c, l]"},
    .attr = {"output_size: int[1]", "layout: str(channel_first|channel_last) = channel_first"},
    .type = [](TypeRuleCtx& c) { adaptive_type(c, 1); },
    .shard = "n c l -> n c m",
    .moves = "m -> m : layout order",
    .grad = adaptive_max_grad,
    .loops = adaptive_max_loops,
    .cases = "input[2, 3, 7]; input in distinct(-9, 9); output_size = 3 1 9; bad output_size = 0; "
             "skip zero_size: an empty dim "
             "cannot be pooled",
    .onnx = "GlobalMaxPool",
});

constexpr OpDef kAdaptiveMaxPool2d = check({
    .name = "adaptive_max_pool2d",
    .doc = "Largest element of output_size windows that divide two dims: window o of n covers "
           "floor(o in / n) "
           "to ceil((o + 1) in / n); -1 keeps a size.",
    .in = {"input: real[n, c, h, w]"},
    .attr = {"output_size: int[2]", "layout: str(channel_first|channel_last) = channel_first"},
    .type = [](TypeRuleCtx& c) { adaptive_type(c, 2); },
    .shard = "n c h w -> n c i j",
    .moves = "m -> m : layout order",
    .grad = adaptive_max_grad,
    .loops = adaptive_max_loops,
    .cases = "input[2, 2, 5, 7]; input in distinct(-9, 9); output_size = [3, 2] 1 -1; bad "
             "output_size = 0; skip zero_size: an empty dim "
             "cannot be pooled",
    .onnx = "GlobalMaxPool",
    .primitive = "AdaptiveMaxPool2D(output_size)",
});

constexpr OpDef kAdaptiveMaxPool3d = check({
    .name = "adaptive_max_pool3d",
    .doc = "Largest element of output_size windows that divide three dims: window o of n covers "
           "floor(o in / n) "
           "to ceil((o + 1) in / n); -1 keeps a size.",
    .in = {"input: real[n, c, d, h, w]"},
    .attr = {"output_size: int[3]", "layout: str(channel_first|channel_last) = channel_first"},
    .type = [](TypeRuleCtx& c) { adaptive_type(c, 3); },
    .shard = "n c d h w -> n c i j k",
    .moves = "m -> m : layout order",
    .grad = adaptive_max_grad,
    .loops = adaptive_max_loops,
    .cases = "input[1, 2, 4, 3, 5]; input in distinct(-9, 9); output_size = [2, 2, 3]; bad "
             "output_size = 0; skip zero_size: an empty dim "
             "cannot be pooled",
    .onnx = "GlobalMaxPool",
});

constexpr OpDef kAdaptiveAvgPool1d = check({
    .name = "adaptive_avg_pool1d",
    .doc = "Mean of output_size windows that divide one dim: window o of n covers floor(o in / n) "
           "to ceil((o + 1) in / n); -1 keeps a size.",
    .in = {"input: float[n, c, l]"},
    .attr = {"output_size: int[1]", "layout: str(channel_first|channel_last) = channel_first"},
    .type = [](TypeRuleCtx& c) { adaptive_type(c, 1); },
    .shard = "n c l -> n c m",
    .moves = "m -> m : layout order",
    .grad = adaptive_avg_grad,
    .loops = adaptive_avg_loops,
    .cases =
        "input[2, 3, 7]; output_size = 3 1 9; bad output_size = 0; skip zero_size: an empty dim "
        "cannot be pooled",
    .onnx = "GlobalAveragePool",
});

constexpr OpDef kAdaptiveAvgPool2d = check({
    .name = "adaptive_avg_pool2d",
    .doc = "Mean of output_size windows that divide two dims: window o of n covers floor(o in / n) "
           "to ceil((o + 1) in / n); -1 keeps a size.",
    .in = {"input: float[n, c, h, w]"},
    .attr = {"output_size: int[2]", "layout: str(channel_first|channel_last) = channel_first"},
    .type = [](TypeRuleCtx& c) { adaptive_type(c, 2); },
    .shard = "n c h w -> n c i j",
    .moves = "m -> m : layout order",
    .grad = adaptive_avg_grad,
    .loops = adaptive_avg_loops,
    .cases = "input[2, 2, 5, 7]; output_size = [3, 2] 1 -1; bad output_size = 0; skip zero_size: "
             "an empty dim "
             "cannot be pooled",
    .onnx = "GlobalAveragePool",
    .primitive = "AdaptiveAvgPool2D(output_size)",
});

constexpr OpDef kAdaptiveAvgPool3d = check({
    .name = "adaptive_avg_pool3d",
    .doc =
        "Mean of output_size windows that divide three dims: window o of n covers floor(o in / n) "
        "to ceil((o + 1) in / n); -1 keeps a size.",
    .in = {"input: float[n, c, d, h, w]"},
    .attr = {"output_size: int[3]", "layout: str(channel_first|channel_last) = channel_first"},
    .type = [](TypeRuleCtx& c) { adaptive_type(c, 3); },
    .shard = "n c d h w -> n c i j k",
    .moves = "m -> m : layout order",
    .grad = adaptive_avg_grad,
    .loops = adaptive_avg_loops,
    .cases = "input[1, 2, 4, 3, 5]; output_size = [2, 2, 3]; bad output_size = 0; skip zero_size: "
             "an empty dim "
             "cannot be pooled",
    .onnx = "GlobalAveragePool",
    .primitive = "AdaptiveAvgPool3D(output_size)",
});

void register_adaptive_pools() {
  ir::register_ops({&kAdaptiveMaxPool1d, &kAdaptiveMaxPool2d, &kAdaptiveMaxPool3d,
                    &kAdaptiveAvgPool1d, &kAdaptiveAvgPool2d, &kAdaptiveAvgPool3d});
}

}  // namespace mycel::ops
