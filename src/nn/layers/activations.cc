// Activations: elementwise functions and softmaxes as layers.
#include <map>

#include <fmt/format.h>

#include "mycel/ops.h"
#include "nn/activation.h"
#include "nn/arith.h"
#include "nn/layer.h"
#include "nn/layers/calls.h"
#include "nn/random.h"

namespace mycel::nn {
namespace {

// A layer without arguments around a function of one tensor.
template <auto f>
consteval LayerDef plain(const char* name, const char* doc) {
  return check({.name = name, .doc = doc, .construct = [](Layer&, Inputs x) { return f(x[0]); }});
}

constexpr LayerDef kReLU = plain<ops::relu>("ReLU", "max(x, 0).");
constexpr LayerDef kReLU6 = plain<ops::relu6>("ReLU6", "min(max(x, 0), 6).");
constexpr LayerDef kSigmoid = plain<ops::sigmoid>("Sigmoid", "1 / (1 + exp(-x)).");
constexpr LayerDef kTanh = plain<ops::tanh>("Tanh", "tanh(x).");
constexpr LayerDef kSiLU = plain<ops::silu>("SiLU", "x * sigmoid(x) (Hendrycks and Gimpel 2016).");
constexpr LayerDef kMish = plain<ops::mish>("Mish", "x * tanh(log(1 + exp(x))) (Misra 2019).");
constexpr LayerDef kHSwish =
    plain<ops::hardswish>("HSwish", "x * min(max(x + 3, 0), 6) / 6 (Howard et al. 2019).");
constexpr LayerDef kHSigmoid = plain<ops::hardsigmoid>("HSigmoid", "min(max(x + 3, 0), 6) / 6.");
constexpr LayerDef kSoftsign = plain<ops::softsign>("Softsign", "x / (1 + |x|).");
constexpr LayerDef kTanhshrink = plain<ops::tanhshrink>("Tanhshrink", "x - tanh(x).");
constexpr LayerDef kLogSigmoid = plain<ops::logsigmoid>("LogSigmoid", "log(1 / (1 + exp(-x))).");
constexpr LayerDef kFastGelu =
    plain<ops::fast_gelu>("FastGelu", "x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|)).");
constexpr LayerDef kSeLU = plain<ops::selu>(
    "SeLU", "scale * (x where x > 0, else alpha * (exp(x) - 1)) (Klambauer et al. 2017).");

constexpr LayerDef kGELU = check({
    .name = "GELU",
    .doc = "x * P(X <= x) for a standard normal X; approximate uses the tanh formula (Hendrycks "
           "and Gimpel 2016).",
    .args = {"approximate: bool = True"},
    .setup = [](Layer& l) { l.keep(std::string(l.args.boolean("approximate") ? "tanh" : "none")); },
    .construct = [](Layer& l, Inputs x) { return ops::gelu(x[0], l.kept<std::string>()); },
});

// A layer around a function of one tensor and one number.
template <auto f>
consteval LayerDef with_number(const char* name, const char* doc, const char* arg) {
  return check({.name = name,
                .doc = doc,
                .args = {arg},
                .setup = [](Layer& l) { l.keep(l.args.values()[0].attr().real()); },
                .construct = [](Layer& l, Inputs x) { return f(x[0], l.kept<double>()); }});
}

constexpr LayerDef kELU = with_number<ops::elu>(
    "ELU", "x where x > 0, else alpha * (exp(x) - 1) (Clevert et al. 2016).", "alpha: float = 1.0");
constexpr LayerDef kCELU = with_number<ops::celu>(
    "CELU", "max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) (Barron 2017).",
    "alpha: float = 1.0");
constexpr LayerDef kLeakyReLU = with_number<ops::leaky_relu>(
    "LeakyReLU", "x where x >= 0, else alpha * x.", "alpha: float = 0.2");
constexpr LayerDef kHShrink =
    with_number<ops::hardshrink>("HShrink", "x where |x| > lambd, else 0.", "lambd: float = 0.5");
constexpr LayerDef kSoftShrink = with_number<ops::softshrink>(
    "SoftShrink", "sign(x) * max(|x| - lambd, 0).", "lambd: float = 0.5");

constexpr LayerDef kHardtanh = check({
    .name = "Hardtanh",
    .doc = "min(max(x, min_val), max_val).",
    .args = {"min_val: float = -1.0", "max_val: float = 1.0"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::hardtanh(x[0], l.args.real("min_val"), l.args.real("max_val"));
        },
});

constexpr LayerDef kThreshold = check({
    .name = "Threshold",
    .doc = "x where x > threshold, else value.",
    .args = {"threshold: float", "value: float"},
    .construct =
        [](Layer& l, Inputs x) {
          return ops::threshold(x[0], l.args.real("threshold"), l.args.real("value"));
        },
});

constexpr LayerDef kPReLU = check({
    .name = "PReLU",
    .doc = "x where x >= 0, else w * x with a learned w per channel (dim 1), or one for all (He et "
           "al. 2015).",
    .args = {"channel: int = 1", "w: init = 0.25"},
    .setup = [](Layer& l) { l.add("w", Shape{l.args.positive("channel")}, l.args.init("w")); },
    .construct = [](Layer& l, Inputs x) { return ops::prelu(x[0], l.value("w")); },
});

constexpr LayerDef kRReLU = check({
    .name = "RReLU",
    .doc = "x where x >= 0, else a * x; a is drawn from [lower, upper) per element while training "
           "and is their mean "
           "otherwise (Xu et al. 2015).",
    .args = {"lower: float = 0.125", "upper: float = 0.3333333333333333"},
    .setup =
        [](Layer& l) {
          if (l.args.real("lower") > l.args.real("upper")) {
            l.fail("'lower' {} is above 'upper' {}", l.args.real("lower"), l.args.real("upper"));
          }
        },
    .construct =
        [](Layer& l, Inputs x) {
          double low = l.args.real("lower"), high = l.args.real("upper");
          if (!l.training()) return ops::leaky_relu(x[0], (low + high) / 2);
          Tensor u = random_uniform(x[0].shape(), x[0].dtype());
          Tensor slope = low + (high - low) * u;
          return ops::select(ops::less(x[0], number(x[0], 0)), slope * x[0], x[0]);
        },
});

constexpr LayerDef kGLU = check({
    .name = "GLU",
    .doc = "a * sigmoid(b), a and b the halves of x along axis (Dauphin et al. 2017).",
    .args = {"axis: int = -1"},
    .construct = [](Layer& l, Inputs x) { return ops::glu(x[0], l.args.integer("axis")); },
});

std::vector<int64_t> axes_of(const Layer& l) { return l.args.ints("axis"); }

constexpr LayerDef kSoftmax = check({
    .name = "Softmax",
    .doc = "exp(x) / sum(exp(x)) along axis.",
    .args = {"axis: int[] = -1"},
    .setup = [](Layer& l) { l.keep(axes_of(l)); },
    .construct = [](Layer& l, Inputs x) { return softmax(x[0], l.kept<std::vector<int64_t>>()); },
});

constexpr LayerDef kLogSoftmax = check({
    .name = "LogSoftmax",
    .doc = "x - log(sum(exp(x))) along axis.",
    .args = {"axis: int = -1"},
    .setup = [](Layer& l) { l.keep(l.args.integer("axis")); },
    .construct = [](Layer& l, Inputs x) { return ops::log_softmax(x[0], l.kept<int64_t>()); },
});

constexpr LayerDef kSoftmin = check({
    .name = "Softmin",
    .doc = "exp(-x) / sum(exp(-x)) along axis.",
    .args = {"axis: int[] = -1"},
    .setup = [](Layer& l) { l.keep(axes_of(l)); },
    .construct = [](Layer& l, Inputs x) { return softmax(-x[0], l.kept<std::vector<int64_t>>()); },
});

constexpr LayerDef kSoftmax2d = check({
    .name = "Softmax2d",
    .doc = "Softmax over the channels of x [n, c, h, w] or [c, h, w].",
    .construct =
        [](Layer& l, Inputs x) {
          if (x[0].rank() != 3 && x[0].rank() != 4) {
            l.fail("x must be [n, c, h, w] or [c, h, w], got {}", x[0].describe());
          }
          return softmax(x[0], {-3});
        },
});

const std::map<std::string, const char*>& names() {
  static const std::map<std::string, const char*> table = {{"celu", "CELU"},
                                                           {"elu", "ELU"},
                                                           {"fast_gelu", "FastGelu"},
                                                           {"fastgelu", "FastGelu"},
                                                           {"gelu", "GELU"},
                                                           {"glu", "GLU"},
                                                           {"hardtanh", "Hardtanh"},
                                                           {"hshrink", "HShrink"},
                                                           {"hsigmoid", "HSigmoid"},
                                                           {"hswish", "HSwish"},
                                                           {"leakyrelu", "LeakyReLU"},
                                                           {"logsigmoid", "LogSigmoid"},
                                                           {"logsoftmax", "LogSoftmax"},
                                                           {"mish", "Mish"},
                                                           {"prelu", "PReLU"},
                                                           {"relu", "ReLU"},
                                                           {"relu6", "ReLU6"},
                                                           {"rrelu", "RReLU"},
                                                           {"selu", "SeLU"},
                                                           {"sigmoid", "Sigmoid"},
                                                           {"silu", "SiLU"},
                                                           {"softmax", "Softmax"},
                                                           {"softmax2d", "Softmax2d"},
                                                           {"softmin", "Softmin"},
                                                           {"softshrink", "SoftShrink"},
                                                           {"softsign", "Softsign"},
                                                           {"tanh", "Tanh"},
                                                           {"tanhshrink", "Tanhshrink"}};
  return table;
}

}  // namespace

std::vector<std::string> activation_names() {
  std::vector<std::string> out;
  for (const auto& [name, layer] : names()) out.push_back(name);
  return out;
}

CellPtr make_activation(const std::string& name) {
  auto it = names().find(name);
  if (it != names().end()) return make(it->second);
  std::vector<const char*> all;
  for (const auto& [n, layer] : names()) all.push_back(n.c_str());
  std::string near = did_you_mean(name, all.data(), all.size());
  throw UserError(ErrorKind::kValue, fmt::format("there is no activation '{}'", name),
                  near.empty() ? fmt::format("Activations: {}", fmt::join(activation_names(), ", "))
                               : "Did you mean '" + near + "'?");
}

LayerDefs activation_layers() {
  return {&kReLU,       &kReLU6,      &kSigmoid,   &kTanh,       &kSiLU,       &kMish,
          &kHSwish,     &kHSigmoid,   &kSoftsign,  &kTanhshrink, &kLogSigmoid, &kFastGelu,
          &kSeLU,       &kGELU,       &kELU,       &kCELU,       &kLeakyReLU,  &kHShrink,
          &kSoftShrink, &kHardtanh,   &kThreshold, &kPReLU,      &kRReLU,      &kGLU,
          &kSoftmax,    &kLogSoftmax, &kSoftmin,   &kSoftmax2d};
}

}  // namespace mycel::nn
