// Normalisation layers.
#include <fmt/format.h>

#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"

namespace mycel::nn {
namespace {

struct BatchNorm {
  double eps, momentum;
  int64_t axis;
  int use_batch;  // 1 always, 0 never, -1 while training
  int low_rank, high_rank;
};

template <int low, int high>
void setup_batch_norm(Layer& l) {
  int64_t c = l.args.positive("num_features");
  double momentum = l.args.within("momentum", 0, 1);
  bool affine = l.args.boolean("affine");
  l.add("moving_mean", Shape{c}, l.args.init("moving_mean_init"), false);
  l.add("moving_variance", Shape{c}, l.args.init("moving_var_init"), false);
  l.add("gamma", Shape{c}, l.args.init("gamma_init"), affine);
  l.add("beta", Shape{c}, l.args.init("beta_init"), affine);
  bool last =
      l.args.signature().index("data_format") >= 0 && l.args.string("data_format") == "NHWC";
  int use = l.args.none("use_batch_statistics") ? -1 : l.args.boolean("use_batch_statistics");
  l.keep(BatchNorm{l.args.positive_real("eps"), momentum, last ? -1 : 1, use, low, high});
}

// moving = momentum * moving + (1 - momentum) * batch, with the unbiased variance of the batch.
void move_statistics(Layer& l, const BatchNorm& b, const Tensor& x, const Tensor& mean,
                     const Tensor& variance) {
  double count = static_cast<double>(x.size()) / static_cast<double>(mean.size());
  double unbias = count > 1 ? count / (count - 1) : 1;
  const Tensor &m = l.value("moving_mean"), &v = l.value("moving_variance");
  l.assign("moving_mean", b.momentum * m + (1 - b.momentum) * mean);
  l.assign("moving_variance", b.momentum * v + ((1 - b.momentum) * unbias) * variance);
}

Tensor batch_norm(Layer& l, Inputs in) {
  const auto& b = l.kept<BatchNorm>();
  const Tensor& x = in[0];
  if (x.rank() < b.low_rank || x.rank() > b.high_rank) {
    l.fail("x must have {}{} dims, got {}", b.low_rank,
           b.high_rank > b.low_rank ? fmt::format(" to {}", b.high_rank) : "", x.describe());
  }
  int64_t c = l.value("gamma").dim(0);
  int64_t given = x.dim(b.axis == 1 ? 1 : -1);
  if (given != c) {
    throw UserError(ErrorKind::kValue,
                    fmt::format("{}: x must have {} channels, got {}", l.def.name, c, x.describe()),
                    fmt::format("Give the layer num_features={}.", given));
  }
  bool batch = b.use_batch == 1 || (b.use_batch == -1 && l.training());
  if (!batch) {
    return ops::batch_norm(x, l.value("moving_mean"), l.value("moving_variance"), l.value("gamma"),
                           l.value("beta"), false, 0.1, b.eps, b.axis);
  }
  // Statistics have the dtype of these: not what the layer computes in.
  Tensor gamma = l.find_own("gamma")->value, beta = l.find_own("beta")->value;
  Tensors r = run_ops("batch_norm_train", {x, gamma, beta}, {b.eps, b.axis});
  move_statistics(l, b, x, r[1], r[2]);
  return r[0];
}

#define MYCEL_BATCH_NORM_ARGS                                                                 \
  "num_features: int", "eps: float = 1e-5", "momentum: float = 0.9", "affine: bool = True",   \
      "gamma_init: init = ones", "beta_init: init = zeros", "moving_mean_init: init = zeros", \
      "moving_var_init: init = ones", "use_batch_statistics: bool? = None"

constexpr LayerDef kBatchNorm1d = check({
    .name = "BatchNorm1d",
    .doc = "(x - mean) / sqrt(var + eps) * gamma + beta per channel of x [n, c] or [n, c, l]. "
           "Statistics of the batch while "
           "training (they move moving_mean and moving_variance by momentum), else the moving "
           "ones; use_batch_statistics "
           "decides otherwise (Ioffe and Szegedy 2015).",
    .args = {MYCEL_BATCH_NORM_ARGS, "data_format: str(NCHW) = NCHW"},
    .setup = setup_batch_norm<2, 3>,
    .construct = batch_norm,
});
constexpr LayerDef kBatchNorm2d = check({
    .name = "BatchNorm2d",
    .doc = "(x - mean) / sqrt(var + eps) * gamma + beta per channel of x [n, c, h, w] (NHWC: [n, "
           "h, w, c]). Statistics of "
           "the batch while training (they move moving_mean and moving_variance by momentum), else "
           "the moving ones; "
           "use_batch_statistics decides otherwise (Ioffe and Szegedy 2015).",
    .args = {MYCEL_BATCH_NORM_ARGS, "data_format: str(NCHW|NHWC) = NCHW"},
    .setup = setup_batch_norm<4, 4>,
    .construct = batch_norm,
});
constexpr LayerDef kBatchNorm3d = check({
    .name = "BatchNorm3d",
    .doc = "BatchNorm2d for x [n, c, d, h, w].",
    .args = {MYCEL_BATCH_NORM_ARGS},
    .setup = setup_batch_norm<5, 5>,
    .construct = batch_norm,
});

#undef MYCEL_BATCH_NORM_ARGS

struct LayerNorm {
  int64_t norm_axis, params_axis;
  double epsilon;
};

constexpr LayerDef kLayerNorm = check({
    .name = "LayerNorm",
    .doc = "(x - mean) / sqrt(var + epsilon) * gamma + beta with mean and variance over the dims "
           "from begin_norm_axis on; "
           "gamma and beta have normalized_shape, the dims from begin_params_axis on (Ba et al. "
           "2016).",
    .args = {"normalized_shape: int[]", "begin_norm_axis: int = -1", "begin_params_axis: int = -1",
             "gamma_init: init = ones", "beta_init: init = zeros", "epsilon: float = 1e-7"},
    .in = {"input_x"},
    .setup =
        [](Layer& l) {
          Shape s(std::span<const int64_t>(l.args.ints("normalized_shape")));
          l.add("gamma", s, l.args.init("gamma_init"));
          l.add("beta", s, l.args.init("beta_init"));
          l.keep(LayerNorm{l.args.integer("begin_norm_axis"), l.args.integer("begin_params_axis"),
                           l.args.positive_real("epsilon")});
        },
    .construct =
        [](Layer& l, Inputs x) {
          const auto& n = l.kept<LayerNorm>();
          return ops::layer_norm(x[0], l.value("gamma"), l.value("beta"), n.norm_axis,
                                 n.params_axis, n.epsilon)[0];
        },
});

constexpr LayerDef kGroupNorm = check({
    .name = "GroupNorm",
    .doc = "Normalises num_groups groups of channels of each sample of x [n, c, ...] to mean 0 and "
           "variance 1, then "
           "multiplies by gamma and adds beta per channel (Wu and He 2018).",
    .args = {"num_groups: int", "num_channels: int", "eps: float = 1e-5", "affine: bool = True",
             "gamma_init: init = ones", "beta_init: init = zeros"},
    .setup =
        [](Layer& l) {
          int64_t g = l.args.positive("num_groups"), c = l.args.positive("num_channels");
          if (c % g) l.fail("'num_groups' {} must divide 'num_channels' {}", g, c);
          l.args.positive_real("eps");
          bool affine = l.args.boolean("affine");
          l.add("gamma", Shape{c}, l.args.init("gamma_init"), affine);
          l.add("beta", Shape{c}, l.args.init("beta_init"), affine);
        },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::group_norm(x[0], l.value("gamma"), l.value("beta"),
                                 l.args.integer("num_groups"), l.args.real("eps"));
        },
});

// Instance statistics always; the moving ones that the published layer declares are kept for
// checkpoints.
template <int rank>
void setup_instance_norm(Layer& l) {
  int64_t c = l.args.positive("num_features");
  l.args.within("momentum", 0, 1);
  l.args.positive_real("eps");
  bool affine = l.args.boolean("affine");
  l.add("gamma", Shape{c}, l.args.init("gamma_init"), affine);
  l.add("beta", Shape{c}, l.args.init("beta_init"), affine);
  l.add("moving_mean", Shape{c}, Init("zeros"), false);
  l.add("moving_variance", Shape{c}, Init("ones"), false);
  l.keep(rank);
}

Tensor instance_norm(Layer& l, Inputs in) {
  const Tensor& x = in[0];
  int rank = l.kept<int>();
  if (x.rank() != rank) l.fail("x must have {} dims, got {}", rank, x.describe());
  if (l.training()) {
    std::vector<int64_t> axes{0};
    for (int d = 2; d < rank; ++d) axes.push_back(d);
    std::vector<int64_t> spatial(axes.begin() + 1, axes.end());
    double count = 1;
    for (int64_t d : spatial) count *= static_cast<double>(x.dim(static_cast<int>(d)));
    Tensor mean = ops::reduce_mean(x, spatial, true);
    Tensor variance =
        ops::reduce_mean(ops::square(x - mean), axes) * (count > 1 ? count / (count - 1) : 1);
    double keep = 1 - l.args.real("momentum");
    l.assign("moving_mean", keep * l.value("moving_mean") + (1 - keep) * ops::reduce_mean(x, axes));
    l.assign("moving_variance", keep * l.value("moving_variance") + (1 - keep) * variance);
  }
  return ops::instance_norm(x, l.value("gamma"), l.value("beta"), l.args.real("eps"));
}

#define MYCEL_INSTANCE_NORM_ARGS                                              \
  {"num_features: int",   "eps: float = 1e-5",       "momentum: float = 0.1", \
   "affine: bool = True", "gamma_init: init = ones", "beta_init: init = zeros"}

constexpr LayerDef kInstanceNorm1d = check({
    .name = "InstanceNorm1d",
    .doc = "Normalises each channel of each sample of x [n, c, l] over its positions (Ulyanov et "
           "al. 2016).",
    .args = MYCEL_INSTANCE_NORM_ARGS,
    .setup = setup_instance_norm<3>,
    .construct = instance_norm,
});
constexpr LayerDef kInstanceNorm2d = check({
    .name = "InstanceNorm2d",
    .doc = "Normalises each channel of each sample of x [n, c, h, w] over its positions (Ulyanov "
           "et al. 2016).",
    .args = MYCEL_INSTANCE_NORM_ARGS,
    .setup = setup_instance_norm<4>,
    .construct = instance_norm,
});
constexpr LayerDef kInstanceNorm3d = check({
    .name = "InstanceNorm3d",
    .doc = "Normalises each channel of each sample of x [n, c, d, h, w] over its positions "
           "(Ulyanov et al. 2016).",
    .args = MYCEL_INSTANCE_NORM_ARGS,
    .setup = setup_instance_norm<5>,
    .construct = instance_norm,
});

#undef MYCEL_INSTANCE_NORM_ARGS

constexpr LayerDef kLRN = check({
    .name = "LRN",
    .doc = "x / (bias + alpha * sum of x^2 over 2 depth_radius + 1 neighbouring channels)^beta "
           "(Krizhevsky et al. 2012).",
    .args = {"depth_radius: int = 5", "bias: float = 1.0", "alpha: float = 1.0",
             "beta: float = 0.5", "norm_region: str(ACROSS_CHANNELS) = ACROSS_CHANNELS"},
    .in = {"input_x"},
    .construct =
        [](Layer& l, Inputs in) {
          const Tensor& x = in[0];
          int64_t r = l.args.integer("depth_radius");
          if (r < 0 || x.rank() != 4)
            l.fail("needs x [n, c, h, w] and depth_radius >= 0, got {}", x.describe());
          // Sums over neighbours as means of windows along the channels, [n, 1, c, h * w].
          Tensor flat = ops::reshape(ops::square(x), {x.dim(0), 1, x.dim(1), x.dim(2) * x.dim(3)});
          Tensor sum = ops::avg_pool2d(flat, {2 * r + 1, 1}, ir::Attr(ir::Attr::Ints{1, 1}), {r, 0},
                                       false, true, 1, "pad");
          Tensor scale =
              l.args.real("bias") +
              l.args.real("alpha") * ops::reshape(sum, {x.dim(0), x.dim(1), x.dim(2), x.dim(3)});
          return x / ops::pow(scale, number(scale, l.args.real("beta")));
        },
});

}  // namespace

LayerDefs norm_layers() {
  return {&kBatchNorm1d,    &kBatchNorm2d,    &kBatchNorm3d,    &kLayerNorm, &kGroupNorm,
          &kInstanceNorm1d, &kInstanceNorm2d, &kInstanceNorm3d, &kLRN};
}

}  // namespace mycel::nn
