// Parameter: a named place that holds a tensor. Layers in C++ and `mycel.Parameter` in Python share
// one ParameterData, so that either side sees what the other assigns. The tensor itself stays
// immutable: assigning replaces `value`. While a function is differentiated its variables hold
// watched tensors (runtime::GradOptions::variables points at `value`).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace mycel::nn {

struct ParameterData {
  ParameterData(Tensor v, std::string n, bool grad = true)
      : value(std::move(v)), name(std::move(n)), requires_grad(grad) {}

  Tensor value;
  std::string name;  // full name inside its network ("block1.conv.weight"); unique there
  bool requires_grad = true;
  bool layerwise_parallel = false;  // not reduced over the data-parallel axis
  bool parallel_optimizer = true;   // its optimizer state may be split over devices
  bool parallel_optimizer_comm_recompute = false;
  int comm_fusion = 1;               // communication of equal numbers is merged; 0: not merged
  std::vector<int> pipeline_stages;  // stages that hold a copy; empty: decided by the layer
};

using Parameter = std::shared_ptr<ParameterData>;

inline Parameter make_parameter(Tensor value, std::string name, bool requires_grad = true) {
  return std::make_shared<ParameterData>(std::move(value), std::move(name), requires_grad);
}

}  // namespace mycel::nn
