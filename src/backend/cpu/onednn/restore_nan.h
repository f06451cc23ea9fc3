// oneDNN's ReLU and clipping make a number of a NaN; ways that keep it take four times as long in a
// convolution's epilogue. So the fast ones run, and where the processor's Invalid flag was raised,
// the NaNs are put in afterwards: all other numbers stay as they are.
#pragma once

#include "backend/cpu/onednn/convolution.h"
#include "backend/cpu/onednn/recipe.h"

namespace mycel::cpu::onednn {

bool loses_nan(const PostOp& p);
// `before`: computes c's result as it is before the first step that loses NaN, from and to the same
// buffers.
Restore restore_nan(const Convolution& c, std::shared_ptr<const Program> before);

}  // namespace mycel::cpu::onednn
