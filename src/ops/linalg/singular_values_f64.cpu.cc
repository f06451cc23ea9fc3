#include "ops/linalg/singular_values.cpu.h"

namespace mycel::ops {

template bool svd_of(const double*, Real<double>*, double*, double*, int64_t, int64_t, bool);

}  // namespace mycel::ops
