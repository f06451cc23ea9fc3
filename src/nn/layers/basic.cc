// Dense, Dropout, Flatten and their like.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"
#include "nn/random.h"

namespace mycel::nn {
namespace {

constexpr LayerDef kDense = check({
    .name = "Dense",
    .doc = "y = activation(x W^T + b). x: [..., in_channels], y: [..., out_channels]; weight: "
           "[out_channels, "
           "in_channels], bias: [out_channels].",
    .args = {"in_channels: int", "out_channels: int", "weight_init: init = normal",
             "bias_init: init = zeros", "has_bias: bool = True", "activation: cell? = None"},
    .setup =
        [](Layer& l) {
          int64_t in = l.args.positive("in_channels"), out = l.args.positive("out_channels");
          l.add("weight", Shape{out, in}, l.args.init("weight_init"));
          if (l.args.boolean("has_bias")) l.add("bias", Shape{out}, l.args.init("bias_init"));
          if (CellPtr a = l.args.cell("activation")) l.add("activation", a);
        },
    .construct =
        [](Layer& l, Inputs x) {
          Tensor y = ops::dense(x[0], l.value(0), l.value(1));
          return l.children().empty() ? y : l.children()[0].second(y);
        },
});

constexpr LayerDef kBiDense = check({
    .name = "BiDense",
    .doc = "y = x1^T A x2 + b. input1: [..., in1], input2: [..., in2], y: [..., out]; weight A: "
           "[out, in1, in2].",
    .args = {"in1_channels: int", "in2_channels: int", "out_channels: int",
             "weight_init: init? = None", "bias_init: init? = None", "has_bias: bool = True"},
    .in = {"input1", "input2"},
    .setup =
        [](Layer& l) {
          int64_t a = l.args.positive("in1_channels"), b = l.args.positive("in2_channels");
          int64_t out = l.args.positive("out_channels");
          Init uniform = Init::named("Uniform", {1 / std::sqrt(static_cast<double>(a))});
          l.add("weight", Shape{out, a, b},
                l.args.none("weight_init") ? uniform : l.args.init("weight_init"));
          if (l.args.boolean("has_bias")) {
            l.add("bias", Shape{out},
                  l.args.none("bias_init") ? uniform : l.args.init("bias_init"));
          }
        },
    .construct =
        [](Layer& l, Inputs x) {
          const Tensor& w = l.value("weight");
          int64_t out = w.dim(0), in1 = w.dim(1), in2 = w.dim(2);
          // [n, in1] x [in1, out * in2], then the product with input2 summed over in2.
          Tensor left = ops::reshape(x[0], {-1, in1});
          Tensor right = ops::reshape(x[1], {-1, in2});
          Tensor wide =
              ops::reshape(ops::transpose(w, ir::Attr(ir::Attr::Ints{1, 0, 2})), {in1, out * in2});
          Tensor y =
              ops::reshape(ops::matmul(left, wide), {-1, out, in2}) * ops::expand_dims(right, 1);
          y = ops::reduce_sum(y, {2});
          if (l.has("bias")) y = y + l.value("bias");
          std::vector<int64_t> shape(x[0].shape().begin(), x[0].shape().end());
          shape.back() = out;
          return ops::reshape(y, shape);
        },
});

constexpr LayerDef kDropout = check({
    .name = "Dropout",
    .doc = "While training, zeroes elements with probability 1 - keep_prob (or p, when given) and "
           "divides the rest by the "
           "probability to be kept; otherwise gives x (Srivastava et al. 2014).",
    .args = {"keep_prob: float = 0.5", "p: float? = None", "dtype: dtype = float32"},
    .setup =
        [](Layer& l) {
          bool by_p = !l.args.none("p");
          l.keep(by_p ? l.args.within("p", 0, 1, "[)")
                      : 1 - l.args.within("keep_prob", 0, 1, "(]"));
          if (!is_float(l.args.dtype("dtype")))
            l.fail("'dtype' must be a float, got {}", name_of(l.args.dtype("dtype")));
        },
    .construct =
        [](Layer& l, Inputs x) {
          double p = l.kept<double>();
          return l.training() && p > 0 ? random_dropout(x[0], p) : x[0];
        },
});

// Drops whole channels of x with `spatial` dims after them.
Tensor drop_channels(Layer& l, const Tensor& x, int spatial) {
  int rank = x.rank();
  if (rank != spatial + 2 && !(spatial < 3 && rank == spatial + 1)) {
    l.fail("x must have {} dims (a batch), got {}", spatial + 2, x.describe());
  }
  double p = l.args.real("p");
  return l.training() && p > 0 ? random_channel_dropout(x, p, rank - spatial) : x;
}

void check_p(Layer& l) { l.args.within("p", 0, 1); }

constexpr LayerDef kDropout1d = check({
    .name = "Dropout1d",
    .doc = "Dropout of whole channels of x [n, c, l] with probability p (Tompson et al. 2015).",
    .args = {"p: float = 0.5"},
    .setup = check_p,
    .construct = [](Layer& l, Inputs x) { return drop_channels(l, x[0], 1); },
});
constexpr LayerDef kDropout2d = check({
    .name = "Dropout2d",
    .doc = "Dropout of whole channels of x [n, c, h, w] with probability p (Tompson et al. 2015).",
    .args = {"p: float = 0.5"},
    .setup = check_p,
    .construct = [](Layer& l, Inputs x) { return drop_channels(l, x[0], 2); },
});
constexpr LayerDef kDropout3d = check({
    .name = "Dropout3d",
    .doc =
        "Dropout of whole channels of x [n, c, d, h, w] with probability p (Tompson et al. 2015).",
    .args = {"p: float = 0.5"},
    .setup = check_p,
    .construct = [](Layer& l, Inputs x) { return drop_channels(l, x[0], 3); },
});

constexpr LayerDef kFlatten = check({
    .name = "Flatten",
    .doc = "Merges the dims from start_dim to end_dim: [n, c, h, w] to [n, c * h * w].",
    .args = {"start_dim: int = 1", "end_dim: int = -1"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::flatten(x[0], "C", l.args.integer("start_dim"), l.args.integer("end_dim"));
        },
});

constexpr LayerDef kUnflatten = check({
    .name = "Unflatten",
    .doc = "Splits dim `axis` into unflattened_size: [n, c * h, w] to [n, c, h, w].",
    .args = {"axis: int", "unflattened_size: int[]"},
    .in = {"input_x"},
    .construct =
        [](Layer& l, Inputs x) {
          int axis = normalize_axis(l.args.integer("axis"), x[0].rank(), "Unflatten");
          std::vector<int64_t> shape(x[0].shape().begin(), x[0].shape().end());
          const auto& parts = l.args.ints("unflattened_size");
          shape.erase(shape.begin() + axis);
          shape.insert(shape.begin() + axis, parts.begin(), parts.end());
          return ops::reshape(x[0], shape);
        },
});

constexpr LayerDef kIdentity = check({
    .name = "Identity",
    .doc = "Gives its operand.",
    .construct = [](Layer&, Inputs x) { return x[0]; },
});

constexpr LayerDef kOneHot = check({
    .name = "OneHot",
    .doc = "A new dim of size depth at axis: on_value at the place that the index names, off_value "
           "elsewhere.",
    .args = {"axis: int = -1", "depth: int = 1", "on_value: float = 1.0", "off_value: float = 0.0",
             "dtype: dtype = float32"},
    .in = {"indices"},
    .setup = [](Layer& l) { l.args.positive("depth"); },
    .construct =
        [](Layer& l, Inputs x) {
          DType d = l.args.dtype("dtype");
          return ops::one_hot(x[0], Tensor::scalar(d, l.args.real("on_value")),
                              Tensor::scalar(d, l.args.real("off_value")), l.args.integer("depth"),
                              l.args.integer("axis"));
        },
});

constexpr LayerDef kClipByNorm = check({
    .name = "ClipByNorm",
    .doc = "x * clip_norm / max(|x|, clip_norm), |x| the Euclidean norm over axis (all dims by "
           "default).",
    .args = {"axis: int[]? = None"},
    .in = {"x", "clip_norm"},
    .construct =
        [](Layer& l, Inputs x) {
          bool all = l.args.none("axis");
          Tensor limit = ops::cast(x[1], x[0].dtype());
          Tensor squares = ops::reduce_sum(
              ops::square(x[0]), all ? std::vector<int64_t>{} : l.args.ints("axis"), true);
          // The gradient of the root at 0 is infinite: keep zeros away from it.
          Tensor positive = ops::greater(squares, number(squares, 0));
          Tensor safe = ops::select(positive, squares, number(squares, 1));
          Tensor norm = ops::select(positive, ops::sqrt(safe), squares);
          return x[0] * limit / ops::maximum(norm, limit);
        },
});

constexpr LayerDef kNorm = check({
    .name = "Norm",
    .doc = "Euclidean norm over axis (all dims by default).",
    .args = {"axis: int[] = []", "keep_dims: bool = False"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::sqrt(
              ops::reduce_sum(ops::square(x[0]), l.args.ints("axis"), l.args.boolean("keep_dims")));
        },
});

}  // namespace

LayerDefs basic_layers() {
  return {&kDense,   &kBiDense,   &kDropout,  &kDropout1d, &kDropout2d,  &kDropout3d,
          &kFlatten, &kUnflatten, &kIdentity, &kOneHot,    &kClipByNorm, &kNorm};
}

}  // namespace mycel::nn
