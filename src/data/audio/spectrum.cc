#include "data/audio/spectrum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <unsupported/Eigen/FFT>

#include "base/error.h"
#include "data/audio/border.h"
#include "data/audio/fft.h"

namespace mycel::data {

using std::numbers::pi;

std::vector<double> window_of(const std::string& name, int64_t n) {
  std::vector<double> w(static_cast<size_t>(n), 1.0);
  if (n == 1) return w;
  for (int64_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(n), angle = 2 * pi * t;
    double& y = w[static_cast<size_t>(i)];
    if (name == "HANN") y = 0.5 - 0.5 * std::cos(angle);
    if (name == "HAMMING") y = 0.54 - 0.46 * std::cos(angle);
    if (name == "BLACKMAN") y = 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
    if (name == "BARTLETT") y = 1 - std::abs(2 * t - 1);
    if (name == "KAISER") {
      const double place = 2 * t - 1;
      y = std::cyl_bessel_i(0.0, 12 * std::sqrt(1 - place * place)) / std::cyl_bessel_i(0.0, 12.0);
    }
  }
  return w;
}

Frames frames_of(const Options& o, std::string_view window_name, bool quarter) {
  Frames f;
  f.n_fft = o.positive("n_fft");
  const int64_t length = o.none("win_length") ? f.n_fft : o.positive("win_length");
  if (length > f.n_fft)
    o.fail("win_length", "must not be above n_fft, got {} and {}", length, f.n_fft);
  f.hop = o.none("hop_length") ? std::max<int64_t>(1, length / (quarter ? 4 : 2))
                               : o.positive("hop_length");
  const std::vector<double> w = window_of(o.choice(window_name), length);
  f.window.assign(static_cast<size_t>(f.n_fft), 0.0);
  std::copy(w.begin(), w.end(), f.window.begin() + (f.n_fft - length) / 2);
  double squares = 0;
  for (const double y : w) squares += y * y;
  f.scale = std::sqrt(squares);
  return f;
}

std::vector<Complex> rfft(const std::vector<double>& x) {
  Eigen::FFT<double> fft;
  fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  std::vector<Complex> out;
  fft.fwd(out, x);
  return out;
}

namespace {

// The spectra of the frames of a row, sixteen at a time: `put` gets the first frame's number, how
// many there are, and the numbers of frame t at frequency k at [k * FrameTransform::kFrames + t].
// Gives how many frames there are.
template <typename Sizes, typename Put>
int64_t each_frame(const double* x, int64_t n, const Frames& f, Sizes&& sizes, Put&& put) {
  constexpr int64_t kMany = FrameTransform::kFrames;
  Samples quiet, around;
  if (f.pad) {
    quiet = padded(x, n, f.pad, f.pad, "CONSTANT");
    x = quiet.data(), n = static_cast<int64_t>(quiet.size());
  }
  if (f.center) {
    around = padded(x, n, f.n_fft / 2, f.n_fft / 2, f.border);
    x = around.data(), n = static_cast<int64_t>(around.size());
  }
  if (n < f.n_fft) value_error("{} samples are fewer than the {} of a frame", n, f.n_fft);
  const int64_t frames = (n - f.n_fft) / f.hop + 1;
  sizes(frames);
  FrameTransform transform(f.n_fft);
  const auto half = static_cast<size_t>((f.n_fft / 2 + 1) * kMany);
  Samples block(static_cast<size_t>(f.n_fft * kMany)), real(half), imag(half);
  const double scale = f.normalized ? 1 / f.scale : 1;
  for (int64_t first = 0; first < frames; first += kMany) {
    const int64_t count = std::min(kMany, frames - first);
    for (int64_t i = 0; i < f.n_fft; ++i) {
      const double w = f.window[static_cast<size_t>(i)];
      const double* from = x + first * f.hop + i;
      double* to = &block[static_cast<size_t>(i * kMany)];
      for (int64_t t = 0; t < count; ++t) to[t] = from[t * f.hop] * w * scale;
    }
    transform.run(block.data(), real.data(), imag.data());
    for (int64_t k = 0; k < f.freqs(); ++k) {
      const bool upper = k > f.n_fft / 2;  // the conjugate of its mirror image
      const int64_t at = (upper ? f.n_fft - k : k) * kMany;
      put(k, first, count, &real[static_cast<size_t>(at)], &imag[static_cast<size_t>(at)],
          upper ? -1.0 : 1.0);
    }
  }
  return frames;
}

}  // namespace

std::vector<Complex> stft(const double* x, int64_t n, const Frames& f, int64_t* frames) {
  std::vector<Complex> out;
  const auto sizes = [&](int64_t all) {
    out.resize(static_cast<size_t>(f.freqs() * (*frames = all)));
  };
  each_frame(
      x, n, f, sizes,
      [&](int64_t k, int64_t t, int64_t count, const double* re, const double* im, double sign) {
        Complex* to = &out[static_cast<size_t>(k * *frames + t)];
        for (int64_t i = 0; i < count; ++i) to[i] = {re[i], sign * im[i]};
      });
  return out;
}

std::vector<double> istft(const std::vector<Complex>& spectrum, int64_t frames, const Frames& f,
                          int64_t length) {
  const int64_t size = f.n_fft + f.hop * (frames - 1), half = f.n_fft / 2;
  std::vector<double> sum(static_cast<size_t>(size), 0.0), weights(sum);
  Eigen::FFT<double> fft;
  fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  std::vector<Complex> column(static_cast<size_t>(half + 1));
  std::vector<double> frame;
  for (int64_t t = 0; t < frames; ++t) {
    for (int64_t k = 0; k <= half; ++k)
      column[static_cast<size_t>(k)] = spectrum[static_cast<size_t>(k * frames + t)];
    // The first number and the middle one are of real signals: their imaginary parts do not count.
    column[0] = column[0].real();
    if (f.n_fft % 2 == 0)
      column[static_cast<size_t>(half)] = column[static_cast<size_t>(half)].real();
    fft.inv(frame, column, f.n_fft);
    for (int64_t i = 0; i < f.n_fft; ++i) {
      const double w = f.window[static_cast<size_t>(i)];
      sum[static_cast<size_t>(t * f.hop + i)] += frame[static_cast<size_t>(i)] * w;
      weights[static_cast<size_t>(t * f.hop + i)] += w * w;
    }
  }
  const int64_t start = f.center ? half : 0;
  const int64_t natural = size - 2 * start;
  std::vector<double> out(
      static_cast<size_t>(length >= 0 ? length : std::max<int64_t>(0, natural)));
  const double scale = f.normalized ? f.scale : 1;
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()) && start + i < size; ++i) {
    const double w = weights[static_cast<size_t>(start + i)];
    if (w > 1e-11) out[static_cast<size_t>(i)] = sum[static_cast<size_t>(start + i)] / w * scale;
  }
  return out;
}

Signal spectrogram(const Signal& s, const Frames& f, double power) {
  Signal out;
  out.dtype = s.dtype;
  int64_t frames = 0;
  const int64_t parts = power == 0 ? 2 : 1;
  for (int64_t r = 0; r < s.rows(); ++r) {
    size_t start = 0;
    const auto sizes = [&](int64_t all) {
      start = out.x.size();
      frames = all;
      if (r == 0) out.x.reserve(static_cast<size_t>(s.rows() * parts * f.freqs() * frames));
      out.x.resize(start + static_cast<size_t>(parts * f.freqs() * frames));
    };
    each_frame(
        s.row(r), s.width(), f, sizes,
        [&](int64_t k, int64_t t, int64_t count, const double* re, const double* im, double sign) {
          double* to = &out.x[start + static_cast<size_t>(parts * (k * frames + t))];
          for (int64_t i = 0; i < count; ++i) {
            const double square = re[i] * re[i] + im[i] * im[i];
            if (power == 2) {
              to[i] = square;
            } else if (power == 0) {
              to[2 * i] = re[i];
              to[2 * i + 1] = sign * im[i];
            } else {
              to[i] = power == 1 ? std::sqrt(square) : std::pow(std::sqrt(square), power);
            }
          }
        });
  }
  out.shape = s.shape;
  out.shape.set(-1, f.freqs());
  out.shape.push_back(frames);
  if (power == 0) out.shape.push_back(2);
  return out;
}

Spectra read_spectra(const Value& v) {
  const Signal s = read_signal(v, 3);
  if (s.width() != 2)
    value_error("expected complex spectra (..., freq, time, 2), got {}", v.describe());
  Spectra out;
  out.dtype = s.dtype;
  out.freqs = s.shape[-3];
  out.frames = s.shape[-2];
  for (int d = 0; d < s.shape.rank() - 3; ++d) out.outer.push_back(s.shape[d]);
  const auto size = static_cast<size_t>(out.freqs * out.frames);
  for (size_t from = 0; from < s.x.size(); from += 2 * size) {
    auto& one = out.each.emplace_back(size);
    for (size_t i = 0; i < size; ++i) one[i] = {s.x[from + 2 * i], s.x[from + 2 * i + 1]};
  }
  return out;
}

Value to_value(const Spectra& s) {
  Signal out;
  out.dtype = s.dtype;
  out.shape = s.outer;
  for (const int64_t d : {s.freqs, s.frames, int64_t{2}}) out.shape.push_back(d);
  for (const auto& one : s.each) {
    for (const Complex& c : one) {
      out.x.push_back(c.real());
      out.x.push_back(c.imag());
    }
  }
  return to_value(out);
}

}  // namespace mycel::data
