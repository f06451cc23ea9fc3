// Tensors of another dtype, on the host.
#pragma once

#include "tensor/tensor.h"

namespace mycel::data {

// The same tensor when it has the dtype already. Floats to ints are cut towards 0; what is not
// finite or beyond int64 gives the smallest int64, and numbers beyond a narrower type wrap around,
// as on this machine in NumPy. Anything but 0 is True. TypeError: complex to real.
Tensor cast(const Tensor& t, DType to);

}  // namespace mycel::data
