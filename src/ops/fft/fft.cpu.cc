// Fourier transforms on the CPU: one axis after the other, lines spread over threads. Lines that
// do not lie in one piece are gathered a few neighbours at a time, so that memory is read in runs.
#include <algorithm>
#include <complex>
#include <vector>

#include "backend/cpu/function_kernel.h"
#include "base/threads.h"
#include "ops/fft/line_transform.cpu.h"

namespace mycel::ops {
namespace {

using cpu::KernelDef;
using cpu::Prepared;
using cpu::Problem;

constexpr int64_t kNeighbours = 8;

// The lines along one axis: `in` values each are read, `out` written.
struct Lines {
  int64_t outer, in, out, inner;
};

Lines lines_of(const Shape& s, int axis, int64_t in, int64_t out) {
  return {s.size(0, axis), in, out, s.size(axis + 1, s.rank())};
}

// y = transform(x) for each line; transform(from, to) works on a gathered line.
template <typename X, typename Y, typename F>
void along(const Lines& l, const X* x, Y* y, F&& transform) {
  int64_t groups = (l.inner + kNeighbours - 1) / kNeighbours;
  int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, l.in));
  parallel_for(l.outer * groups, grain, [&](int64_t begin, int64_t end) {
    std::vector<X> from(l.in * kNeighbours);
    std::vector<Y> to(l.out);
    for (int64_t g = begin; g < end; ++g) {
      int64_t o = g / groups, first = g % groups * kNeighbours;
      int64_t many = std::min(kNeighbours, l.inner - first);
      const X* source = x + o * l.in * l.inner + first;
      Y* target = y + o * l.out * l.inner + first;
      for (int64_t j = 0; j < l.in; ++j) {
        for (int64_t i = 0; i < many; ++i) from[i * l.in + j] = source[j * l.inner + i];
      }
      for (int64_t i = 0; i < many; ++i) {
        transform(from.data() + i * l.in, to.data());
        for (int64_t j = 0; j < l.out; ++j) target[j * l.inner + i] = to[j];
      }
    }
  });
}

std::vector<int> axes_of(const Problem& p) {
  std::vector<int> axes;
  int rank = p.in[0]->shape.rank();
  for (int64_t a : p.view().ints("axes")) axes.push_back(static_cast<int>(a < 0 ? a + rank : a));
  return axes;
}

template <typename T>
void complex_axis(const Shape& s, int axis, bool inverse, T scale, const std::complex<T>* x,
                  std::complex<T>* y) {
  int64_t n = s[axis];
  along(lines_of(s, axis, n, n), x, y, [&](const auto* from, auto* to) {
    LineTransform<T>::of_this_thread().complex(from, to, n, inverse);
    if (scale == T(1)) return;
    for (int64_t k = 0; k < n; ++k) to[k] *= scale;
  });
}

template <typename F>
void with_real(DType d, F&& f) {
  if (real_part_of(d) == DType::kFloat64) return f(double{});
  f(float{});
}

// The first values of half a spectrum are their own mirror images, and of an even length the last.
template <typename T, typename V>
void weigh(V* half, int64_t n, T edge, T inner) {
  for (int64_t k = 0; k <= n / 2; ++k) half[k] *= k == 0 || 2 * k == n ? edge : inner;
}

std::unique_ptr<Prepared> dft(const Problem& p) {
  Shape s = p.in[0]->shape;
  auto attrs = p.view();
  bool inverse = attrs.boolean("inverse");
  double scale = attrs.real("scale");
  return cpu::prepared_by("kissfft", [=, axes = axes_of(p), d = p.in[0]->dtype](void* const* b) {
    with_real(d, [&](auto t) {
      using T = decltype(t);
      auto* x = static_cast<const std::complex<T>*>(b[0]);
      auto* y = static_cast<std::complex<T>*>(b[1]);
      for (size_t i = 0; i < axes.size(); ++i) {
        T now = i + 1 == axes.size() ? static_cast<T>(scale) : T(1);
        complex_axis(s, axes[i], inverse, now, i ? y : x, y);
      }
    });
  });
}

std::unique_ptr<Prepared> real_dft(const Problem& p) {
  Shape s = p.in[0]->shape, out = p.out[0].shape;
  auto attrs = p.view();
  double scale = attrs.real("scale"), inner = attrs.real("inner") * scale;
  return cpu::prepared_by("kissfft", [=, axes = axes_of(p), d = p.in[0]->dtype](void* const* b) {
    with_real(d, [&](auto t) {
      using T = decltype(t);
      int last = axes.back();
      int64_t n = s[last];
      auto* y = static_cast<std::complex<T>*>(b[1]);
      along(lines_of(s, last, n, n / 2 + 1), static_cast<const T*>(b[0]), y,
            [&](const T* from, std::complex<T>* to) {
              LineTransform<T>::of_this_thread().real(from, to, n);
              weigh(to, n, static_cast<T>(scale), static_cast<T>(inner));
            });
      for (size_t i = 0; i + 1 < axes.size(); ++i) complex_axis(out, axes[i], false, T(1), y, y);
    });
  });
}

std::unique_ptr<Prepared> inverse_real_dft(const Problem& p) {
  Shape s = p.in[0]->shape;
  auto attrs = p.view();
  int64_t n = attrs.integer("n");
  double scale = attrs.real("scale"), inner = attrs.real("inner") * scale;
  return cpu::prepared_by("kissfft", [=, axes = axes_of(p), d = p.in[0]->dtype](void* const* b) {
    with_real(d, [&](auto t) {
      using T = decltype(t);
      auto* x = static_cast<const std::complex<T>*>(b[0]);
      std::vector<std::complex<T>> between(axes.size() > 1 ? s.size() : 0);
      for (size_t i = 0; i + 1 < axes.size(); ++i) {
        complex_axis(s, axes[i], true, T(1), x, between.data());
        x = between.data();
      }
      along(lines_of(s, axes.back(), n / 2 + 1, n), x, static_cast<T*>(b[1]),
            [&](const std::complex<T>* from, T* to) {
              std::vector<std::complex<T>> half(from, from + n / 2 + 1);
              weigh(half.data(), n, static_cast<T>(scale), static_cast<T>(inner));
              LineTransform<T>::of_this_thread().inverse_real(half.data(), to, n);
            });
    });
  });
}

constexpr KernelDef kKernels[] = {
    {"dft", "kissfft", nullptr, dft},
    {"real_dft", "kissfft", nullptr, real_dft},
    {"inverse_real_dft", "kissfft", nullptr, inverse_real_dft},
};

}  // namespace

void register_fft_kernels() { cpu::register_kernels(kKernels); }

}  // namespace mycel::ops
