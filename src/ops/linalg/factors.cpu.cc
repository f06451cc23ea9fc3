// Cholesky, LU with partial pivoting and what is solved with it.
#include <cmath>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "ops/linalg/decompositions.cpu.h"
#include "ops/linalg/eigen_matrix.cpu.h"

namespace mycel::ops {

template <typename T>
bool cholesky_of(const T* a, T* l, int64_t n) {
  Eigen::LLT<Columns<T>, Eigen::Lower> llt{Columns<T>(view(a, n, n))};
  if (llt.info() != Eigen::Success) return false;
  view(l, n, n) = llt.matrixL();
  return true;
}

// Eigen takes square matrices: rows and columns of zeros are added, which no pivot prefers to a
// number and which change nothing before them.
template <typename T>
void lu_of(const T* a, T* packed, int32_t* pivots, int32_t* permutation, int64_t m, int64_t n) {
  int64_t size = std::max(m, n);
  Columns<T> square = Columns<T>::Zero(size, size);
  square.topLeftCorner(m, n) = view(a, m, n);
  Eigen::PartialPivLU<Columns<T>> lu(square);
  view(packed, m, n) = lu.matrixLU().topLeftCorner(m, n);
  // permutationP takes row j to row indices[j]; the pivots are the exchanges that lead there.
  const auto& to = lu.permutationP().indices();
  for (int64_t j = 0; j < m; ++j) permutation[to[j]] = static_cast<int32_t>(j);
  std::vector<int32_t> now(m), at(m);  // the row at a place, the place of a row
  for (int64_t i = 0; i < m; ++i) now[i] = at[i] = static_cast<int32_t>(i);
  for (int64_t i = 0; i < std::min(m, n); ++i) {
    int32_t row = permutation[i], from = at[row], moved = now[i];
    pivots[i] = from;
    now[from] = moved, at[moved] = from;
    now[i] = row, at[row] = static_cast<int32_t>(i);
  }
}

namespace {

template <typename T>
bool singular(const Eigen::PartialPivLU<Columns<T>>& lu) {
  for (int64_t i = 0; i < lu.rows(); ++i) {
    if (lu.matrixLU()(i, i) == T(0)) return true;
  }
  return false;
}

}  // namespace

template <typename T>
bool solution_of(const T* a, const T* b, T* x, int64_t n, int64_t k, bool adjoint) {
  Eigen::PartialPivLU<Columns<T>> lu{Columns<T>(view(a, n, n))};
  if (singular<T>(lu)) return false;
  if (adjoint) {
    view(x, n, k) = lu.adjoint().solve(view(b, n, k));
  } else {
    view(x, n, k) = lu.solve(view(b, n, k));
  }
  return true;
}

template <typename T>
bool inverse_of(const T* a, T* y, int64_t n) {
  Eigen::PartialPivLU<Columns<T>> lu{Columns<T>(view(a, n, n))};
  if (singular<T>(lu)) return false;
  view(y, n, n) = lu.inverse();
  return true;
}

template <typename T>
Determinant<T> determinant_of(const T* a, int64_t n) {
  Determinant<T> d{T(1), T(1), 0};
  if (n == 0) return d;
  Eigen::PartialPivLU<Columns<T>> lu{Columns<T>(view(a, n, n))};
  d.value = d.sign = T(static_cast<Real<T>>(lu.permutationP().determinant()));
  for (int64_t i = 0; i < n; ++i) {
    T pivot = lu.matrixLU()(i, i);
    Real<T> size = std::abs(pivot);
    d.value *= pivot;
    d.log_size += std::log(size);
    d.sign = size == 0 ? T(0) : d.sign * (pivot / size);
  }
  return d;
}

template <typename T>
bool triangle_solution(const T* a, const T* b, T* x, int64_t n, int64_t k, Triangle t) {
  auto m = view(a, n, n);
  for (int64_t i = 0; !t.unit && i < n; ++i) {
    if (m(i, i) == T(0)) return false;
  }
  auto y = view(x, n, k);
  y = view(b, n, k);
  auto solve = [&](auto triangle) {
    if (t.adjoint) {
      triangle.adjoint().solveInPlace(y);
    } else {
      triangle.solveInPlace(y);
    }
  };
  if (t.lower) {
    t.unit ? solve(m.template triangularView<Eigen::UnitLower>())
           : solve(m.template triangularView<Eigen::Lower>());
  } else {
    t.unit ? solve(m.template triangularView<Eigen::UnitUpper>())
           : solve(m.template triangularView<Eigen::Upper>());
  }
  return true;
}

#define MYCEL_FACTORS(T)                                                     \
  template bool cholesky_of(const T*, T*, int64_t);                          \
  template void lu_of(const T*, T*, int32_t*, int32_t*, int64_t, int64_t);   \
  template bool solution_of(const T*, const T*, T*, int64_t, int64_t, bool); \
  template bool inverse_of(const T*, T*, int64_t);                           \
  template Determinant<T> determinant_of(const T*, int64_t);                 \
  template bool triangle_solution(const T*, const T*, T*, int64_t, int64_t, Triangle);

MYCEL_FACTORS(float)
MYCEL_FACTORS(double)
MYCEL_FACTORS(std::complex<float>)
MYCEL_FACTORS(std::complex<double>)

}  // namespace mycel::ops
