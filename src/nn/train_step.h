// One training step: gradients of the network's first result with respect to the optimizer's parameters,
// then the update. Everything is ordinary ops on values held by parameters, so a recorder that watches the
// parameters and states sees the whole step as one graph.
#pragma once

#include <functional>
#include <span>

#include "nn/cell.h"
#include "nn/optimizer.h"

namespace mycel::nn {

// What happens to the gradients before the optimizer sees them (averaging over devices, clipping).
using GradientRule = std::function<Tensors(Tensors)>;

// Gives the network's results. `seeds`: gradient of each result (ones when empty; a loss scale).
Tensors train_step(Cell& network, Optimizer& optimizer, Inputs inputs, std::span<const Tensor> seeds = {},
                   const GradientRule& rule = {});

// Results and gradients of `params` without an update.
struct ValueAndGrads {
  Tensors values, grads;
};
ValueAndGrads value_and_grads(Cell& network, const std::vector<Parameter>& params, Inputs inputs,
                              std::span<const Tensor> seeds = {});

}  // namespace mycel::nn
