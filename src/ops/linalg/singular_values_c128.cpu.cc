#include "ops/linalg/singular_values.cpu.h"

namespace mycel::ops {

template bool svd_of(const std::complex<double>*, Real<std::complex<double>>*,
                     std::complex<double>*, std::complex<double>*, int64_t, int64_t, bool);

}  // namespace mycel::ops
