// Registers the CPU kernels of the shape room; called by ops/all_kernels.cc.
#pragma once

namespace mycel::ops {
void register_shape_kernels();
}  // namespace mycel::ops
