// The body of svd_of; each dtype is compiled in a file of its own, as Eigen's takes seconds.
#pragma once

#include <Eigen/SVD>

#include "ops/linalg/decompositions.cpu.h"
#include "ops/linalg/eigen_matrix.cpu.h"

namespace mycel::ops {

template <typename T>
bool svd_of(const T* a, Real<T>* s, T* u, T* v, int64_t m, int64_t n, bool full) {
  if (m == 0 || n == 0) {
    if (u && full) {
      view(u, m, m).setIdentity();
      view(v, n, n).setIdentity();
    }
    return true;
  }
  unsigned what = 0;
  if (u)
    what = full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                : Eigen::ComputeThinU | Eigen::ComputeThinV;
  Eigen::BDCSVD<Columns<T>> svd(Columns<T>(view(a, m, n)), what);
  if (svd.info() != Eigen::Success) return false;
  line(s, std::min(m, n)) = svd.singularValues();
  if (!u) return true;
  view(u, m, svd.matrixU().cols()) = svd.matrixU();
  view(v, n, svd.matrixV().cols()) = svd.matrixV();
  return true;
}

}  // namespace mycel::ops
