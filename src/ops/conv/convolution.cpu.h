// A forward convolution as oneDNN's description, for the kernels of this room.
#pragma once

#include "backend/cpu/onednn/convolution.h"

namespace mycel::ops {

cpu::onednn::Convolution describe_convolution(const cpu::Problem& p);
void register_joined_convolution_kernels();

}  // namespace mycel::ops
