// Spectrograms, mel spectrograms, cepstra, and their inverses.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "data/audio/audio.h"
#include "data/audio/features.h"
#include "data/audio/filterbanks.h"
#include "data/audio/spectrum.h"

namespace mycel::data {
namespace {

double not_negative(const Options& o, std::string_view name) {
  const double x = o.real(name);
  if (x < 0) o.fail(name, "must not be negative, got {}", x);
  return x;
}

Frames spectrogram_frames(const Options& o) {
  Frames f = frames_of(o);
  f.pad = static_cast<int64_t>(not_negative(o, "pad"));
  f.normalized = o.boolean("normalized");
  f.center = o.boolean("center");
  f.onesided = o.boolean("onesided");
  f.border = o.choice("pad_mode");
  return f;
}

const TransformDef kSpectrogram{
    .name = "audio.Spectrogram",
    .doc =
        "|X|^power of the short-time Fourier transform: (..., time) to (..., freq, frames), freq "
        "n_fft / 2 + 1 (n_fft when not onesided); power 0 gives the complex numbers, (..., freq, "
        "frames, 2). win_length is n_fft, hop_length half of it, when None; pad zeros on both "
        "sides; center puts frame t around sample t hop_length; normalized divides by the norm of "
        "the window. ValueError: a window longer than n_fft, a negative power or pad, rows shorter "
        "than a frame.",
    .args = {"n_fft: int = 400", "win_length: int? = None", "hop_length: int? = None",
             "pad: int = 0", "window: WindowType = HANN", "power: number = 2.0",
             "normalized: bool = False", "center: bool = True", "pad_mode: BorderType = REFLECT",
             "onesided: bool = True"},
    .make = [](const Options& o) {
      return each_signal([f = spectrogram_frames(o), power = not_negative(o, "power")](Signal s) {
        return spectrogram(s, f, power);
      });
    }};

const TransformDef kInverseSpectrogram{
    .name = "audio.InverseSpectrogram",
    .doc =
        "The signals that complex spectra (..., freq, time, 2) are of, (..., time), `length` "
        "samples or as many as the frames have; the other arguments are those the spectra were "
        "made with. ValueError: another shape, another number of frequencies.",
    .args = {"length: int? = None", "n_fft: int = 400", "win_length: int? = None",
             "hop_length: int? = None", "pad: int = 0", "window: WindowType = HANN",
             "normalized: bool = False", "center: bool = True", "pad_mode: BorderType = REFLECT",
             "onesided: bool = True"},
    .make = [](const Options& o) {
      const Frames f = spectrogram_frames(o);
      const int64_t length = o.none("length") ? -1 : o.integer("length");
      if (length < -1) o.fail("length", "must not be negative, got {}", length);
      return each_value([f, length](const Value& v) -> Value {
        const Spectra in = read_spectra(v);
        if (in.freqs != f.freqs())
          value_error("expected {} frequencies of n_fft {}, got {}", f.freqs(), f.n_fft, in.freqs);
        Signal out;
        out.dtype = in.dtype;
        for (const auto& one : in.each) {
          std::vector<double> x = istft(one, in.frames, f, length < 0 ? -1 : length + 2 * f.pad);
          if (length >= 0) {
            x.erase(x.begin(), x.begin() + f.pad);
            x.resize(static_cast<size_t>(length));
          }
          out.x.insert(out.x.end(), x.begin(), x.end());
        }
        out.shape = in.outer;
        out.shape.push_back(static_cast<int64_t>(out.x.size() / in.each.size()));
        return to_value(out);
      });
    }};

// The highest frequency: half the rate unless given. ValueError: f_min is not below it.
double highest(const Options& o, int64_t rate) {
  const double low = not_negative(o, "f_min");
  const double high = o.none("f_max") ? static_cast<double>(rate / 2) : o.real("f_max");
  if (low >= high) o.fail("f_min", "must be below f_max, got {} and {}", low, high);
  return high;
}

const TransformDef kMelScale{
    .name = "audio.MelScale",
    .doc =
        "A spectrogram of n_stft frequencies over n_mels triangles of the mel scale: (..., n_stft, "
        "time) to (..., n_mels, time). f_max is half of sample_rate when None. ValueError: f_min "
        "not below f_max, another number of frequencies.",
    .args = {"n_mels: int = 128", "sample_rate: int = 16000", "f_min: number = 0.0",
             "f_max: number? = None", "n_stft: int = 201", "norm: NormType = NONE",
             "mel_type: MelType = HTK"},
    .make = [](const Options& o) {
      const int64_t rate = o.positive("sample_rate");
      return each_signal(
          [m = mel_filters(o.positive("n_stft"), o.real("f_min"), highest(o, rate),
                           o.positive("n_mels"), rate, o.choice("norm"),
                           o.choice("mel_type"))](const Signal& s) { return times(s, m); },
          2);
    }};

const TransformDef kMelSpectrogram{
    .name = "audio.MelSpectrogram",
    .doc =
        "Spectrogram and then MelScale: (..., time) to (..., n_mels, frames). ValueError: as "
        "these.",
    .args = {"sample_rate: int = 16000", "n_fft: int = 400", "win_length: int? = None",
             "hop_length: int? = None", "f_min: number = 0.0", "f_max: number? = None",
             "pad: int = 0", "n_mels: int = 128", "window: WindowType = HANN",
             "power: number = 2.0", "normalized: bool = False", "center: bool = True",
             "pad_mode: BorderType = REFLECT", "onesided: bool = True", "norm: NormType = NONE",
             "mel_scale: MelType = HTK"},
    .make = [](const Options& o) {
      const Frames f = spectrogram_frames(o);
      const int64_t rate = o.positive("sample_rate");
      const double power = o.real("power");
      if (!(power > 0)) o.fail("power", "must be positive, got {}", power);
      return each_signal(
          [f, power,
           m = mel_filters(f.freqs(), o.real("f_min"), highest(o, rate), o.positive("n_mels"), rate,
                           o.choice("norm"), o.choice("mel_scale"))](const Signal& s) {
            return times(spectrogram(s, f, power), m);
          });
    }};

// A keyword argument that stands for the arguments of another transform: a dict arrives as a list
// of pairs.
NamedOptions arguments_of(const Options& o, std::string_view name) {
  NamedOptions out;
  if (o.none(name)) return out;
  const bool list = o[name].is<Option::List>();
  for (const Option& pair : list ? o[name].get<Option::List>() : Option::List{Option()}) {
    if (!pair.is<Option::List>() || pair.get<Option::List>().size() != 2 ||
        !pair.get<Option::List>()[0].is<std::string>())
      o.fail(name, "must be a dict of arguments, got {}", o[name].str());
    out.emplace_back(pair.get<Option::List>()[0].get<std::string>(), pair.get<Option::List>()[1]);
  }
  return out;
}

// A spectrogram by another transform, in decibels or logarithms, and its cosine transform.
std::shared_ptr<Transform> cepstrum(TransformPtr inner, Matrix filters, bool logarithm,
                                    Matrix dct) {
  return of_row(
      [=](Row* values, Philox& draw) {
        inner->run(values, draw);
        for (Value& v : *values) {
          Signal s = read_signal(v, 2);
          if (filters.rows) s = times(s, filters);
          if (logarithm) {
            for (double& x : s.x) x = std::log(x + 1e-6);
          } else {
            to_decibels(&s, 10, 1, 1e-10, 80);
          }
          v = to_value(times(s, dct));
        }
      },
      false);
}

int64_t given(const NamedOptions& args, const char* name, int64_t fallback) {
  for (const auto& [key, value] : args) {
    if (key == name && value.is<int64_t>()) return value.get<int64_t>();
  }
  return fallback;
}

void check_dct(const Options& o) {
  if (o.integer("dct_type") != 2) o.fail("dct_type", "must be 2, got {}", o.integer("dct_type"));
}

const TransformDef kMfcc{
    .name = "audio.MFCC",
    .doc =
        "Mel-frequency cepstral coefficients: MelSpectrogram (melkwargs: its arguments by name), "
        "in decibels or (log_mels) log(x + 1e-6), and the cosine transform: (..., time) to (..., "
        "n_mfcc, frames). ValueError: more coefficients than n_mels, a dct_type other than 2, what "
        "MelSpectrogram refuses.",
    .args = {"sample_rate: int = 16000", "n_mfcc: int = 40", "dct_type: int = 2",
             "norm: NormMode = ORTHO", "log_mels: bool = False", "melkwargs: any = None"},
    .make = [](const Options& o) {
      check_dct(o);
      NamedOptions args = arguments_of(o, "melkwargs");
      const int64_t mels = given(args, "n_mels", 128), n = o.positive("n_mfcc");
      if (n > mels) o.fail("n_mfcc", "must not be above n_mels, got {} and {}", n, mels);
      args.emplace_back("sample_rate", o.positive("sample_rate"));
      return cepstrum(make_transform("audio.MelSpectrogram", args), {}, o.boolean("log_mels"),
                      cosines(n, mels, o.choice("norm")));
    }};

const TransformDef kLfcc{
    .name = "audio.LFCC",
    .doc =
        "Linear-frequency cepstral coefficients: Spectrogram (speckwargs: its arguments by name), "
        "n_filter triangles, in decibels or (log_lf) log(x + 1e-6), and the cosine transform: "
        "(..., time) to (..., n_lfcc, frames). ValueError: more coefficients than n_filter, a "
        "dct_type other than 2, what Spectrogram refuses.",
    .args = {"sample_rate: int = 16000", "n_filter: int = 128", "n_lfcc: int = 40",
             "f_min: number = 0.0", "f_max: number? = None", "dct_type: int = 2",
             "norm: NormMode = ORTHO", "log_lf: bool = False", "speckwargs: any = None"},
    .make = [](const Options& o) {
      check_dct(o);
      const NamedOptions args = arguments_of(o, "speckwargs");
      const int64_t filters = o.positive("n_filter"), n = o.positive("n_lfcc");
      if (n > filters) o.fail("n_lfcc", "must not be above n_filter, got {} and {}", n, filters);
      const int64_t rate = o.positive("sample_rate");
      return cepstrum(make_transform("audio.Spectrogram", args),
                      linear_filters(given(args, "n_fft", 400) / 2 + 1, o.real("f_min"),
                                     highest(o, rate), filters, rate),
                      o.boolean("log_lf"), cosines(n, filters, o.choice("norm")));
    }};

const TransformDef kSpectralCentroid{
    .name = "audio.SpectralCentroid",
    .doc =
        "The mean frequency of each frame, weighted by magnitude: (..., time) to (..., 1, frames), "
        "in Hz. ValueError: as Spectrogram.",
    .args = {"sample_rate: int", "n_fft: int = 400", "win_length: int? = None",
             "hop_length: int? = None", "pad: int = 0", "window: WindowType = HANN"},
    .make = [](const Options& o) {
      Frames f = frames_of(o);
      f.pad = static_cast<int64_t>(not_negative(o, "pad"));
      const auto top = static_cast<double>(o.positive("sample_rate") / 2);
      return each_signal([f, top](const Signal& s) {
        Signal in = spectrogram(s, f, 1);
        Matrix weights{.rows = f.freqs(), .columns = 1, .x = {}}, ones = weights;
        ones.x.assign(static_cast<size_t>(f.freqs()), 1);
        for (int64_t k = 0; k < f.freqs(); ++k)
          weights.x.push_back(top * static_cast<double>(k) / static_cast<double>(f.freqs() - 1));
        Signal out = times(in, weights);
        const Signal sums = times(in, ones);
        for (size_t i = 0; i < out.x.size(); ++i) out.x[i] /= sums.x[i];
        return out;
      });
    }};

struct GriffinLim {
  Frames frames;
  double power, momentum;
  int64_t steps, length;
  bool random;

  std::vector<double> run(const double* x, int64_t n, Philox& draw) const {
    const auto size = static_cast<size_t>(frames.freqs() * n);
    std::vector<double> magnitude(x, x + size);
    for (double& m : magnitude) m = std::pow(m, 1 / power);
    std::vector<Complex> angles(size, 1), before(size), spectrum(size);
    for (Complex& a : angles) {
      if (random) a = {draw.uniform(), draw.uniform()};
    }
    const auto apply = [&] {
      for (size_t i = 0; i < size; ++i) spectrum[i] = magnitude[i] * angles[i];
      return istft(spectrum, n, frames, length);
    };
    const double back = momentum / (1 + momentum);
    for (int64_t k = 0; k < steps; ++k) {
      const std::vector<double> signal = apply();
      int64_t rebuilt_frames = 0;
      const std::vector<Complex> rebuilt =
          stft(signal.data(), static_cast<int64_t>(signal.size()), frames, &rebuilt_frames);
      if (rebuilt_frames != n)
        value_error("a length of {} samples has {} frames, the spectrogram has {}", length,
                    rebuilt_frames, n);
      for (size_t i = 0; i < size; ++i) {
        const Complex a = rebuilt[i] - back * before[i];
        angles[i] = a / (std::abs(a) + 1e-16);
      }
      before = rebuilt;
    }
    return apply();
  }
};

const TransformDef kGriffinLim{
    .name = "audio.GriffinLim",
    .doc =
        "A signal that a spectrogram of |X|^power fits, its phases found in n_iter steps: (..., "
        "freq, time) to (..., time). rand_init: phases begin at random. ValueError: another number "
        "of frequencies, a negative momentum, a power that is not positive. Source: N. Perraudin "
        "et al., A fast Griffin-Lim algorithm, 2013.",
    .args = {"n_fft: int = 400", "n_iter: int = 32", "win_length: int? = None",
             "hop_length: int? = None", "window_type: WindowType = HANN", "power: number = 2.0",
             "momentum: number = 0.99", "length: int? = None", "rand_init: bool = True"},
    .make = [](const Options& o) -> std::shared_ptr<Transform> {
      const GriffinLim g{.frames = frames_of(o, "window_type"),
                         .power = o.real("power"),
                         .momentum = not_negative(o, "momentum"),
                         .steps = o.positive("n_iter"),
                         .length = o.none("length") ? -1 : o.positive("length"),
                         .random = o.boolean("rand_init")};
      if (!(g.power > 0)) o.fail("power", "must be positive, got {}", g.power);
      const auto run = [g](const Value& v, Philox& draw) -> Value {
        const Signal s = read_signal(v, 2);
        if (s.shape[-2] != g.frames.freqs())
          value_error("expected {} frequencies of n_fft {}, got {}", g.frames.freqs(),
                      g.frames.n_fft, s.shape[-2]);
        Signal out;
        out.dtype = s.dtype;
        const int64_t matrices = s.rows() / s.shape[-2];
        for (int64_t m = 0; m < matrices; ++m) {
          const std::vector<double> x = g.run(s.row(m * s.shape[-2]), s.width(), draw);
          out.x.insert(out.x.end(), x.begin(), x.end());
        }
        for (int d = 0; d < s.shape.rank() - 2; ++d) out.shape.push_back(s.shape[d]);
        out.shape.push_back(static_cast<int64_t>(out.x.size()) / matrices);
        return to_value(out);
      };
      if (g.random) return each_value_randomly(run);
      return each_value([run](const Value& v) -> Value {
        Philox none(0);
        return run(v, none);
      });
    }};

// Gradient descent on the squares of what is left, kept from going below 0.
struct InverseMel {
  Matrix filters;  // (freqs, mels)
  int64_t steps;
  double least_loss, least_change, rate, momentum;

  // Of (mels, time), (freqs, time).
  Signal run(const Signal& mel, Philox& draw) const {
    const int64_t n = mel.width(), freqs = filters.rows, mels = filters.columns;
    Signal out;
    out.shape = {freqs, n};
    out.x.resize(static_cast<size_t>(freqs * n));
    for (double& x : out.x) x = draw.uniform();
    Matrix back{.rows = mels, .columns = freqs, .x = {}};
    for (int64_t m = 0; m < mels; ++m) {
      for (int64_t f = 0; f < freqs; ++f) back.x.push_back(filters.at(f, m));
    }
    std::vector<double> speed(out.x.size(), 0.0);
    double loss = INFINITY;
    for (int64_t k = 0; k < steps; ++k) {
      Signal rest = times(out, filters);
      double now = 0;
      for (size_t i = 0; i < rest.x.size(); ++i) {
        rest.x[i] -= mel.x[i];
        now += rest.x[i] * rest.x[i];
      }
      now /= static_cast<double>(n);
      const Signal slope = times(rest, back);
      for (size_t i = 0; i < out.x.size(); ++i) {
        speed[i] = momentum * speed[i] + 2 / static_cast<double>(n) * slope.x[i];
        out.x[i] = std::max(0.0, out.x[i] - rate * speed[i]);
      }
      if (now < least_loss || std::abs(loss - now) < least_change) break;
      loss = now;
    }
    return out;
  }
};

const TransformDef kInverseMelScale{
    .name = "audio.InverseMelScale",
    .doc =
        "A spectrogram of n_stft frequencies, none below 0, that a mel spectrogram fits, found by "
        "gradient descent from a random one: (..., n_mels, time) to (..., n_stft, time). It ends "
        "after max_iter steps, when the loss (the mean over time of the squares) is below "
        "tolerance_loss or changes by less than tolerance_change. sgdargs: {'sgd_lr': 0.1, "
        "'sgd_momentum': 0.9}. ValueError: f_min not below f_max, another number of mels.",
    .args = {"n_stft: int", "n_mels: int = 128", "sample_rate: int = 16000", "f_min: number = 0.0",
             "f_max: number? = None", "max_iter: int = 100000", "tolerance_loss: number = 1e-05",
             "tolerance_change: number = 1e-08", "sgdargs: any = None", "norm: NormType = NONE",
             "mel_type: MelType = HTK"},
    .make = [](const Options& o) {
      double rate = 0.1, momentum = 0.9;
      for (const auto& [name, value] : arguments_of(o, "sgdargs")) {
        if ((name != "sgd_lr" && name != "sgd_momentum") || !value.is_number())
          o.fail("sgdargs", "has 'sgd_lr' and 'sgd_momentum', numbers, got '{}': {}", name,
                 value.str());
        (name == "sgd_lr" ? rate : momentum) = value.real();
      }
      const int64_t sample_rate = o.positive("sample_rate");
      const InverseMel inverse{
          .filters = mel_filters(o.positive("n_stft"), o.real("f_min"), highest(o, sample_rate),
                                 o.positive("n_mels"), sample_rate, o.choice("norm"),
                                 o.choice("mel_type")),
          .steps = o.positive("max_iter"),
          .least_loss = not_negative(o, "tolerance_loss"),
          .least_change = not_negative(o, "tolerance_change"),
          .rate = rate,
          .momentum = momentum};
      return each_value_randomly([inverse](const Value& v, Philox& draw) -> Value {
        const Signal s = read_signal(v, 2);
        const int64_t mels = inverse.filters.columns;
        if (s.shape[-2] != mels) value_error("expected {} mels, got {}", mels, s.shape[-2]);
        Signal out;
        out.dtype = s.dtype;
        out.shape = s.shape;
        out.shape.set(-2, inverse.filters.rows);
        for (int64_t r = 0; r < s.rows(); r += mels) {
          Signal one;
          one.shape = {mels, s.width()};
          one.x.assign(s.row(r), s.row(r) + mels * s.width());
          const Signal found = inverse.run(one, draw);
          out.x.insert(out.x.end(), found.x.begin(), found.x.end());
        }
        return to_value(out);
      });
    }};

}  // namespace

TransformDefs spectrum_transforms() {
  return {&kSpectrogram, &kInverseSpectrogram, &kMelScale,   &kMelSpectrogram, &kMfcc,
          &kLfcc,        &kSpectralCentroid,   &kGriffinLim, &kInverseMelScale};
}

}  // namespace mycel::data
