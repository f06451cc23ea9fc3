// Stockham's form of the mixed-radix transform (D. Korn, J. Lambiotte, "Computing the fast Fourier
// transform on a vector computer", 1979): results come in order, without permuting. Two real frames
// travel as one complex number.
#include "data/audio/fft.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "data/each_cpu.h"

#define MYCEL_INLINE __attribute__((always_inline)) inline

namespace mycel::data {
namespace {

constexpr int64_t kLanes = FrameTransform::kFrames / 2;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double)), aligned(8)));
struct Number {
  Lanes re, im;
};

MYCEL_INLINE void add(const Number& a, const Number& b, Number* out) {
  *out = {a.re + b.re, a.im + b.im};
}
MYCEL_INLINE void subtract(const Number& a, const Number& b, Number* out) {
  *out = {a.re - b.re, a.im - b.im};
}
MYCEL_INLINE void times(const Number& a, const double* w, Number* out) {
  *out = {a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0]};
}

// The transform of a few numbers in[0], in[step], … : frequency j, times the factor w[j] (of j = 0
// it is 1), goes to out[j * apart].
MYCEL_INLINE void two(const Number* in, int64_t step, const double* w, Number* out, int64_t apart) {
  Number d;
  subtract(in[0], in[step], &d);
  add(in[0], in[step], &out[0]);
  times(d, w + 2, &out[apart]);
}
MYCEL_INLINE void four(const Number* in, int64_t step, const double* w, Number* out,
                       int64_t apart) {
  Number sum, other, difference, turned, r;
  add(in[0], in[2 * step], &sum);
  add(in[step], in[3 * step], &other);
  subtract(in[0], in[2 * step], &difference);
  subtract(in[step], in[3 * step], &turned);  // to be multiplied by -i
  add(sum, other, &out[0]);
  r = {difference.re + turned.im, difference.im - turned.re};
  times(r, w + 2, &out[apart]);
  subtract(sum, other, &r);
  times(r, w + 4, &out[2 * apart]);
  r = {difference.re - turned.im, difference.im + turned.re};
  times(r, w + 6, &out[3 * apart]);
}
// Any odd number of points: those that mirror each other share their products. `roots`: of one.
MYCEL_INLINE void odd(int64_t radix, const Number* in, int64_t step, const double* roots,
                      const double* w, Number* out, int64_t apart) {
  Number zero = in[0];
  for (int64_t k = 1; k < radix; ++k) add(zero, in[k * step], &zero);
  for (int64_t j = 1; j <= radix / 2; ++j) {
    Number even = in[0];
    Lanes re{}, im{};
    for (int64_t k = 1; k <= radix / 2; ++k) {
      const Number &a = in[k * step], &b = in[(radix - k) * step];
      const double *root = roots + 2 * (j * k % radix), c = root[0], s = root[1];
      even.re += (a.re + b.re) * c;
      even.im += (a.im + b.im) * c;
      re += (a.re - b.re) * s;
      im += (a.im - b.im) * s;
    }
    const Number low = {even.re - im, even.im + re}, high = {even.re + im, even.im - re};
    times(low, w + 2 * j, &out[j * apart]);
    times(high, w + 2 * (radix - j), &out[(radix - j) * apart]);
  }
  out[0] = zero;
}

MYCEL_FOR_EACH_CPU
void stage(int64_t radix, int64_t points, int64_t stride, const double* factors, const Number* x,
           Number* y) {
  const int64_t m = points / radix;
  const double *roots = factors, *w = factors + 2 * radix;
  for (int64_t p = 0; p < m; ++p, w += 2 * radix) {
    const Number* in = x + stride * p;
    Number* out = y + stride * radix * p;
    if (radix == 4) {
      for (int64_t q = 0; q < stride; ++q) four(in + q, stride * m, w, out + q, stride);
    } else if (radix == 2) {
      for (int64_t q = 0; q < stride; ++q) two(in + q, stride * m, w, out + q, stride);
    } else if (radix == 3) {
      for (int64_t q = 0; q < stride; ++q) odd(3, in + q, stride * m, roots, w, out + q, stride);
    } else if (radix == 5) {
      for (int64_t q = 0; q < stride; ++q) odd(5, in + q, stride * m, roots, w, out + q, stride);
    } else {
      for (int64_t q = 0; q < stride; ++q)
        odd(radix, in + q, stride * m, roots, w, out + q, stride);
    }
  }
}

// Two real frames a + i b: what is even about frequency 0 belongs to a, what is odd to b.
MYCEL_FOR_EACH_CPU
void separate(const Number* z, int64_t n, double* real, double* imag) {
  for (int64_t k = 0; k <= n / 2; ++k) {
    const Number &a = z[k], &b = z[k == 0 ? 0 : n - k];
    auto* re = reinterpret_cast<Lanes*>(real + k * FrameTransform::kFrames);
    auto* im = reinterpret_cast<Lanes*>(imag + k * FrameTransform::kFrames);
    re[0] = (a.re + b.re) * 0.5;
    im[0] = (a.im - b.im) * 0.5;
    re[1] = (a.im + b.im) * 0.5;
    im[1] = (b.re - a.re) * 0.5;
  }
}

}  // namespace

FrameTransform::FrameTransform(int64_t n) : n_(n), space_(static_cast<size_t>(2 * n * kFrames)) {
  const auto factor = [&](int64_t k, int64_t of) {
    const double angle =
        -2 * std::numbers::pi * static_cast<double>(k % of) / static_cast<double>(of);
    factors_.push_back(std::cos(angle));
    factors_.push_back(std::sin(angle));
  };
  int64_t stride = 1;
  for (int64_t left = n; left > 1;) {
    int64_t radix = 4;
    if (left % 4 != 0) {
      radix = 2;
      while (left % radix != 0) radix = radix * radix > left ? left : radix + 1;
    }
    stages_.push_back({radix, left, stride, factors_.size()});
    for (int64_t j = 0; j < radix; ++j) factor(j, radix);
    for (int64_t p = 0; p < left / radix; ++p)
      for (int64_t j = 0; j < radix; ++j) factor(p * j, left);
    left /= radix;
    stride *= radix;
  }
}

void FrameTransform::run(const double* in, double* real, double* imag) {
  auto* x = reinterpret_cast<Number*>(space_.data());
  Number* y = x + n_;
  const auto* from = reinterpret_cast<const Number*>(in);
  for (const Stage& s : stages_) {
    stage(s.radix, s.points, s.stride, &factors_[s.twiddles], from, x);
    from = x;
    std::swap(x, y);
  }
  separate(from, n_, real, imag);
}

}  // namespace mycel::data
