// Losses. Each gives one number with reduction mean or sum, or one per element or sample with none.
#include "mycel/ops.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"

namespace mycel::nn {
namespace {

constexpr const char* kMean = "reduction: str(mean|sum|none) = mean";

const std::string& reduction(const Layer& l) { return l.args.string("reduction"); }

Tensor reduce(const Tensor& t, const std::string& how) {
  if (how == "mean") return ops::reduce_mean(t);
  return how == "sum" ? ops::reduce_sum(t) : t;
}

// A loss of (logits, labels) whose only argument is the reduction.
template <auto f>
consteval LayerDef pairwise(const char* name, const char* doc) {
  return check({.name = name,
                .doc = doc,
                .args = {kMean},
                .in = {"logits", "labels"},
                .construct = [](Layer& l, Inputs x) { return f(x[0], x[1], reduction(l)); }});
}

constexpr LayerDef kL1Loss = pairwise<ops::l1_loss>("L1Loss", "|x - y|.");
constexpr LayerDef kMAELoss = pairwise<ops::l1_loss>("MAELoss", "|x - y|.");
constexpr LayerDef kMSELoss = pairwise<ops::mse_loss>("MSELoss", "(x - y)^2.");
constexpr LayerDef kKLDivLoss = pairwise<ops::kl_div>(
    "KLDivLoss", "y (log y - x), x log-probabilities; mean divides by the number of elements.");
constexpr LayerDef kSoftMarginLoss =
    pairwise<ops::soft_margin_loss>("SoftMarginLoss", "log(1 + exp(-y x)), y 1 or -1.");

constexpr LayerDef kRMSELoss = check({
    .name = "RMSELoss",
    .doc = "sqrt(mean((x - y)^2)).",
    .in = {"logits", "label"},
    .construct = [](Layer&, Inputs x) { return ops::sqrt(ops::mse_loss(x[0], x[1], "mean")); },
});

constexpr LayerDef kSmoothL1Loss = check({
    .name = "SmoothL1Loss",
    .doc = "d^2 / (2 beta) where d = |x - y| < beta, else d - beta / 2 (Girshick 2015).",
    .args = {"beta: float = 1.0", "reduction: str(none|mean|sum) = none"},
    .in = {"logits", "labels"},
    .setup = [](Layer& l) { l.args.positive_real("beta"); },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::smooth_l1_loss(x[0], x[1], l.args.real("beta"), reduction(l));
        },
});

constexpr LayerDef kHuberLoss = check({
    .name = "HuberLoss",
    .doc = "d^2 / 2 where d = |x - y| <= delta, else delta (d - delta / 2) (Huber 1964).",
    .args = {kMean, "delta: float = 1.0"},
    .in = {"logits", "labels"},
    .setup = [](Layer& l) { l.args.positive_real("delta"); },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::huber_loss(x[0], x[1], reduction(l), l.args.real("delta"));
        },
});

constexpr LayerDef kSoftmaxCrossEntropy = check({
    .name = "SoftmaxCrossEntropyWithLogits",
    .doc = "-log softmax(x)[y] per sample of x [n, c]: y holds class indices [n] when sparse, else "
           "probabilities [n, c].",
    .args = {"sparse: bool = False", "reduction: str(none|mean|sum) = none"},
    .in = {"logits", "labels"},
    .setup = [](Layer& l) { l.keep(l.args.boolean("sparse")); },
    .construct =
        [](Layer& l, Inputs x) {
          Tensors r = l.kept<bool>() ? ops::sparse_softmax_cross_entropy(x[0], x[1])
                                     : ops::softmax_cross_entropy_with_logits(
                                           x[0], ops::cast(x[1], x[0].dtype()));
          return reduce(r[0], reduction(l));
        },
});

constexpr LayerDef kCrossEntropyLoss = check({
    .name = "CrossEntropyLoss",
    .doc = "-log softmax(x)[y] of x [n, c, ...]; y holds class indices [n, ...] (those equal to "
           "ignore_index do not count) "
           "or probabilities like x. weight [c] scales classes; label_smoothing mixes in the "
           "uniform distribution "
           "(Szegedy et al. 2016).",
    .args = {"weight: tensor? = None", "ignore_index: int = -100", kMean,
             "label_smoothing: float = 0.0"},
    .in = {"logits", "labels"},
    .setup = [](Layer& l) { l.args.within("label_smoothing", 0, 1); },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::cross_entropy(x[0], x[1], l.args.tensor("weight"),
                                    l.args.integer("ignore_index"), reduction(l),
                                    l.args.real("label_smoothing"));
        },
});

constexpr LayerDef kNLLLoss = check({
    .name = "NLLLoss",
    .doc = "-x[y] of log-probabilities x [n, c, ...] and class indices y [n, ...]; weight [c] "
           "scales classes, indices equal "
           "to ignore_index do not count.",
    .args = {"weight: tensor? = None", "ignore_index: int = -100", kMean},
    .in = {"logits", "labels"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::nll_loss(x[0], x[1], l.args.tensor("weight"), l.args.integer("ignore_index"),
                               reduction(l));
        },
});

constexpr LayerDef kBCELoss = check({
    .name = "BCELoss",
    .doc = "-(y log x + (1 - y) log(1 - x)) times weight, x probabilities.",
    .args = {"weight: tensor? = None", "reduction: str(mean|sum|none) = mean"},
    .in = {"logits", "labels"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::binary_cross_entropy(x[0], x[1], l.args.tensor("weight"), reduction(l));
        },
});

constexpr LayerDef kBCEWithLogitsLoss = check({
    .name = "BCEWithLogitsLoss",
    .doc = "-(pos_weight y log p + (1 - y) log(1 - p)) times weight, p = sigmoid(x), computed "
           "without overflow.",
    .args = {kMean, "weight: tensor? = None", "pos_weight: tensor? = None"},
    .in = {"logits", "labels"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::binary_cross_entropy_with_logits(x[0], x[1], l.args.tensor("weight"),
                                                       l.args.tensor("pos_weight"), reduction(l));
        },
});

constexpr LayerDef kCosineEmbeddingLoss = check({
    .name = "CosineEmbeddingLoss",
    .doc = "1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where y is -1.",
    .args = {"margin: float = 0.0", kMean},
    .in = {"logits_x1", "logits_x2", "labels"},
    .setup = [](Layer& l) { l.args.within("margin", -1, 1); },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::cosine_embedding_loss(x[0], x[1], x[2], l.args.real("margin"), reduction(l));
        },
});

constexpr LayerDef kHingeEmbeddingLoss = check({
    .name = "HingeEmbeddingLoss",
    .doc = "x where y is 1, max(0, margin - x) where y is -1.",
    .args = {"margin: float = 1.0", kMean},
    .in = {"logits", "labels"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::hinge_embedding_loss(x[0], x[1], l.args.real("margin"), reduction(l));
        },
});

constexpr LayerDef kMarginRankingLoss = check({
    .name = "MarginRankingLoss",
    .doc = "max(0, -y (x1 - x2) + margin), y 1 when x1 should rank higher and -1 otherwise.",
    .args = {"margin: float = 0.0", kMean},
    .in = {"input1", "input2", "target"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::margin_ranking_loss(x[0], x[1], x[2], l.args.real("margin"), reduction(l));
        },
});

constexpr LayerDef kTripletMarginLoss = check({
    .name = "TripletMarginLoss",
    .doc = "max(0, |x - positive|_p - |x - negative|_p + margin); swap takes the nearer of |x - "
           "negative| and |positive - "
           "negative| (Balntas et al. 2016).",
    .args = {"p: int = 2", "swap: bool = False", "eps: float = 1e-6", kMean, "margin: float = 1.0"},
    .in = {"x", "positive", "negative"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::triplet_margin_loss(x[0], x[1], x[2], l.args.real("margin"),
                                          l.args.integer("p"), l.args.real("eps"),
                                          l.args.boolean("swap"), reduction(l));
        },
});

constexpr LayerDef kMultiMarginLoss = check({
    .name = "MultiMarginLoss",
    .doc = "sum over i != y of max(0, margin - x[y] + x[i])^p / c per sample of x [n, c]; weight "
           "[c] scales classes.",
    .args = {"p: int = 1", "margin: float = 1.0", kMean, "weight: tensor? = None"},
    .in = {"x", "target", "weight?"},
    .construct =
        [](Layer& l, Inputs x) {
          Tensor weight = x.size() > 2 && x[2] ? x[2] : l.args.tensor("weight");
          return ops::multi_margin_loss(x[0], x[1], weight, l.args.integer("p"),
                                        l.args.real("margin"), reduction(l));
        },
});

constexpr LayerDef kMultilabelMarginLoss = check({
    .name = "MultilabelMarginLoss",
    .doc =
        "Sum over labels j and classes i that are no labels of max(0, 1 - (x[j] - x[i])) / c per "
        "sample of x [n, c]; the labels of a row end at the first negative one.",
    .args = {kMean},
    .in = {"x", "target"},
    .construct = [](Layer& l,
                    Inputs x) { return ops::multilabel_margin_loss(x[0], x[1], reduction(l)); },
});

constexpr LayerDef kCTCLoss = check({
    .name = "CTCLoss",
    .doc = "Minus the log probability of targets [n, s] under log_probs [t, n, c] (Graves et al. "
           "2006); mean divides by the targets' lengths first, zero_infinity makes impossible "
           "targets 0.",
    .args = {"blank: int = 0", kMean, "zero_infinity: bool = False"},
    .in = {"log_probs", "targets", "input_lengths", "target_lengths"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::ctc_loss(x[0], x[1], x[2], x[3], l.args.integer("blank"), reduction(l),
                               l.args.boolean("zero_infinity"))[0];
        },
});

constexpr LayerDef kMultiLabelSoftMarginLoss = check({
    .name = "MultiLabelSoftMarginLoss",
    .doc = "Binary cross entropy with logits of x [n, c] against y [n, c], averaged over classes; "
           "weight [c] scales them.",
    .args = {"weight: tensor? = None", kMean},
    .in = {"x", "target"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::multilabel_soft_margin_loss(x[0], x[1], l.args.tensor("weight"),
                                                  reduction(l));
        },
});

constexpr LayerDef kGaussianNLLLoss = check({
    .name = "GaussianNLLLoss",
    .doc = "(log v + (x - y)^2 / v) / 2 with v = max(var, eps); full adds log(2 pi) / 2 (Nix and "
           "Weigend 1994).",
    .args = {"full: bool = False", "eps: float = 1e-6", kMean},
    .in = {"logits", "labels", "var"},
    .setup = [](Layer& l) { l.args.positive_real("eps"); },
    .construct =
        [](Layer& l, Inputs x) {
          return ops::gaussian_nll_loss(x[0], x[1], x[2], l.args.boolean("full"),
                                        l.args.real("eps"), reduction(l));
        },
});

constexpr LayerDef kPoissonNLLLoss = check({
    .name = "PoissonNLLLoss",
    .doc = "exp(x) - y x, or x - y log(x + eps) without log_input; full adds Stirling's term for y "
           "> 1.",
    .args = {"log_input: bool = True", "full: bool = False", "eps: float = 1e-8", kMean},
    .in = {"input", "target"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::poisson_nll_loss(x[0], x[1], l.args.boolean("log_input"),
                                       l.args.boolean("full"), l.args.real("eps"), reduction(l));
        },
});

// Overlap of two sets given as soft masks: 1 - 2 |x y| / (|x|^2 + |y|^2).
Tensor dice(const Tensor& x, const Tensor& y, double smooth) {
  Tensor overlap = ops::reduce_sum(x * y);
  Tensor sizes = ops::reduce_sum(x * x) + ops::reduce_sum(y * y);
  return 1.0 - (2.0 * overlap + smooth) / (sizes + smooth);
}

constexpr LayerDef kDiceLoss = check({
    .name = "DiceLoss",
    .doc = "1 - (2 sum(x y) + smooth) / (sum(x^2) + sum(y^2) + smooth) (Milletari et al. 2016).",
    .args = {"smooth: float = 1e-5"},
    .in = {"logits", "label"},
    .setup = [](Layer& l) { l.args.positive_real("smooth"); },
    .construct =
        [](Layer& l, Inputs x) {
          return dice(x[0], ops::cast(x[1], x[0].dtype()), l.args.real("smooth"));
        },
});

constexpr LayerDef kMultiClassDiceLoss = check({
    .name = "MultiClassDiceLoss",
    .doc = "Mean over classes (dim 1 of x and y) of DiceLoss, after the activation; weights [c, "
           "...] scale them; the class "
           "ignore_indiex is left out.",
    .args = {"weights: tensor? = None", "ignore_indiex: int? = None",
             "activation: cell? = softmax"},
    .in = {"logits", "label"},
    .setup =
        [](Layer& l) {
          if (CellPtr a = l.args.cell("activation")) l.add("activation", a);
        },
    .construct =
        [](Layer& l, Inputs in) {
          Tensor x = l.children().empty() ? in[0] : l.children()[0].second(in[0]);
          Tensor y = ops::cast(in[1], x.dtype()), weights = l.args.tensor("weights"), total;
          int64_t skip = l.args.none("ignore_indiex") ? -1 : l.args.integer("ignore_indiex");
          for (int64_t c = 0; c < y.dim(1); ++c) {
            if (c == skip) continue;
            Tensor one = dice(ops::narrow(x, 1, c, 1), ops::narrow(y, 1, c, 1), 1e-5);
            if (weights) one = one * ops::reduce_mean(ops::narrow(weights, 0, c, 1));
            total = total ? total + one : one;
          }
          return total / static_cast<double>(y.dim(1));
        },
});

constexpr LayerDef kFocalLoss = check({
    .name = "FocalLoss",
    .doc = "-(1 - p)^gamma log p, p = softmax(x)[y], of x [n, c, ...]; y holds class indices [n, "
           "...] or [n, 1, ...], or "
           "one-hot rows like x; weight [c] scales classes (Lin et al. 2017).",
    .args = {"weight: tensor? = None", "gamma: float = 2.0", kMean},
    .in = {"logits", "labels"},
    .construct =
        [](Layer& l, Inputs in) {
          const Tensor& x = in[0];
          Tensor y = in[1], logp = ops::log_softmax(x, 1);
          if (!(y.shape() == x.shape())) {
            if (y.rank() == x.rank()) y = ops::squeeze(y, ir::Attr(ir::Attr::Ints{1}));
            y = ops::one_hot(ops::cast(y, DType::kInt32), Tensor::scalar(x.dtype(), 1.0),
                             Tensor::scalar(x.dtype(), 0.0), x.dim(1), 1);
          }
          y = ops::cast(y, x.dtype());
          if (Tensor w = l.args.tensor("weight")) {
            std::vector<int64_t> shape(x.rank(), 1);
            shape[1] = x.dim(1);
            y = y * ops::reshape(w, shape);
          }
          Tensor p = ops::exp(logp);
          Tensor loss =
              -ops::reduce_sum(ops::pow(1.0 - p, number(p, l.args.real("gamma"))) * logp * y, {1});
          return reduce(loss, reduction(l));
        },
});

}  // namespace

LayerDefs loss_layers() {
  return {&kL1Loss,
          &kMAELoss,
          &kMSELoss,
          &kKLDivLoss,
          &kSoftMarginLoss,
          &kRMSELoss,
          &kSmoothL1Loss,
          &kHuberLoss,
          &kSoftmaxCrossEntropy,
          &kCrossEntropyLoss,
          &kNLLLoss,
          &kBCELoss,
          &kBCEWithLogitsLoss,
          &kCosineEmbeddingLoss,
          &kHingeEmbeddingLoss,
          &kMarginRankingLoss,
          &kTripletMarginLoss,
          &kMultiMarginLoss,
          &kMultilabelMarginLoss,
          &kCTCLoss,
          &kMultiLabelSoftMarginLoss,
          &kGaussianNLLLoss,
          &kPoissonNLLLoss,
          &kDiceLoss,
          &kMultiClassDiceLoss,
          &kFocalLoss};
}

}  // namespace mycel::nn
