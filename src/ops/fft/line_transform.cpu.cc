#include "ops/fft/line_transform.cpu.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <Eigen/Core>
#include <unsupported/Eigen/FFT>

#include "base/error.h"
#include "base/threads.h"
#include "ops/fft/lanes.cpu.h"

namespace mycel::ops {

namespace {

constexpr int64_t kLargestFactor = 50;  // above, a chirp is faster
constexpr int64_t kLongLine = 8192;     // from here on a line is split
constexpr int64_t kLeastColumns = 16;   // fewer do not pay
constexpr size_t kLengths = 32;         // more in one thread, and all tables are made anew

bool smooth(int64_t n) {
  for (int64_t p = 2; p <= kLargestFactor; ++p) {
    while (n % p == 0) n /= p;
  }
  return n == 1;
}

// exp(-2 pi i j / n)
template <typename T>
std::complex<T> turn(int64_t j, int64_t n) {
  double angle = 2 * M_PI * static_cast<double>(j) / static_cast<double>(n);
  return {static_cast<T>(std::cos(angle)), static_cast<T>(-std::sin(angle))};
}

// The divisor of n that is nearest below its root.
int64_t divisor_near_root(int64_t n) {
  auto d = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % d != 0) --d;
  return d;
}

// Without the detour of std::complex for infinities.
template <typename T>
std::complex<T> product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

template <typename T>
struct LineTransform<T>::Tables {
  using Packed = std::complex<Lanes<T>>;
  using Kiss = Eigen::internal::kiss_cpx_fft<Lanes<T>>;
  struct Chirp {
    int64_t size;
    std::vector<Complex> wave;      // exp(-i pi j^2 / n)
    std::vector<Complex> spectrum;  // of its conjugate, wrapped to `size`, over `size`
  };
  std::map<int64_t, Kiss> plans;
  std::map<int64_t, Chirp> chirps;
  std::map<int64_t, std::vector<Complex>> turns;
  std::vector<Packed> in, out, a, b;

  static Packed both(Complex z) { return Packed(Lanes<T>(z.real()), Lanes<T>(z.imag())); }

  void kiss(const Packed* x, Packed* y, int64_t n) {
    Kiss& plan = plans[n];
    if (plan.m_twiddles.empty()) {
      plan.make_twiddles(static_cast<int>(n), false);
      plan.factorize(static_cast<int>(n));
    }
    plan.work(0, y, x, 1, 1);
  }

  const Chirp& chirp(int64_t n) {
    auto [it, fresh] = chirps.try_emplace(n);
    Chirp& c = it->second;
    if (!fresh) return c;
    c.size = 1;
    while (c.size < 2 * n - 1) c.size *= 2;
    c.wave.resize(n);
    for (int64_t j = 0; j < n; ++j) c.wave[j] = turn<T>(j * j % (2 * n), 2 * n);
    std::vector<Packed> mirrored(c.size, Packed(0)), spectrum(c.size);
    for (int64_t j = 0; j < n; ++j) {
      mirrored[j] = both(std::conj(c.wave[j]) / static_cast<T>(c.size));
      if (j) mirrored[c.size - j] = mirrored[j];
    }
    kiss(mirrored.data(), spectrum.data(), c.size);
    for (const Packed& s : spectrum) c.spectrum.emplace_back(s.real().v[0], s.imag().v[0]);
    return c;
  }

  // out = the transform of `in`, n values each.
  void run(int64_t n) {
    out.resize(n);
    if (n == 1) {
      out[0] = in[0];
      return;
    }
    if (smooth(n)) return kiss(in.data(), out.data(), n);
    // out[k] = wave[k] sum_j (in[j] wave[j]) conj(wave[k - j])
    const Chirp& c = chirp(n);
    a.assign(c.size, Packed(0));
    b.resize(c.size);
    for (int64_t j = 0; j < n; ++j) a[j] = in[j] * both(c.wave[j]);
    kiss(a.data(), b.data(), c.size);
    for (int64_t j = 0; j < c.size; ++j) {
      Packed z = b[j] * both(c.spectrum[j]);
      b[j] = Packed(z.real(), -z.imag());
    }
    kiss(b.data(), a.data(), c.size);
    for (int64_t k = 0; k < n; ++k) out[k] = Packed(a[k].real(), -a[k].imag()) * both(c.wave[k]);
  }

  // Lines become lanes and back; an inverse is a transform between conjugates.
  void gather(const Complex* x, Steps s, int64_t lines, int64_t n, bool inverse) {
    in.resize(n);
    for (int64_t j = 0; j < n; ++j) {
      Lanes<T> re, im;
      for (int64_t i = 0; i < lines; ++i) {
        Complex z = x[j * s.element + i * s.line];
        re.v[i] = z.real();
        im.v[i] = inverse ? -z.imag() : z.imag();
      }
      in[j] = Packed(re, im);
    }
  }
  void scatter(Complex* y, Steps s, int64_t lines, int64_t n, bool inverse, T scale) {
    T turned = inverse ? -scale : scale;
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t i = 0; i < lines; ++i)
        y[k * s.element + i * s.line] = {out[k].real().v[i] * scale, out[k].imag().v[i] * turned};
    }
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
void LineTransform<T>::begin(int64_t n) {
  if (n > int64_t{1} << 28) value_error("fft: length {} is above {}", n, int64_t{1} << 28);
  Tables& t = *tables_;
  if (t.plans.size() + t.chirps.size() + t.turns.size() >= kLengths)
    tables_ = std::make_unique<Tables>();
}

template <typename T>
void LineTransform<T>::complex(const Complex* x, Steps from, Complex* y, Steps to, int64_t lines,
                               int64_t n, bool inverse, T scale) {
  begin(n);
  int64_t columns = n >= kLongLine ? divisor_near_root(n) : 1;
  if (columns >= kLeastColumns) {
    for (int64_t i = 0; i < lines; ++i)
      split(x + i * from.line, from.element, y + i * to.line, to.element, n, columns, inverse,
            scale);
    return;
  }
  tables_->gather(x, from, lines, n, inverse);
  tables_->run(n);
  tables_->scatter(y, to, lines, n, inverse, scale);
}

// With n = n1 n2, j = j1 n2 + j2 and k = k1 + k2 n1: n2 transforms over j1, a turn by j2 k1 / n,
// n1 transforms over j2.
template <typename T>
void LineTransform<T>::split(const Complex* x, int64_t from, Complex* y, int64_t to, int64_t n,
                             int64_t n1, bool inverse, T scale) {
  int64_t n2 = n / n1;
  std::vector<Complex>& turns = tables_->turns[n];
  if (turns.empty()) {
    turns.resize(n);
    for (int64_t j = 0; j < n; ++j) turns[j] = turn<T>(j, n);
  }
  std::vector<Complex> between(n);
  int64_t grain = std::max<int64_t>(1, 4096 / n1);
  parallel_for((n2 + kLanes - 1) / kLanes, grain, [&](int64_t begin, int64_t end) {
    Tables& t = *of_this_thread().tables_;
    for (int64_t g = begin; g < end; ++g) {
      int64_t first = g * kLanes, lines = std::min(kLanes, n2 - first);
      t.gather(x + first * from, {n2 * from, from}, lines, n1, inverse);
      t.run(n1);
      t.scatter(between.data() + first * n1, {1, n1}, lines, n1, false, T(1));
      for (int64_t j = first; j < first + lines; ++j) {
        Complex* row = between.data() + j * n1;
        for (int64_t k = 1; k < n1; ++k) row[k] = product(row[k], turns[j * k]);
      }
    }
  });
  parallel_for((n1 + kLanes - 1) / kLanes, grain, [&](int64_t begin, int64_t end) {
    Tables& t = *of_this_thread().tables_;
    for (int64_t g = begin; g < end; ++g) {
      int64_t first = g * kLanes, lines = std::min(kLanes, n1 - first);
      t.gather(between.data() + first, {n1, 1}, lines, n2, false);
      t.run(n2);
      t.scatter(y + first * to, {n1 * to, to}, lines, n2, inverse, scale);
    }
  });
}

// Two real lines are one complex line, z = a + i b, and of its spectrum a's is the part that is its
// own mirror image: (z[k] + conj z[n - k]) / 2.
template <typename T>
void LineTransform<T>::real(const T* x, Steps from, Complex* y, Steps to, int64_t lines, int64_t n,
                            T edge, T inner) {
  begin(n);
  int64_t pairs = (lines + 1) / 2;
  std::vector<Complex> z(pairs * n);
  for (int64_t i = 0; i < pairs; ++i) {
    const T *a = x + 2 * i * from.line, *b = 2 * i + 1 < lines ? a + from.line : nullptr;
    for (int64_t j = 0; j < n; ++j)
      z[i * n + j] = {a[j * from.element], b ? b[j * from.element] : T(0)};
  }
  complex(z.data(), {1, n}, z.data(), {1, n}, pairs, n, false, T(1));
  for (int64_t i = 0; i < pairs; ++i) {
    const Complex* s = z.data() + i * n;
    Complex *a = y + 2 * i * to.line, *b = 2 * i + 1 < lines ? a + to.line : nullptr;
    for (int64_t k = 0; k <= n / 2; ++k) {
      Complex p = s[k], q = std::conj(s[k ? n - k : 0]);
      T half = (k == 0 || 2 * k == n ? edge : inner) / 2;
      a[k * to.element] = {(p.real() + q.real()) * half, (p.imag() + q.imag()) * half};
      if (b) b[k * to.element] = {(p.imag() - q.imag()) * half, (q.real() - p.real()) * half};
    }
  }
}

template <typename T>
void LineTransform<T>::inverse_real(const Complex* x, Steps from, T* y, Steps to, int64_t lines,
                                    int64_t n, T edge, T inner) {
  begin(n);
  int64_t pairs = (lines + 1) / 2;
  std::vector<Complex> z(pairs * n);
  for (int64_t i = 0; i < pairs; ++i) {
    const Complex *a = x + 2 * i * from.line, *b = 2 * i + 1 < lines ? a + from.line : nullptr;
    Complex* s = z.data() + i * n;
    for (int64_t k = 0; k <= n / 2; ++k) {
      bool own = k == 0 || 2 * k == n;  // the imaginary part comes from no real line
      T weight = own ? edge : inner;
      Complex p = a[k * from.element] * weight, q = b ? b[k * from.element] * weight : Complex(0);
      if (own) p = p.real(), q = q.real();
      s[k] = {p.real() - q.imag(), p.imag() + q.real()};
      if (!own) s[n - k] = {p.real() + q.imag(), q.real() - p.imag()};
    }
  }
  complex(z.data(), {1, n}, z.data(), {1, n}, pairs, n, true, T(1));
  for (int64_t i = 0; i < pairs; ++i) {
    T *a = y + 2 * i * to.line, *b = 2 * i + 1 < lines ? a + to.line : nullptr;
    for (int64_t j = 0; j < n; ++j) {
      a[j * to.element] = z[i * n + j].real();
      if (b) b[j * to.element] = z[i * n + j].imag();
    }
  }
}

template class LineTransform<float>;
template class LineTransform<double>;

}  // namespace mycel::ops
