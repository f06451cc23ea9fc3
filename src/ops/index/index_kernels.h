// Registers the CPU kernels of the index room; called by ops/all_kernels.cc.
#pragma once

namespace mycel::ops {
void register_index_kernels();
}  // namespace mycel::ops
