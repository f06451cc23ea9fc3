// Compiled host functions: traced once per signature over abstract tensors, optimised and planned,
// then run as one call. Works for C++ lambdas and Python callables. Variables (parameters,
// optimizer state) are threaded through as inputs and results and updated in place.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan.h"
#include "runtime/transforms.h"

namespace mycel::runtime {

class Jit {
 public:
  // `variables`: the mutable places that `f` reads or assigns; asked anew at every trace.
  explicit Jit(Fn f, std::string name = "main",
               std::function<std::vector<Tensor*>()> variables = {});
  ~Jit();

  // Under a recorder the traced graph is inlined, so compiled functions differentiate as any other.
  // `static_key` distinguishes traces that differ in more than the types of `args` (Python values).
  Tensors operator()(std::span<const Tensor> args, const std::string& static_key = {});

  // The graph for these arguments, before optimisation; traces if needed.
  std::shared_ptr<const ir::Graph> graph(std::span<const Tensor> args,
                                         const std::string& static_key = {});
  size_t traces() const;  // how many signatures have been compiled

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// True while a Jit traces in this thread: values are not known.
bool compiling();

}  // namespace mycel::runtime
