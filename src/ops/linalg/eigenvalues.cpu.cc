// Eigenvalues and eigenvectors, of Hermitian matrices and of any.
#include <type_traits>

#include <Eigen/Eigenvalues>

#include "ops/linalg/decompositions.cpu.h"
#include "ops/linalg/eigen_matrix.cpu.h"

namespace mycel::ops {

template <typename T>
bool eigh_of(const T* a, Real<T>* w, T* v, int64_t n) {
  if (n == 0) return true;
  Eigen::SelfAdjointEigenSolver<Columns<T>> solver(
      Columns<T>(view(a, n, n)), v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) return false;
  line(w, n) = solver.eigenvalues();
  if (v) view(v, n, n) = solver.eigenvectors();
  return true;
}

template <typename T>
bool eig_of(const T* a, std::complex<Real<T>>* w, std::complex<Real<T>>* v, int64_t n) {
  if (n == 0) return true;
  using Solver = std::conditional_t<std::is_same_v<T, Real<T>>, Eigen::EigenSolver<Columns<T>>,
                                    Eigen::ComplexEigenSolver<Columns<T>>>;
  Solver solver(Columns<T>(view(a, n, n)), v != nullptr);
  if (solver.info() != Eigen::Success) return false;
  line(w, n) = solver.eigenvalues();
  if (v) view(v, n, n) = solver.eigenvectors();
  return true;
}

#define MYCEL_EIGENVALUES(T)                              \
  template bool eigh_of(const T*, Real<T>*, T*, int64_t); \
  template bool eig_of(const T*, std::complex<Real<T>>*, std::complex<Real<T>>*, int64_t);

MYCEL_EIGENVALUES(float)
MYCEL_EIGENVALUES(double)
MYCEL_EIGENVALUES(std::complex<float>)
MYCEL_EIGENVALUES(std::complex<double>)

}  // namespace mycel::ops
