// The published class forms of pooling: `strides`, `pad_mode` and `data_format` instead of numbers
// of padding.
#include <fmt/format.h>

#include "ir/expansion.h"
#include "ops/pool/pool.h"
#include "ops/pool/rooms.h"
#include "ops/shape/shape.h"

namespace mycel::ops {

using ir::Attr;
using ir::Attrs;
using ir::check;
using ir::Expansion;
using ir::Value;

namespace {

const char* layout_of(const Expansion& e) {
  return e.attrs.string("data_format").back() == 'C' ? "channel_last" : "channel_first";
}

const char* pad_mode_of(const Expansion& e) {
  const std::string& mode = e.attrs.string("pad_mode");
  return mode == "same" || mode == "SAME" ? "same"
         : mode == "pad" || mode == "PAD" ? "pad"
                                          : "valid";
}

}  // namespace

#define MYCEL_CLASS_ATTRS                            \
  {"kernel_size: int[2] = 1", "strides: int[2] = 1", \
   "pad_mode: str(valid|same|VALID|SAME) = valid", "data_format: str(NCHW|NHWC) = NCHW"}

constexpr OpDef kMaxPoolClass = check({
    .name = "max_pool",
    .doc = "max_pool2d with pad_mode same or valid.",
    .in = {"x: real[n, c, h, w]"},
    .attr = MYCEL_CLASS_ATTRS,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(kMaxPool2d({e.x(0)}, {e.attrs["kernel_size"], e.attrs["strides"], Attr::Ints{0},
                                         Attr::Ints{1, 1}, false, pad_mode_of(e), layout_of(e)}));
        },
    .cases = "x[1, 2, 5, 6]; x in distinct(-9, 9); kernel_size = 2 [3, 2]; strides = 2; pad_mode = "
             "valid same VALID; bad "
             "kernel_size = 0 | x[1, 5, 6, 2]; data_format = NHWC; kernel_size = 2",
    .primitive = "MaxPool(kernel_size, strides, pad_mode, data_format)",
    .internal = true,
});

constexpr OpDef kAvgPoolClass = check({
    .name = "avg_pool",
    .doc = "avg_pool2d with pad_mode same or valid; padding is not counted.",
    .in = {"x: float[n, c, h, w]"},
    .attr = MYCEL_CLASS_ATTRS,
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(kAvgPool2d({e.x(0)}, {e.attrs["kernel_size"], e.attrs["strides"], Attr::Ints{0},
                                         false, false, 0, pad_mode_of(e), layout_of(e)}));
        },
    .cases = "x[1, 2, 5, 6]; kernel_size = 2 [3, 2]; strides = 2; pad_mode = valid same; bad "
             "kernel_size = 0",
    .primitive = "AvgPool(kernel_size, strides, pad_mode, data_format)",
    .internal = true,
});

constexpr OpDef kMaxPoolWithArgmaxClass = check({
    .name = "max_pool_with_argmax_class",
    .doc = "max_pool_with_argmax over two dims with pad_mode same or valid.",
    .in = {"x: real[n, c, h, w]"},
    .attr = MYCEL_CLASS_ATTRS,
    .out = {"y", "index"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.results = all_results(kMaxPoolWithArgmax, {e.x(0)},
                                  {e.attrs["kernel_size"], e.attrs["strides"], Attr::Ints{0},
                                   Attr::Ints{1, 1}, false, pad_mode_of(e), layout_of(e)});
        },
    .cases =
        "x[1, 2, 5, 6]; x in distinct(-9, 9); kernel_size = 2; strides = 2; pad_mode = valid same",
    .primitive = "MaxPoolWithArgmax(kernel_size, strides, pad_mode, data_format)",
    .internal = true,
});

#undef MYCEL_CLASS_ATTRS

constexpr OpDef kMaxPoolWithArgmaxV2 = check({
    .name = "max_pool_with_argmax_v2",
    .doc = "max_pool_with_argmax over two dims with numbers of padding.",
    .in = {"x: real[n, c, h, w]"},
    .attr = {"kernel_size: int[2]", "strides: int[2]? = None", "pads: int[2] = 0",
             "dilation: int[2] = 1", "ceil_mode: bool = False", "argmax_type: dtype = int64"},
    .out = {"y", "index"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.results = all_results(
              kMaxPoolWithArgmax, {e.x(0)},
              {e.attrs["kernel_size"], e.attrs["strides"], e.attrs["pads"], e.attrs["dilation"],
               e.attrs["ceil_mode"], "pad", "channel_first", e.attrs["argmax_type"]});
        },
    .cases = "x[1, 2, 5, 6]; x in distinct(-9, 9); kernel_size = 2 3; pads = 0 1; argmax_type = "
             "int64 int32",
    .primitive =
        "MaxPoolWithArgmaxV2(kernel_size, strides, pads, dilation, ceil_mode, argmax_type)",
    .internal = true,
});

constexpr OpDef kMaxPool3dWithArgmax = check({
    .name = "max_pool3d_with_argmax",
    .doc = "max_pool_with_argmax over three dims.",
    .in = {"x: real[n, c, d, h, w]"},
    .attr = {"ksize: int[3]", "strides: int[3]", "pads: int[3]", "dilation: int[3] = 1",
             "ceil_mode: bool = False", "data_format: str(NCDHW) = NCDHW",
             "argmax_type: dtype = int64"},
    .out = {"y", "index"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.results = all_results(
              kMaxPoolWithArgmax, {e.x(0)},
              {e.attrs["ksize"], e.attrs["strides"], e.attrs["pads"], e.attrs["dilation"],
               e.attrs["ceil_mode"], "pad", "channel_first", e.attrs["argmax_type"]});
        },
    .cases =
        "x[1, 2, 4, 3, 5]; x in distinct(-9, 9); ksize = 2 [2, 1, 3]; strides = 1 2; pads = 0; "
        "argmax_type = int64 int32; ceil_mode = False True",
    .primitive = "MaxPool3DWithArgmax(ksize, strides, pads, dilation, ceil_mode, data_format, "
                 "argmax_type)",
    .internal = true,
});

constexpr OpDef kAvgPool3dClass = check({
    .name = "avg_pool3d_class",
    .doc = "avg_pool3d with pad_mode same, valid or pad.",
    .in = {"input: float[n, c, d, h, w]"},
    .attr = {"kernel_size: int[3] = 1", "strides: int[3] = 1",
             "pad_mode: str(valid|same|pad|VALID|SAME|PAD) = valid", "pad: int[] = 0",
             "ceil_mode: bool = False", "count_include_pad: bool = True",
             "divisor_override: int = 0", "data_format: str(NCDHW) = NCDHW"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          e.result(kAvgPool3d({e.x(0)}, {e.attrs["kernel_size"], e.attrs["strides"], e.attrs["pad"],
                                         e.attrs["ceil_mode"], e.attrs["count_include_pad"],
                                         e.attrs["divisor_override"], pad_mode_of(e)}));
        },
    .cases = "input[1, 2, 4, 3, 4]; kernel_size = 2; strides = 2; pad_mode = valid same | input[1, "
             "2, 4, 3, 4]; kernel_size "
             "= 2; pad_mode = pad; pad = 1",
    .primitive = "AvgPool3D(kernel_size, strides, pad_mode, pad, ceil_mode, count_include_pad, "
                 "divisor_override, "
                 "data_format)",
    .internal = true,
});

constexpr OpDef kMaxPool3dClass = check({
    .name = "max_pool3d_class",
    .doc = "max_pool3d with pad_mode SAME, VALID or PAD; pad_list is used by PAD alone.",
    .in = {"x: real[n, c, d, h, w]"},
    .attr = {"kernel_size: int[3] = 1", "strides: int[3] = 1",
             "pad_mode: str(VALID|SAME|PAD|valid|same|pad) = VALID", "pad_list: int[] = 0",
             "ceil_mode: bool? = None", "data_format: str(NCDHW) = NCDHW"},
    .shard = "none",
    .expand =
        [](Expansion& e) {
          bool ceil_mode = !e.attrs["ceil_mode"].none() && e.attrs.boolean("ceil_mode");
          e.result(
              kMaxPool3d({e.x(0)}, {e.attrs["kernel_size"], e.attrs["strides"], e.attrs["pad_list"],
                                    Attr::Ints{1, 1, 1}, ceil_mode, pad_mode_of(e)}));
        },
    .cases = "x[1, 2, 4, 3, 4]; x in distinct(-9, 9); kernel_size = 2; strides = 2; pad_mode = "
             "VALID SAME | x[1, 2, 4, 3, "
             "4]; kernel_size = 2; pad_mode = PAD; pad_list = 1; ceil_mode = True",
    .primitive = "MaxPool3D(kernel_size, strides, pad_mode, pad_list, ceil_mode, data_format)",
    .internal = true,
});

void register_pool_classes() {
  ir::register_ops({&kMaxPoolClass, &kAvgPoolClass, &kMaxPoolWithArgmaxClass, &kMaxPoolWithArgmaxV2,
                    &kMaxPool3dWithArgmax, &kAvgPool3dClass, &kMaxPool3dClass});
}

}  // namespace mycel::ops
