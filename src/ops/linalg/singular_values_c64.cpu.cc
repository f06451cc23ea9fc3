#include "ops/linalg/singular_values.cpu.h"

namespace mycel::ops {

template bool svd_of(const std::complex<float>*, Real<std::complex<float>>*, std::complex<float>*,
                     std::complex<float>*, int64_t, int64_t, bool);

}  // namespace mycel::ops
