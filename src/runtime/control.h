// Execution of ops whose attributes hold code: cond, while_loop (regions) and callback (host functions).
#pragma once

#include "runtime/dispatch.h"

namespace mycel::runtime {

// Null when `op` is an ordinary op.
RegionKernel region_kernel(const ir::Op& op);

}  // namespace mycel::runtime
