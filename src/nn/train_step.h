// One training step: gradients of the network's first result with respect to the optimizer's
// parameters, then the update. Everything is ordinary ops on values held by parameters, so a
// recorder that watches the parameters and states sees the whole step as one graph.
#pragma once

#include <functional>
#include <span>

#include "nn/cell.h"
#include "nn/optimizer.h"
#include "runtime/transforms.h"

namespace mycel::nn {

// What happens to the gradients before the optimizer sees them (averaging over devices, clipping).
using GradientRule = std::function<Tensors(Tensors)>;

// Gives the network's results. `scale`: what the gradients of the results start from (1 when
// empty), a number or a loss scale as a 0-d tensor; the optimizer divides by its own loss_scale
// only.
Tensors train_step(Cell& network, Optimizer& optimizer, Inputs inputs, const Tensor& scale = {},
                   const GradientRule& rule = {});

// Results, and gradients of `params`, of any function on tensors that reads them.
struct ValueAndGrads {
  Tensors values, grads;
};
ValueAndGrads value_and_grads(const runtime::Fn& function, const std::vector<Parameter>& params,
                              Inputs inputs, const Tensor& scale = {});

// True (0-d bool) when some element is infinite or not a number.
Tensor any_nonfinite(std::span<const Tensor> tensors);
// gradient / scale, in the gradient's dtype.
Tensor unscaled(const Tensor& gradient, const Tensor& scale);

}  // namespace mycel::nn
