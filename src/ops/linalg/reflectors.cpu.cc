// Householder reflectors, as LAPACK packs them.
#include <Eigen/QR>

#include "ops/linalg/decompositions.cpu.h"
#include "ops/linalg/eigen_matrix.cpu.h"

namespace mycel::ops {

template <typename T>
void reflectors_of(const T* a, T* packed, T* tau, int64_t m, int64_t n) {
  Eigen::HouseholderQR<Columns<T>> qr{Columns<T>(view(a, m, n))};
  view(packed, m, n) = qr.matrixQR();
  line(tau, std::min(m, n)) = qr.hCoeffs().conjugate();
}

template <typename T>
void reflected_columns(const T* packed, const T* tau, T* q, int64_t m, int64_t n, int64_t k,
                       int64_t columns) {
  Columns<T> v = view(packed, m, n);
  Line<T> h = line(tau, k);
  Columns<T> y = Columns<T>::Identity(m, columns);
  y.applyOnTheLeft(Eigen::householderSequence(v, h).setLength(k));
  view(q, m, columns) = y;
}

#define MYCEL_REFLECTORS(T)                                        \
  template void reflectors_of(const T*, T*, T*, int64_t, int64_t); \
  template void reflected_columns(const T*, const T*, T*, int64_t, int64_t, int64_t, int64_t);

MYCEL_REFLECTORS(float)
MYCEL_REFLECTORS(double)
MYCEL_REFLECTORS(std::complex<float>)
MYCEL_REFLECTORS(std::complex<double>)

}  // namespace mycel::ops
