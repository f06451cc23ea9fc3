#include "nn/train_step.h"

#include "base/error.h"
#include "runtime/transforms.h"

namespace mycel::nn {

ValueAndGrads value_and_grads(Cell& network, const std::vector<Parameter>& params, Inputs inputs,
                              std::span<const Tensor> seeds) {
  runtime::GradOptions o;
  o.wrt.clear();
  for (const Parameter& p : params) o.variables.push_back(&p->value);
  o.seeds.assign(seeds.begin(), seeds.end());
  runtime::Grads g = runtime::value_and_grad([&](Inputs in) { return network.run(in); }, inputs, o);
  return {std::move(g.values), std::move(g.variables)};
}

Tensors train_step(Cell& network, Optimizer& optimizer, Inputs inputs, std::span<const Tensor> seeds,
                   const GradientRule& rule) {
  ValueAndGrads r = value_and_grads(network, optimizer.params(), inputs, seeds);
  if (rule) r.grads = rule(std::move(r.grads));
  optimizer.step(r.grads);
  return r.values;
}

}  // namespace mycel::nn
