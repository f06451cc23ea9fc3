#include "ops/fft/line_transform.cpu.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <Eigen/Core>
#include <unsupported/Eigen/FFT>

#include "base/error.h"

namespace mycel::ops {

namespace {

constexpr int64_t kLargestFactor = 50;  // above, a chirp is faster
constexpr size_t kLengths = 32;         // more in one thread, and all tables are made anew

bool smooth(int64_t n) {
  for (int64_t p = 2; p <= kLargestFactor; ++p) {
    while (n % p == 0) n /= p;
  }
  return n == 1;
}

}  // namespace

template <typename T>
struct LineTransform<T>::Tables {
  struct Chirp {
    std::vector<Complex> wave;      // exp(-i pi j^2 / n)
    std::vector<Complex> spectrum;  // of its conjugate, wrapped to `size`, over `size`
    std::vector<Complex> a, b;
  };
  Eigen::FFT<T> fft;
  std::set<int64_t> smooth_lengths;
  std::map<int64_t, Chirp> chirps;

  Tables() {
    fft.SetFlag(Eigen::FFT<T>::Unscaled);
    fft.SetFlag(Eigen::FFT<T>::HalfSpectrum);
  }
};

template <typename T>
LineTransform<T>::LineTransform() : tables_(std::make_unique<Tables>()) {}
template <typename T>
LineTransform<T>::~LineTransform() = default;

template <typename T>
LineTransform<T>& LineTransform<T>::of_this_thread() {
  static thread_local LineTransform transform;
  return transform;
}

template <typename T>
typename LineTransform<T>::Tables& LineTransform<T>::tables_for(int64_t n) {
  if (n > int64_t{1} << 28) value_error("fft: length {} is above {}", n, int64_t{1} << 28);
  Tables& t = *tables_;
  if (t.smooth_lengths.count(n) || t.chirps.count(n)) return t;
  if (t.smooth_lengths.size() + t.chirps.size() >= kLengths) tables_ = std::make_unique<Tables>();
  if (smooth(n)) {
    tables_->smooth_lengths.insert(n);
    return *tables_;
  }
  int64_t size = 1;
  while (size < 2 * n - 1) size *= 2;
  typename Tables::Chirp& c = tables_->chirps[n];
  c.wave.resize(n);
  c.spectrum.resize(size), c.a.resize(size), c.b.resize(size);
  for (int64_t j = 0; j < n; ++j) {
    double turn = M_PI * static_cast<double>(j * j % (2 * n)) / static_cast<double>(n);
    c.wave[j] = Complex(static_cast<T>(std::cos(turn)), static_cast<T>(-std::sin(turn)));
  }
  std::fill(c.b.begin(), c.b.end(), Complex(0));
  for (int64_t j = 0; j < n; ++j) {
    c.b[j] = std::conj(c.wave[j]) / static_cast<T>(size);
    if (j) c.b[size - j] = c.b[j];
  }
  tables_->fft.fwd(c.spectrum.data(), c.b.data(), size);
  return *tables_;
}

// y[k] = wave[k] sum_j (x[j] wave[j]) conj(wave[k - j]); the inverse by conjugates.
template <typename T>
void LineTransform<T>::chirp(const Complex* x, Complex* y, int64_t n, bool inverse) {
  Tables& t = *tables_;
  typename Tables::Chirp& c = t.chirps[n];
  auto size = static_cast<int64_t>(c.a.size());
  for (int64_t j = 0; j < n; ++j) c.a[j] = (inverse ? std::conj(x[j]) : x[j]) * c.wave[j];
  std::fill(c.a.begin() + n, c.a.end(), Complex(0));
  t.fft.fwd(c.b.data(), c.a.data(), size);
  for (int64_t j = 0; j < size; ++j) c.b[j] *= c.spectrum[j];
  t.fft.inv(c.a.data(), c.b.data(), size);
  for (int64_t k = 0; k < n; ++k) {
    y[k] = c.a[k] * c.wave[k];
    if (inverse) y[k] = std::conj(y[k]);
  }
}

template <typename T>
void LineTransform<T>::complex(const Complex* x, Complex* y, int64_t n, bool inverse) {
  if (n == 1) {
    y[0] = x[0];
    return;
  }
  Tables& t = tables_for(n);
  if (t.chirps.count(n)) return chirp(x, y, n, inverse);
  if (inverse) {
    t.fft.inv(y, x, n);
  } else {
    t.fft.fwd(y, x, n);
  }
}

template <typename T>
void LineTransform<T>::real(const T* x, Complex* y, int64_t n) {
  if (n == 1) {
    y[0] = x[0];
    return;
  }
  Tables& t = tables_for(n);
  if (!t.chirps.count(n)) {
    t.fft.fwd(y, x, n);
    return;
  }
  std::vector<Complex> in(x, x + n), out(n);
  chirp(in.data(), out.data(), n, false);
  std::copy(out.begin(), out.begin() + n / 2 + 1, y);
}

template <typename T>
void LineTransform<T>::inverse_real(const Complex* x, T* y, int64_t n) {
  if (n == 1) {
    y[0] = x[0].real();
    return;
  }
  Tables& t = tables_for(n);
  if (!t.chirps.count(n)) {
    t.fft.inv(y, x, n);
    return;
  }
  std::vector<Complex> in(n), out(n);
  for (int64_t k = 0; k <= n / 2; ++k) in[k] = x[k];
  for (int64_t k = 1; k < n - n / 2; ++k) in[n - k] = std::conj(x[k]);
  chirp(in.data(), out.data(), n, true);
  for (int64_t j = 0; j < n; ++j) y[j] = out[j].real();
}

template class LineTransform<float>;
template class LineTransform<double>;

}  // namespace mycel::ops
