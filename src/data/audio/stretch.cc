// Time, pitch and rate: phase vocoder (J. Laroche, M. Dolson, 1999) and band-limited interpolation
// (J. O. Smith, Digital Audio Resampling, 2002).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "data/audio/audio.h"
#include "data/audio/spectrum.h"
#include "data/cast.h"

namespace mycel::data {
namespace {

using std::numbers::pi;

// A spectrum (freqs, frames) at another rate; advance: the phase that a hop adds to each frequency.
std::vector<Complex> stretched(const std::vector<Complex>& in, int64_t frames,
                               const std::vector<double>& advance, double rate, int64_t* made) {
  *made = static_cast<int64_t>(std::ceil(static_cast<double>(frames) / rate));
  const auto freqs = static_cast<int64_t>(advance.size());
  std::vector<Complex> out(static_cast<size_t>(freqs * *made));
  for (int64_t f = 0; f < freqs; ++f) {
    const auto at = [&](int64_t t) {
      return t < frames ? in[static_cast<size_t>(f * frames + t)] : Complex(0);
    };
    const double turn = advance[static_cast<size_t>(f)];
    double phase = std::arg(at(0));
    for (int64_t k = 0; k < *made; ++k) {
      const double place = static_cast<double>(k) * rate;
      const auto t = static_cast<int64_t>(place);
      const double part = place - static_cast<double>(t);
      const Complex a = at(t), b = at(t + 1);
      out[static_cast<size_t>(f * *made + k)] =
          std::polar((1 - part) * std::abs(a) + part * std::abs(b), phase);
      const double more = std::arg(b) - std::arg(a) - turn;
      phase += more - 2 * pi * std::nearbyint(more / (2 * pi)) + turn;
    }
  }
  return out;
}

std::vector<double> advance_of(int64_t freqs, int64_t hop) {
  std::vector<double> out(static_cast<size_t>(freqs));
  for (int64_t f = 0; f < freqs && freqs > 1; ++f)
    out[static_cast<size_t>(f)] =
        pi * static_cast<double>(hop * f) / static_cast<double>(freqs - 1);
  return out;
}

Value vocoder(const Value& v, const std::vector<double>& advance, double rate) {
  Spectra s = read_spectra(v);
  if (s.freqs != static_cast<int64_t>(advance.size()))
    value_error("expected {} frequencies, got {}", advance.size(), s.freqs);
  if (rate == 1) return to_value(s);
  int64_t made = 0;
  for (auto& one : s.each) one = stretched(one, s.frames, advance, rate, &made);
  s.frames = made;
  return to_value(s);
}

double positive_rate(const Options& o, std::string_view name) {
  const double rate = o.real(name);
  if (!(rate > 0)) o.fail(name, "must be positive, got {}", rate);
  return rate;
}

const TransformDef kPhaseVocoder{
    .name = "audio.PhaseVocoder",
    .doc =
        "Spectra at another rate, their pitch kept: (..., freq, time, 2) to (..., freq, ceil(time "
        "/ rate), 2). phase_advance (freq, 1): the phase that a hop adds to each frequency. "
        "ValueError: a rate that is not positive, another number of frequencies. Source: J. "
        "Laroche, M. Dolson, Improved phase vocoder, 1999.",
    .args = {"rate: number", "phase_advance: tensor"},
    .make = [](const Options& o) {
      const Tensor given = cast(o.tensor("phase_advance"), DType::kFloat64);
      if (given.rank() != 2 || given.dim(1) != 1)
        o.fail("phase_advance", "must be of shape (freq, 1), got {}", given.describe());
      const std::vector<double> advance(given.data<double>().begin(), given.data<double>().end());
      return each_value([advance, rate = positive_rate(o, "rate")](const Value& v) -> Value {
        return vocoder(v, advance, rate);
      });
    }};

const TransformDef kTimeStretch{
    .name = "audio.TimeStretch",
    .doc =
        "Spectra fixed_rate times as fast, their pitch kept: (..., n_freq, time, 2) to (..., "
        "n_freq, ceil(time / fixed_rate), 2); hop_length is n_freq - 1 when None, fixed_rate None "
        "changes nothing. ValueError: a rate that is not positive, another number of frequencies.",
    .args = {"hop_length: int? = None", "n_freq: int = 201", "fixed_rate: number? = None"},
    .make = [](const Options& o) {
      const int64_t freqs = o.positive("n_freq");
      const int64_t hop = o.none("hop_length") ? freqs - 1 : o.positive("hop_length");
      const double rate = o.none("fixed_rate") ? 1 : positive_rate(o, "fixed_rate");
      return each_value([advance = advance_of(freqs, hop), rate](const Value& v) -> Value {
        return vocoder(v, advance, rate);
      });
    }};

// Filters of a change from one rate to another: one for each of the samples that a period makes.
struct Resampler {
  struct Filter {
    int64_t first;  // sample of the period that it begins at; may lie in front of it
    std::vector<double> taps;
  };
  int64_t from, to;  // rates without their common divisor
  std::vector<Filter> filters;

  Resampler(int64_t orig, int64_t wanted, bool kaiser, int64_t zeros, double rolloff, double beta) {
    const int64_t divisor = std::gcd(orig, wanted);
    from = orig / divisor;
    to = wanted / divisor;
    if (from == to) return;
    const double base = static_cast<double>(std::min(from, to)) * rolloff;
    const auto z = static_cast<double>(zeros), rate = static_cast<double>(from);
    for (int64_t k = 0; k < to; ++k) {
      const double center = static_cast<double>(k) / static_cast<double>(to);
      Filter& filter = filters.emplace_back();
      filter.first = static_cast<int64_t>(std::ceil(rate * (center - z / base)));
      const auto last = static_cast<int64_t>(std::floor(rate * (center + z / base)));
      for (int64_t i = filter.first; i <= last; ++i) {
        const double t = std::clamp((static_cast<double>(i) / rate - center) * base, -z, z);
        const double window = kaiser
                                  ? std::cyl_bessel_i(0.0, beta * std::sqrt(1 - t / z * (t / z))) /
                                        std::cyl_bessel_i(0.0, beta)
                                  : std::pow(std::cos(t * pi / z / 2), 2);
        const double sinc = t == 0 ? 1 : std::sin(t * pi) / (t * pi);
        filter.taps.push_back(sinc * window * base / rate);
      }
    }
  }

  std::vector<double> run(const double* x, int64_t n) const {
    if (from == to) return {x, x + n};
    const int64_t size = (n * to + from - 1) / from;
    std::vector<double> out(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      const Filter& filter = filters[static_cast<size_t>(i % to)];
      const int64_t first = i / to * from + filter.first;
      const int64_t low = std::max<int64_t>(0, -first);
      const int64_t high = std::min(static_cast<int64_t>(filter.taps.size()), n - first);
      double y = 0;
      for (int64_t k = low; k < high; ++k) y += filter.taps[static_cast<size_t>(k)] * x[first + k];
      out[static_cast<size_t>(i)] = y;
    }
    return out;
  }
};

constexpr double kKaiserBeta = 14.769656459379492;

const TransformDef kResample{
    .name = "audio.Resample",
    .doc =
        "Samples at new_freq of a signal at orig_freq: (..., time) to (..., ceil(time new_freq / "
        "orig_freq)), by sinc interpolation under a window of cos^2 or Kaiser's (beta), "
        "lowpass_filter_width zeros long, cut off at rolloff of the lower half rate. ValueError: "
        "rates or widths that are not positive, a rolloff outside (0, 1].",
    .args = {"orig_freq: number = 16000", "new_freq: number = 16000",
             "resample_method: ResampleMethod = SINC_INTERPOLATION",
             "lowpass_filter_width: int = 6", "rolloff: number = 0.99", "beta: number? = None"},
    .make = [](const Options& o) {
      for (const char* name : {"orig_freq", "new_freq"}) {
        if (o.real(name) < 1) o.fail(name, "must be 1 or more, got {}", o.real(name));
      }
      const double rolloff = o.real("rolloff");
      if (!(rolloff > 0 && rolloff <= 1)) o.fail("rolloff", "must be in (0, 1], got {}", rolloff);
      const Resampler r(
          static_cast<int64_t>(o.real("orig_freq")), static_cast<int64_t>(o.real("new_freq")),
          o.choice("resample_method") == "KAISER_WINDOW", o.positive("lowpass_filter_width"),
          rolloff, o.none("beta") ? kKaiserBeta : o.real("beta"));
      return each_signal([r](const Signal& s) {
        Signal out;
        out.dtype = s.dtype;
        out.shape = s.shape;
        for (int64_t k = 0; k < s.rows(); ++k) {
          const std::vector<double> x = r.run(s.row(k), s.width());
          out.x.insert(out.x.end(), x.begin(), x.end());
        }
        out.shape.set(-1, static_cast<int64_t>(out.x.size()) / s.rows());
        return out;
      });
    }};

const TransformDef kPitchShift{
    .name = "audio.PitchShift",
    .doc =
        "A signal n_steps of an octave's bins_per_octave higher, its length kept: the spectrum is "
        "stretched, and the longer or shorter signal resampled. (..., time). hop_length is a "
        "quarter of win_length when None. ValueError: a window longer than n_fft, a rate that is "
        "too low, bins_per_octave 0.",
    .args = {"sample_rate: int", "n_steps: int", "bins_per_octave: int = 12", "n_fft: int = 512",
             "win_length: int? = None", "hop_length: int? = None", "window: WindowType = HANN"},
    .make = [](const Options& o) {
      const int64_t sample_rate = o.positive("sample_rate"), bins = o.integer("bins_per_octave");
      if (bins == 0) o.fail("bins_per_octave", "must not be 0");
      const Frames f = frames_of(o, "window", true);
      const double rate =
          std::pow(2, -static_cast<double>(o.integer("n_steps")) / static_cast<double>(bins));
      const auto slower = static_cast<int64_t>(static_cast<double>(sample_rate) / rate);
      if (slower < 1) o.fail("n_steps", "takes a rate of {} Hz below 1", sample_rate);
      const Resampler back(slower, sample_rate, false, 6, 0.99, kKaiserBeta);
      const std::vector<double> advance = advance_of(f.freqs(), f.hop);
      return each_row([=](double* x, int64_t n) {
        int64_t frames = 0, made = 0;
        const std::vector<Complex> spectrum = stft(x, n, f, &frames);
        const std::vector<Complex> longer = stretched(spectrum, frames, advance, rate, &made);
        const auto length = static_cast<int64_t>(std::nearbyint(static_cast<double>(n) / rate));
        const std::vector<double> signal = istft(longer, made, f, length);
        std::vector<double> out = back.run(signal.data(), length);
        out.resize(static_cast<size_t>(n), 0.0);
        std::copy(out.begin(), out.end(), x);
      });
    }};

}  // namespace

TransformDefs stretch_transforms() {
  return {&kPhaseVocoder, &kTimeStretch, &kResample, &kPitchShift};
}

}  // namespace mycel::data
