// Layers made of a layer, a normalisation and an activation.
#include "mycel/ops.h"
#include "nn/activation.h"
#include "nn/layer.h"

namespace mycel::nn {
namespace {

// The rest after the first child: batch normalisation and activation as asked.
void add_rest(Layer& l, const char* norm, int64_t channels) {
  if (l.args.boolean("has_bn")) {
    l.add("batchnorm",
          make(norm, {channels}, {{"eps", l.args["eps"]}, {"momentum", l.args["momentum"]}}));
  }
  if (l.args.none("activation")) return;
  CellPtr a = l.args.cell("activation");
  if (a->class_name() == "LeakyReLU") a = make("LeakyReLU", {l.args.real("alpha")});
  l.add("activation", a);
}

Tensors one_after_the_other(Layer& l, Inputs x) {
  Tensor y = x[0];
  for (const auto& [name, child] : l.children()) y = child(y);
  return {y};
}

constexpr LayerDef kConv2dBnAct = check({
    .name = "Conv2dBnAct",
    .doc = "Conv2d, then BatchNorm2d if has_bn, then the activation; alpha is LeakyReLU's.",
    .args = {"in_channels: int", "out_channels: int", "kernel_size: int[2]", "stride: int[2] = 1",
             "pad_mode: str(same|valid|pad) = same", "padding: int[] = 0", "dilation: int[2] = 1",
             "group: int = 1", "has_bias: bool = False", "weight_init: init = normal",
             "bias_init: init = zeros", "has_bn: bool = False", "momentum: float = 0.997",
             "eps: float = 1e-5", "activation: cell? = None", "alpha: float = 0.2"},
    .setup =
        [](Layer& l) {
          NamedArgs conv;
          for (const char* name :
               {"in_channels", "out_channels", "kernel_size", "stride", "pad_mode", "padding",
                "dilation", "group", "has_bias", "weight_init", "bias_init"}) {
            conv.emplace_back(name, l.args[name]);
          }
          l.add("conv", make("Conv2d", {}, conv));
          add_rest(l, "BatchNorm2d", l.args.integer("out_channels"));
        },
    .construct = one_after_the_other,
});

constexpr LayerDef kDenseBnAct = check({
    .name = "DenseBnAct",
    .doc = "Dense, then BatchNorm1d if has_bn, then the activation; alpha is LeakyReLU's.",
    .args = {"in_channels: int", "out_channels: int", "weight_init: init = normal",
             "bias_init: init = zeros", "has_bias: bool = True", "has_bn: bool = False",
             "momentum: float = 0.9", "eps: float = 1e-5", "activation: cell? = None",
             "alpha: float = 0.2"},
    .setup =
        [](Layer& l) {
          NamedArgs dense;
          for (const char* name :
               {"in_channels", "out_channels", "weight_init", "bias_init", "has_bias"}) {
            dense.emplace_back(name, l.args[name]);
          }
          l.add("dense", make("Dense", {}, dense));
          add_rest(l, "BatchNorm1d", l.args.integer("out_channels"));
        },
    .construct = one_after_the_other,
});

}  // namespace

LayerDefs combined_layers() { return {&kConv2dBnAct, &kDenseBnAct}; }

}  // namespace mycel::nn
