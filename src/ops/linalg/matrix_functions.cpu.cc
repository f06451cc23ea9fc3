// Exponential and logarithm of matrices.
#include <Eigen/Core>
#include <unsupported/Eigen/MatrixFunctions>

#include "ops/linalg/decompositions.cpu.h"
#include "ops/linalg/eigen_matrix.cpu.h"

namespace mycel::ops {

template <typename T>
void exponential_of(const T* a, T* y, int64_t n) {
  if (n == 0) return;
  Columns<T> x = view(a, n, n);
  view(y, n, n) = x.exp();
}

template <typename T>
void logarithm_of(const T* a, T* y, int64_t n) {
  if (n == 0) return;
  Columns<T> x = view(a, n, n);
  view(y, n, n) = x.log();
}

template void exponential_of(const float*, float*, int64_t);
template void exponential_of(const double*, double*, int64_t);
template void exponential_of(const std::complex<float>*, std::complex<float>*, int64_t);
template void exponential_of(const std::complex<double>*, std::complex<double>*, int64_t);
template void logarithm_of(const std::complex<float>*, std::complex<float>*, int64_t);
template void logarithm_of(const std::complex<double>*, std::complex<double>*, int64_t);

}  // namespace mycel::ops
