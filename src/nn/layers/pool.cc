// Pooling: the largest or the mean element of windows.
#include <fmt/format.h>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"

namespace mycel::nn {
namespace {

struct Pool {
  const ir::Op* op;
  ir::Attrs attrs;
  int spatial;
};

// Runs f on x with a batch dim, whether it has one or not.
template <typename F>
auto batched(const Tensor& x, int spatial, F f) {
  if (x.rank() != spatial + 1) return f(x);
  Tensors out = f(ops::expand_dims(x, 0));
  for (Tensor& t : out) t = ops::squeeze(t, ir::Attr(ir::Attr::Ints{0}));
  return out;
}

void check_windows(Layer& l, int spatial) {
  for (const char* name : {"kernel_size", "stride"}) {
    for (int64_t v : l.args.ints(name)) {
      if (v <= 0) l.fail("'{}' must be positive, got {}", name, l.args.attr(name).str());
    }
  }
  const auto& p = l.args.ints("padding");
  bool any = false;
  for (int64_t v : p) any |= v != 0;
  if (any && l.args.string("pad_mode") != "pad") {
    l.fail("'padding' {} needs pad_mode 'pad', got '{}'", l.args.attr("padding").str(),
           l.args.string("pad_mode"));
  }
  if (p.size() != 1 && static_cast<int>(p.size()) != spatial) {
    l.fail("'padding' must be one number or {}, got {}", spatial, l.args.attr("padding").str());
  }
}

const char* layout_of(Layer& l) {
  bool last =
      l.args.signature().index("data_format") >= 0 && l.args.string("data_format") == "NHWC";
  return last ? "channel_last" : "channel_first";
}

template <int spatial>
void setup_max(Layer& l) {
  check_windows(l, spatial);
  static const char* const names[] = {"", "max_pool1d", "max_pool2d", "max_pool3d"};
  bool indices = l.args.boolean("return_indices");
  const ir::Op& op = ir::op_named(indices ? "max_pool_with_argmax" : names[spatial]);
  l.keep(Pool{
      &op,
      {l.args.attr("kernel_size"), l.args.attr("stride"), l.args.attr("padding"),
       l.args.attr("dilation"), l.args.attr("ceil_mode"), l.args.attr("pad_mode"), layout_of(l)},
      spatial});
}

template <int spatial>
void setup_avg(Layer& l) {
  check_windows(l, spatial);
  static const char* const names[] = {"", "avg_pool1d", "avg_pool2d", "avg_pool3d"};
  ir::Attr divisor = int64_t{0};
  if (l.args.signature().index("divisor_override") >= 0 && !l.args.none("divisor_override")) {
    divisor = l.args.positive("divisor_override");
  }
  l.keep(Pool{&ir::op_named(names[spatial]),
              {l.args.attr("kernel_size"), l.args.attr("stride"), l.args.attr("padding"),
               l.args.attr("ceil_mode"), l.args.attr("count_include_pad"), divisor,
               l.args.attr("pad_mode"), layout_of(l)},
              spatial});
}

Tensors pool(Layer& l, Inputs x) {
  const auto& p = l.kept<Pool>();
  return batched(x[0], p.spatial,
                 [&](const Tensor& t) { return runtime::call(*p.op, std::span(&t, 1), p.attrs); });
}

constexpr const char* kPadMode = "pad_mode: str(valid|same|pad) = valid";
constexpr const char* kFormat = "data_format: str(NCHW|NHWC) = NCHW";

constexpr LayerDef kMaxPool1d = check({
    .name = "MaxPool1d",
    .doc =
        "The largest element of each window of x [n, c, l]. return_indices gives the places too.",
    .args = {"kernel_size: int[1] = 1", "stride: int[1] = 1", kPadMode, "padding: int[] = 0",
             "dilation: int[1] = 1", "return_indices: bool = False", "ceil_mode: bool = False"},
    .setup = setup_max<1>,
    .construct = pool,
});
constexpr LayerDef kMaxPool2d = check({
    .name = "MaxPool2d",
    .doc = "The largest element of each window of x [n, c, h, w] (NHWC: [n, h, w, c]). "
           "return_indices gives the places too, "
           "as h * width + w.",
    .args = {"kernel_size: int[2] = 1", "stride: int[2] = 1", kPadMode, "padding: int[] = 0",
             "dilation: int[2] = 1", "return_indices: bool = False", "ceil_mode: bool = False",
             kFormat},
    .setup = setup_max<2>,
    .construct = pool,
});
constexpr LayerDef kMaxPool3d = check({
    .name = "MaxPool3d",
    .doc = "The largest element of each window of x [n, c, d, h, w]. return_indices gives the "
           "places too.",
    .args = {"kernel_size: int[3] = 1", "stride: int[3] = 1", kPadMode, "padding: int[] = 0",
             "dilation: int[3] = 1", "return_indices: bool = False", "ceil_mode: bool = False"},
    .setup = setup_max<3>,
    .construct = pool,
});

constexpr LayerDef kAvgPool1d = check({
    .name = "AvgPool1d",
    .doc = "The mean of each window of x [n, c, l]; count_include_pad counts padding as zeros.",
    .args = {"kernel_size: int[1] = 1", "stride: int[1] = 1", kPadMode, "padding: int[] = 0",
             "ceil_mode: bool = False", "count_include_pad: bool = True"},
    .setup = setup_avg<1>,
    .construct = pool,
});
constexpr LayerDef kAvgPool2d = check({
    .name = "AvgPool2d",
    .doc = "The mean of each window of x [n, c, h, w] (NHWC: [n, h, w, c]), or its sum divided by "
           "divisor_override; "
           "count_include_pad counts padding as zeros.",
    .args = {"kernel_size: int[2] = 1", "stride: int[2] = 1", kPadMode, "padding: int[] = 0",
             "ceil_mode: bool = False", "count_include_pad: bool = True",
             "divisor_override: int? = None", kFormat},
    .setup = setup_avg<2>,
    .construct = pool,
});
constexpr LayerDef kAvgPool3d = check({
    .name = "AvgPool3d",
    .doc = "The mean of each window of x [n, c, d, h, w], or its sum divided by divisor_override.",
    .args = {"kernel_size: int[3] = 1", "stride: int[3] = 1", kPadMode, "padding: int[] = 0",
             "ceil_mode: bool = False", "count_include_pad: bool = True",
             "divisor_override: int? = None"},
    .setup = setup_avg<3>,
    .construct = pool,
});

// Adaptive pools take the output's size; -1 (published: None) keeps that of the operand.
template <int spatial>
std::vector<int64_t> adaptive_size(Layer& l, const Tensor& x) {
  std::vector<int64_t> size = l.args.ints("output_size");
  if (size.size() == 1) size.resize(spatial, size[0]);
  if (static_cast<int>(size.size()) != spatial) l.fail("'output_size' needs {} numbers", spatial);
  for (int d = 0; d < spatial; ++d) {
    if (size[d] == -1) size[d] = x.dim(d - spatial);
  }
  return size;
}

template <int spatial, auto f>
Tensors adaptive(Layer& l, Inputs x) {
  std::vector<int64_t> size = adaptive_size<spatial>(l, x[0]);
  return batched(x[0], spatial,
                 [&](const Tensor& t) { return Tensors{f(t, size, "channel_first")}; });
}

constexpr LayerDef kAdaptiveAvgPool1d = check({
    .name = "AdaptiveAvgPool1d",
    .doc = "Means of x [n, c, l] over output_size windows of about equal length.",
    .args = {"output_size: int[]"},
    .in = {"input"},
    .construct = adaptive<1, ops::adaptive_avg_pool1d>,
});
constexpr LayerDef kAdaptiveAvgPool2d = check({
    .name = "AdaptiveAvgPool2d",
    .doc =
        "Means of x [n, c, h, w] over output_size windows of about equal size; None keeps a dim.",
    .args = {"output_size: int[]"},
    .in = {"input"},
    .construct = adaptive<2, ops::adaptive_avg_pool2d>,
});
constexpr LayerDef kAdaptiveAvgPool3d = check({
    .name = "AdaptiveAvgPool3d",
    .doc = "Means of x [n, c, d, h, w] over output_size windows of about equal size; None keeps a "
           "dim.",
    .args = {"output_size: int[]"},
    .in = {"input"},
    .construct = adaptive<3, ops::adaptive_avg_pool3d>,
});
constexpr LayerDef kAdaptiveMaxPool1d = check({
    .name = "AdaptiveMaxPool1d",
    .doc = "Largest elements of x [n, c, l] over output_size windows of about equal length.",
    .args = {"output_size: int[]"},
    .construct = adaptive<1, ops::adaptive_max_pool1d>,
});
constexpr LayerDef kAdaptiveMaxPool2d = check({
    .name = "AdaptiveMaxPool2d",
    .doc = "Largest elements of x [n, c, h, w] over output_size windows of about equal size; None "
           "keeps a dim.",
    .args = {"output_size: int[]"},
    .in = {"input"},
    .construct = adaptive<2, ops::adaptive_max_pool2d>,
});
constexpr LayerDef kAdaptiveMaxPool3d = check({
    .name = "AdaptiveMaxPool3d",
    .doc = "Largest elements of x [n, c, d, h, w] over output_size windows of about equal size; "
           "None keeps a dim.",
    .args = {"output_size: int[]"},
    .in = {"input"},
    .construct = adaptive<3, ops::adaptive_max_pool3d>,
});

template <auto pool>
Tensor lp_pool(Layer& l, Inputs x) {
  return pool(x[0], l.args.positive_real("norm_type"), l.args.ints("kernel_size"),
              l.args.attr("stride"), l.args.boolean("ceil_mode"));
}

constexpr LayerDef kLPPool1d = check({
    .name = "LPPool1d",
    .doc = "(sum of x^norm_type)^(1 / norm_type) of each window of x [n, c, l]; stride is "
           "kernel_size by default.",
    .args = {"norm_type: float", "kernel_size: int[1]", "stride: int[1]? = None",
             "ceil_mode: bool = False"},
    .construct = lp_pool<ops::lp_pool1d>,
});
constexpr LayerDef kLPPool2d = check({
    .name = "LPPool2d",
    .doc = "(sum of x^norm_type)^(1 / norm_type) of each window of x [n, c, h, w]; stride is "
           "kernel_size by default.",
    .args = {"norm_type: float", "kernel_size: int[2]", "stride: int[2]? = None",
             "ceil_mode: bool = False"},
    .construct = lp_pool<ops::lp_pool2d>,
});

}  // namespace

LayerDefs pool_layers() {
  return {&kMaxPool1d,         &kMaxPool2d,         &kMaxPool3d,         &kAvgPool1d,
          &kAvgPool2d,         &kAvgPool3d,         &kAdaptiveAvgPool1d, &kAdaptiveAvgPool2d,
          &kAdaptiveAvgPool3d, &kAdaptiveMaxPool1d, &kAdaptiveMaxPool2d, &kAdaptiveMaxPool3d,
          &kLPPool1d,          &kLPPool2d};
}

}  // namespace mycel::nn
