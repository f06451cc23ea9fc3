#include "ops/linalg/singular_values.cpu.h"

namespace mycel::ops {

template bool svd_of(const float*, Real<float>*, float*, float*, int64_t, int64_t, bool);

}  // namespace mycel::ops
