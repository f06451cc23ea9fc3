// Backward programs of tapes seen before. An eager training step records the same tape every time;
// the second time its backward graph is compiled to a plan (fused, memory planned), from then on a
// step costs one lookup. Per thread; bounded.
#pragma once

#include <memory>
#include <span>

#include "autodiff/backward.h"
#include "runtime/plan.h"

namespace mycel::runtime {

struct BackwardProgram {
  autodiff::Backward backward;
  std::shared_ptr<const Plan> plan;  // null until the tape has come twice
};

// The program for differentiating `g` with respect to `wrt`. The values in `backward.residuals` are
// given for `g` itself.
BackwardProgram backward_program(const std::shared_ptr<ir::Graph>& g,
                                 std::span<const ir::Value> wrt);

}  // namespace mycel::runtime
