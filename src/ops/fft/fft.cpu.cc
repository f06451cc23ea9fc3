// Fourier transforms on the CPU: one axis after the other, groups of lines spread over threads.
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

// The lines along one axis: `in` values each are read, `out` written.
struct Lines {
  int64_t outer, in, out, inner;
};

Lines lines_of(const Shape& s, int axis, int64_t in, int64_t out) {
  return {s.size(0, axis), in, out, s.size(axis + 1, s.rank())};
}

// transform(x, from, y, to, lines) for groups of up to `most` lines: neighbours in memory where
// there are any, else one after the other.
template <typename X, typename Y, typename F>
void along(const Lines& l, const X* x, Y* y, int64_t most, F&& transform) {
  bool apart = l.inner < most;
  int64_t across = apart ? l.outer : l.inner, groups = (across + most - 1) / most;
  Steps from = apart ? Steps{l.inner, l.in * l.inner} : Steps{l.inner, 1};
  Steps to = apart ? Steps{l.inner, l.out * l.inner} : Steps{l.inner, 1};
  int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, l.in));
  parallel_for((apart ? l.inner : l.outer) * groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      int64_t block = g / groups, first = g % groups * most;
      int64_t lines = std::min(most, across - first);
      int64_t x_at = apart ? block + first * from.line : block * l.in * l.inner + first;
      int64_t y_at = apart ? block + first * to.line : block * l.out * l.inner + first;
      transform(x + x_at, from, y + y_at, to, lines);
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
  using Line = LineTransform<T>;
  int64_t n = s[axis];
  along(lines_of(s, axis, n, n), x, y, Line::kLanes,
        [&](const auto* from, Steps a, auto* to, Steps b, int64_t lines) {
          Line::of_this_thread().complex(from, a, to, b, lines, n, inverse, scale);
        });
}

template <typename F>
void with_real(DType d, F&& f) {
  if (real_part_of(d) == DType::kFloat64) return f(double{});
  f(float{});
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
      using Line = LineTransform<T>;
      along(lines_of(s, last, n, n / 2 + 1), static_cast<const T*>(b[0]), y, 2 * Line::kLanes,
            [&](const T* from, Steps a, std::complex<T>* to, Steps c, int64_t lines) {
              Line::of_this_thread().real(from, a, to, c, lines, n, static_cast<T>(scale),
                                          static_cast<T>(inner));
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
      using Line = LineTransform<T>;
      along(lines_of(s, axes.back(), n / 2 + 1, n), x, static_cast<T*>(b[1]), 2 * Line::kLanes,
            [&](const std::complex<T>* from, Steps a, T* to, Steps c, int64_t lines) {
              Line::of_this_thread().inverse_real(from, a, to, c, lines, n, static_cast<T>(scale),
                                                  static_cast<T>(inner));
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
