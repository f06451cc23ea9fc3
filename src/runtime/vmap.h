// vmap: a function of one example as a function of a batch. The function is traced once over the
// types of one example, the graph is batched node by node (autodiff/batch.h) and runs through the
// dispatcher, so that vmap nests and meets every other transform.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "autodiff/batch.h"
#include "runtime/transforms.h"

namespace mycel::runtime {

using Axis = std::optional<int>;

struct VmapOptions {
  // Per argument the axis that numbers the examples; nullopt: all examples share the argument. One
  // entry stands for all arguments. Negative axes count from behind.
  std::vector<Axis> in_axes = {0};
  // Per result where that axis goes; nullopt: the result must be the same for all examples. One
  // entry stands for all results.
  std::vector<Axis> out_axes = {0};
  // Whether random ops draw different numbers for each example; as published, all get the same.
  bool separate_draws = false;
};

// RuntimeError, as published, when the mapped axes differ in size, an axis is out of range, nothing
// is mapped, or a result of out_axes nullopt differs between examples.
Tensors vmap(const Fn& f, std::span<const Tensor> args, const VmapOptions& options = {});

// The same in two steps, for front ends that learn the structure of the results from the call.
struct Mapped {
  Tensors results;
  std::vector<bool> batched;  // which results have the examples as their first axis
  int64_t size = 0;           // number of examples
};
Mapped map_examples(const Fn& f, std::span<const Tensor> args, const std::vector<Axis>& in_axes,
                    bool separate_draws = false);
Tensor placed(const Mapped& m, size_t result, Axis axis);

}  // namespace mycel::runtime
