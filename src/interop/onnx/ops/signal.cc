// Fourier transforms and the windows and scales around them. ONNX keeps a complex number as two
// reals in a last dim.
#include <cmath>
#include <numbers>

#include "interop/onnx/ops/build.h"

namespace mycel::interop::onnx {
namespace {

Tensor last(const Tensor& x, int64_t k) {
  return ops::squeeze(ops::narrow(x, -1, k, 1), ir::Attr(Ints{-1}));
}
Tensor to_complex(const Tensor& x) {
  Tensor wide = widened(x);
  Tensor re = last(wide, 0);
  return ops::complex(re,
                      x.dim(x.rank() - 1) == 2 ? last(wide, 1) : ops::mul(re, number_like(0, re)));
}
Tensor to_pairs(const Tensor& z, DType d) {
  return as(ops::stack(Tensors{ops::real(z), ops::imag(z)}, -1), d);
}

Values dft(Call& c) {
  Tensor x = c.x(0);
  bool inverse = c.flag("inverse", false), half = c.flag("onesided", false);
  int64_t given = c.opset < 20 ? c.integer("axis", 1) : c.has(2) ? c.known_ints(2).at(0) : -2;
  int axis = axis_of(c, given, x.rank());
  if (axis == x.rank() - 1) c.fail("axis {} holds the parts of the numbers", given);
  int64_t here = c.dims(x)[static_cast<size_t>(axis)];
  int64_t n = c.has(1) ? c.known_ints(1).at(0) : half && inverse ? 2 * (here - 1) : here;
  if (half && inverse) {
    Tensor y = ops::irfft(to_complex(x), ir::Attr(n), axis);
    return one(as(ops::expand_dims(y, -1), x.dtype()));
  }
  Tensor z = to_complex(x);
  z = inverse ? ops::ifft(z, ir::Attr(n), axis) : ops::fft(z, ir::Attr(n), axis);
  if (half) z = ops::narrow(z, axis, 0, n / 2 + 1);
  return one(to_pairs(z, x.dtype()));
}

Values stft(Call& c) {
  Tensor x = c.x(0), window = c.x_or(2);
  int64_t step = c.known_ints(1).at(0);
  int64_t n = c.has(3) ? c.known_ints(3).at(0) : window ? window.dim(0) : 0;
  Dims dims = c.dims(x);
  if (dims.size() != 3 || n < 1 || step < 1 || n > dims[1])
    c.fail("frames of {} every {} of {}", n, step, x.shape().str());
  int64_t frames = (dims[1] - n) / step + 1;
  Ints at;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < n; ++i) at.push_back(f * step + i);
  }
  Tensor parts = ops::reshape(ops::gather(x, ints_tensor(at), 1), {dims[0], frames, n, dims[2]});
  if (window) parts = ops::mul(parts, ops::reshape(window, {-1, 1}));
  Tensor z = ops::fft(to_complex(parts), ir::Attr(n), 2);
  if (c.flag("onesided", true)) z = ops::narrow(z, 2, 0, n / 2 + 1);
  return one(to_pairs(z, x.dtype()));
}

Values window(Call& c, double a0, double a1, double a2) {
  int64_t n = c.known_ints(0).at(0);
  double period = static_cast<double>(c.flag("periodic", true) ? n : n - 1);
  DType d = dtype_of_code(c.integer("output_datatype", 1), c.title());
  Tensor out = Tensor::empty(d, Shape{n});
  for (int64_t i = 0; i < n; ++i) {
    double t = 2 * std::numbers::pi * static_cast<double>(i) / period;
    set_element(out.mutable_raw(), d, i, a0 - a1 * std::cos(t) + a2 * std::cos(2 * t));
  }
  return one(out);
}
Values hann(Call& c) { return window(c, 0.5, 0.5, 0); }
Values hamming(Call& c) { return window(c, 25.0 / 46, 1 - 25.0 / 46, 0); }
Values blackman(Call& c) { return window(c, 0.42, 0.5, 0.08); }

Values mel_weights(Call& c) {
  int64_t bins = c.known_ints(0).at(0), length = c.known_ints(1).at(0),
          rate = c.known_ints(2).at(0);
  auto mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  double low = mel(c.known_reals(3).at(0)), high = mel(c.known_reals(4).at(0));
  Ints edge;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double m = low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2);
    double hz = 700 * (std::pow(10, m / 2595) - 1);
    edge.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(length + 1) * hz / static_cast<double>(rate))));
  }
  DType d = dtype_of_code(c.integer("output_datatype", 1), c.title());
  Tensor out = Tensor::zeros(d, Shape{length / 2 + 1, bins});
  auto set = [&](int64_t row, int64_t bin, double v) {
    if (row >= 0 && row <= length / 2) set_element(out.mutable_raw(), d, row * bins + bin, v);
  };
  for (int64_t b = 0; b < bins; ++b) {
    int64_t from = edge[static_cast<size_t>(b)], top = edge[static_cast<size_t>(b) + 1],
            to = edge[static_cast<size_t>(b) + 2];
    if (top == from) set(top, b, 1);
    for (int64_t j = from; top > from && j <= top; ++j)
      set(j, b, static_cast<double>(j - from) / static_cast<double>(top - from));
    for (int64_t j = top; j < to; ++j)
      set(j, b, static_cast<double>(to - j) / static_cast<double>(to - top));
  }
  return one(out);
}

constexpr Record kRecords[] = {
    {"DFT", dft, "1 2"},
    {"STFT", stft, "1 3"},
    {"HannWindow", hann, "0"},
    {"HammingWindow", hamming, "0"},
    {"BlackmanWindow", blackman, "0"},
    {"MelWeightMatrix", mel_weights, "0 1 2 3 4"},
};

}  // namespace

Records signal_records() { return kRecords; }

}  // namespace mycel::interop::onnx
