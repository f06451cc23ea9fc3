// How a matrix in a tensor's memory is seen by Eigen.
#pragma once

#include <Eigen/Core>

namespace mycel::ops {

template <typename T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <typename T>
using Line = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <typename T>
Eigen::Map<const Rows<T>> view(const T* a, int64_t m, int64_t n) {
  return {a, m, n};
}
template <typename T>
Eigen::Map<Rows<T>> view(T* a, int64_t m, int64_t n) {
  return {a, m, n};
}
template <typename T>
Eigen::Map<const Line<T>> line(const T* a, int64_t n) {
  return {a, n};
}
template <typename T>
Eigen::Map<Line<T>> line(T* a, int64_t n) {
  return {a, n};
}

}  // namespace mycel::ops
