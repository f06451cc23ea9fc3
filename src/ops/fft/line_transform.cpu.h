// Transforms of lines, unscaled but for a factor. Eigen's port of kissfft does the work on as many
// lines at once as a vector register has lanes. Lengths with a large prime factor become
// convolutions with a chirp of a length that is a power of two (Bluestein 1970), so that none
// takes n^2 steps. A long line becomes a matrix whose columns and rows are transformed (Bailey
// 1990), which keeps to the cache and fills the lanes. An object keeps the tables of the lengths
// that it has seen: one per thread.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

namespace mycel::ops {

// Where element j of line i lies: at j * element + i * line.
struct Steps {
  int64_t element, line;
};

template <typename T>
class LineTransform {
 public:
  using Complex = std::complex<T>;
  static constexpr int64_t kLanes = 16 / static_cast<int64_t>(sizeof(T));

  LineTransform();
  ~LineTransform();
  // n values of each of up to kLanes lines to n values; y may be x where the steps are equal.
  void complex(const Complex* x, Steps from, Complex* y, Steps to, int64_t lines, int64_t n,
               bool inverse, T scale);
  // n real values of each of up to 2 kLanes lines to n / 2 + 1; those that are their own mirror
  // images are multiplied by `edge`, the others by `inner`.
  void real(const T* x, Steps from, Complex* y, Steps to, int64_t lines, int64_t n, T edge,
            T inner);
  // n / 2 + 1 values, weighed so and mirror images added, to n real ones.
  void inverse_real(const Complex* x, Steps from, T* y, Steps to, int64_t lines, int64_t n, T edge,
                    T inner);

  static LineTransform& of_this_thread();

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;

  void begin(int64_t n);
  void split(const Complex* x, int64_t from, Complex* y, int64_t to, int64_t n, int64_t columns,
             bool inverse, T scale);
};

extern template class LineTransform<float>;
extern template class LineTransform<double>;

}  // namespace mycel::ops
