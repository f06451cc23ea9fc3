// Short-time Fourier transforms and their inverses.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "data/audio/signal.h"

namespace mycel::data {

using Complex = std::complex<double>;

// What a spectrogram is made with; `scale` is what normalized ones are divided by.
struct Frames {
  int64_t n_fft = 400, hop = 200, pad = 0;
  bool normalized = false, center = true, onesided = true;
  std::string border = "REFLECT";
  std::vector<double> window;  // n_fft long, zeros around a shorter one
  double scale = 1;

  int64_t freqs() const { return onesided ? n_fft / 2 + 1 : n_fft; }
};

// Of the arguments n_fft, win_length, hop_length, and window (or `window_name`). ValueError: a
// window longer than n_fft, lengths that are not positive. `quarter`: the hop is a quarter of the
// window unless given, else half of it.
Frames frames_of(const Options& o, std::string_view window_name = "window", bool quarter = false);
// By a member of the choice WindowType, periodic.
std::vector<double> window_of(const std::string& name, int64_t n);

// (freq, time) of a row, with its number of frames. ValueError: a row shorter than a frame.
std::vector<Complex> stft(const double* x, int64_t n, const Frames& f, int64_t* frames);
// The row that a spectrum (freq, frames) is of; length -1: as many samples as the frames have.
std::vector<double> istft(const std::vector<Complex>& spectrum, int64_t frames, const Frames& f,
                          int64_t length);
// Of n real numbers: the first n / 2 + 1 numbers of their transform.
std::vector<Complex> rfft(const std::vector<double>& x);

// Rows to spectrograms (..., freq, time) of |X|^power, or to complex numbers (..., freq, time, 2)
// when power is 0.
Signal spectrogram(const Signal& s, const Frames& f, double power);
// Spectra (..., freq, time, 2) as complex numbers, each with its frames. ValueError for another
// shape.
struct Spectra {
  std::vector<std::vector<Complex>> each;
  int64_t freqs = 0, frames = 0;
  Shape outer;  // dims in front of freq
  DType dtype = DType::kFloat32;
};
Spectra read_spectra(const Value& v);
Value to_value(const Spectra& s);

}  // namespace mycel::data
