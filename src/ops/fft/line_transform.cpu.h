// The transform of one line, unscaled. Eigen's port of kissfft does lengths whose prime factors
// are small; others become convolutions with a chirp of a length that is a power of two
// (Bluestein 1970), so that no length takes n^2 steps. An object keeps the tables of the lengths
// it has seen: one per thread.
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace mycel::ops {

template <typename T>
class LineTransform {
 public:
  using Complex = std::complex<T>;

  LineTransform();
  ~LineTransform();
  // n values to n values; x and y are not the same.
  void complex(const Complex* x, Complex* y, int64_t n, bool inverse);
  // n real values to n / 2 + 1.
  void real(const T* x, Complex* y, int64_t n);
  // n / 2 + 1 values, mirror images added, to n real ones.
  void inverse_real(const Complex* x, T* y, int64_t n);

  static LineTransform& of_this_thread();

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;

  Tables& tables_for(int64_t n);
  void chirp(const Complex* x, Complex* y, int64_t n, bool inverse);
};

extern template class LineTransform<float>;
extern template class LineTransform<double>;

}  // namespace mycel::ops
