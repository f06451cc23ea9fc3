// Decompositions of one matrix, row after row in memory, for float, double and their complex
// numbers. Eigen does the work; it is seen by the files that define these functions alone, each
// compiled once per dtype. "false" means that the matrix has no such decomposition; the caller
// knows the op to name.
#pragma once

#include <complex>
#include <cstdint>

namespace mycel::ops {

template <typename T>
struct RealOf {
  using type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <typename T>
using Real = typename RealOf<T>::type;

// a = l l^H, from the lower triangle of a [n, n]. False: not positive definite.
template <typename T>
bool cholesky_of(const T* a, T* l, int64_t n);

// Rows of a [m, n] in the order `permutation` are l u, packed. pivots [min(m, n)]: the row that
// was exchanged with row i in step i.
template <typename T>
void lu_of(const T* a, T* packed, int32_t* pivots, int32_t* permutation, int64_t m, int64_t n);

// x with a x = b (a^H x = b), b [n, k]; the inverse. False: a pivot is zero.
template <typename T>
bool solution_of(const T* a, const T* b, T* x, int64_t n, int64_t k, bool adjoint);
template <typename T>
bool inverse_of(const T* a, T* y, int64_t n);
// The determinant, and the same as sign exp(log_size): 0 and -inf when it is zero.
template <typename T>
struct Determinant {
  T value, sign;
  Real<T> log_size;
};
template <typename T>
Determinant<T> determinant_of(const T* a, int64_t n);

struct Triangle {
  bool lower, unit, adjoint;  // unit: the diagonal counts as ones
};
// x with op(a) x = b for the triangle of a [n, n]. False: a zero on the diagonal.
template <typename T>
bool triangle_solution(const T* a, const T* b, T* x, int64_t n, int64_t k, Triangle t);

// Householder reflectors under r in a [m, n], LAPACK's geqrf: tau [min(m, n)].
template <typename T>
void reflectors_of(const T* a, T* packed, T* tau, int64_t m, int64_t n);
// The first `columns` columns of the product of the k reflectors in packed [m, n].
template <typename T>
void reflected_columns(const T* packed, const T* tau, T* q, int64_t m, int64_t n, int64_t k,
                       int64_t columns);

// a [m, n] = u diag(s) v^H, s falling. u [m, k], v [n, k] with k = min(m, n), or square when full;
// both null: only s. False: an element is NaN or infinite.
template <typename T>
bool svd_of(const T* a, Real<T>* s, T* u, T* v, int64_t m, int64_t n, bool full);

// a = v diag(w) v^H from the lower triangle, w rising; v may be null. False: no convergence.
template <typename T>
bool eigh_of(const T* a, Real<T>* w, T* v, int64_t n);
// a v = v diag(w) with columns of length 1; v may be null. False: no convergence.
template <typename T>
bool eig_of(const T* a, std::complex<Real<T>>* w, std::complex<Real<T>>* v, int64_t n);

template <typename T>
void exponential_of(const T* a, T* y, int64_t n);
// The principal logarithm; T is complex.
template <typename T>
void logarithm_of(const T* a, T* y, int64_t n);

}  // namespace mycel::ops
