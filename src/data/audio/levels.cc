// Loudness, distortion and quantization, sample by sample or nearly so. Effects follow SoX.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "data/audio/audio.h"
#include "data/audio/signal.h"
#include "data/cast.h"

namespace mycel::data {
namespace {

using std::numbers::pi;

const TransformDef kContrast{
    .name = "audio.Contrast",
    .doc =
        "Louder by distortion: sin(u + a sin(4u)), u = x pi/2, a = enhancement_amount / 750. "
        "Numbers (..., time). ValueError: an amount outside [0, 100]. Source: SoX.",
    .args = {"enhancement_amount: number = 75.0"},
    .make = [](const Options& o) {
      const double a = o.within("enhancement_amount", 0, 100) / 750;
      return each_sample([a](double x) {
        const double u = x * pi / 2;
        return std::sin(u + a * std::sin(4 * u));
      });
    }};

const TransformDef kDCShift{
    .name = "audio.DCShift",
    .doc =
        "Moves a signal by `shift`, in [-2, 2], results in [-1, 1]; limiter_gain keeps peaks from "
        "being cut. Numbers (..., time). Source: SoX.",
    .args = {"shift: number", "limiter_gain: number? = None"},
    .make = [](const Options& o) {
      const double shift = o.within("shift", -2, 2);
      const bool limited = !o.none("limiter_gain") && shift != 0;
      const double gain = limited ? o.real("limiter_gain") : 0;
      const double most = 1 - (std::abs(shift) - gain);
      const double side = shift < 0 ? -1 : 1;
      return each_sample([=](double x) {
        if (limited && side * x > most) {
          const double over = (side * x - most) * gain / (1 - most);
          return side * std::min(over + most + std::abs(shift), most);
        }
        return std::clamp(x + shift, -1.0, 1.0);
      });
    }};

const TransformDef kGain{.name = "audio.Gain",
                         .doc = "A signal times 10^(gain_db / 20). Numbers (..., time).",
                         .args = {"gain_db: number = 1.0"},
                         .make = [](const Options& o) {
                           const double g = std::pow(10, o.real("gain_db") / 20);
                           return each_sample([g](double x) { return x * g; });
                         }};

const TransformDef kVol{
    .name = "audio.Vol",
    .doc =
        "A signal times a gain: a factor (AMPLITUDE), a factor of its power (POWER) or decibels "
        "(DB); results in [-1, 1]. Numbers (..., time). ValueError: a negative AMPLITUDE, a POWER "
        "that is not positive.",
    .args = {"gain: number", "gain_type: GainType = AMPLITUDE"},
    .make = [](const Options& o) {
      double g = o.real("gain");
      const std::string& type = o.choice("gain_type");
      if (type == "AMPLITUDE" && g < 0) o.fail("gain", "must not be negative, got {}", g);
      if (type == "POWER" && g <= 0) o.fail("gain", "must be positive, got {}", g);
      if (type == "POWER") g = std::sqrt(g);
      if (type == "DB") g = std::pow(10, g / 20);
      return each_sample([g](double x) { return std::clamp(x * g, -1.0, 1.0); });
    }};

const TransformDef kOverdrive{
    .name = "audio.Overdrive",
    .doc =
        "Overdriven: `gain` dB in front of a soft clipper, `color` even harmonics, both in [0, "
        "100]; results in [-1, 1]. Numbers (..., time). Source: SoX.",
    .args = {"gain: number = 20.0", "color: number = 20.0"},
    .make = [](const Options& o) {
      const double gain = std::pow(10, o.within("gain", 0, 100) / 20);
      const double color = o.within("color", 0, 100) / 200;
      return each_row([gain, color](double* x, int64_t n) {
        double in = 0, out = 0;
        for (int64_t i = 0; i < n; ++i) {
          const double hot = x[i] * gain + color;
          const double soft = hot < -1 ? -2.0 / 3 : hot > 1 ? 2.0 / 3 : hot - hot * hot * hot / 3;
          out = soft - in + 0.995 * out;
          in = soft;
          x[i] = std::clamp(x[i] * 0.5 + out * 0.75, -1.0, 1.0);
        }
      });
    }};

// The factor at place t in [0, 1] of a fade in; of a fade out at 1 - t of it, but for shapes that
// are not their own mirror.
double fade_in(const std::string& shape, double t) {
  if (shape == "EXPONENTIAL") return std::pow(2, t - 1) * t;
  if (shape == "LOGARITHMIC") return std::log10(0.1 + t) + 1;
  if (shape == "QUARTER_SINE") return std::sin(t * pi / 2);
  if (shape == "HALF_SINE") return std::sin(t * pi - pi / 2) / 2 + 0.5;
  return t;
}
double fade_out(const std::string& shape, double t) {
  if (shape == "EXPONENTIAL") return std::pow(2, -t) * (1 - t);
  if (shape == "LOGARITHMIC") return std::log10(1.1 - t) + 1;
  if (shape == "QUARTER_SINE") return std::sin(t * pi / 2 + pi / 2);
  if (shape == "HALF_SINE") return std::sin(t * pi + pi / 2) / 2 + 0.5;
  return 1 - t;
}

const TransformDef kFade{
    .name = "audio.Fade",
    .doc =
        "Fades in over the first fade_in_len samples and out over the last fade_out_len, along a "
        "curve. Numbers (..., time). ValueError: a negative length, or one beyond the signal.",
    .args = {"fade_in_len: int = 0", "fade_out_len: int = 0", "fade_shape: FadeShape = LINEAR"},
    .make = [](const Options& o) {
      const int64_t in = o.integer("fade_in_len"), out = o.integer("fade_out_len");
      if (in < 0) o.fail("fade_in_len", "must not be negative, got {}", in);
      if (out < 0) o.fail("fade_out_len", "must not be negative, got {}", out);
      return each_row([in, out, shape = o.choice("fade_shape")](double* x, int64_t n) {
        if (in > n || out > n)
          value_error("a fade of {} samples is longer than the signal of {}", std::max(in, out), n);
        const auto at = [](int64_t i, int64_t length) {
          return length > 1 ? static_cast<double>(i) / static_cast<double>(length - 1) : 0.0;
        };
        for (int64_t i = 0; i < in; ++i) x[i] *= std::clamp(fade_in(shape, at(i, in)), 0.0, 1.0);
        for (int64_t i = 0; i < out; ++i)
          x[n - out + i] *= std::clamp(fade_out(shape, at(i, out)), 0.0, 1.0);
      });
    }};

double channels(const Options& o) {
  return static_cast<double>(o.positive("quantization_channels") - 1);
}

const TransformDef kMuLawEncoding{
    .name = "audio.MuLawEncoding",
    .doc =
        "Samples in [-1, 1] to int32 of quantization_channels levels by the mu-law: sign(x) "
        "log(1 + mu |x|) / log(1 + mu) (ITU-T G.711). Numbers (..., time).",
    .args = {"quantization_channels: int = 256"},
    .make = [](const Options& o) {
      const double mu = channels(o);
      return each_value([mu](const Value& v) -> Value {
        const Signal s = read_signal(v);
        Tensor out = Tensor::empty(DType::kInt32, s.shape);
        auto to = out.mutable_data<int32_t>();
        for (size_t i = 0; i < to.size(); ++i) {
          const double y =
              std::copysign(std::log1p(mu * std::abs(s.x[i])) / std::log1p(mu), s.x[i]);
          to[i] = static_cast<int32_t>((y + 1) / 2 * mu + 0.5);
        }
        return out;
      });
    }};

const TransformDef kMuLawDecoding{
    .name = "audio.MuLawDecoding",
    .doc = "Levels of the mu-law back to samples in [-1, 1] (ITU-T G.711). Numbers (..., time).",
    .args = {"quantization_channels: int = 256"},
    .make = [](const Options& o) {
      const double mu = channels(o);
      return each_sample([mu](double level) {
        const double y = level / mu * 2 - 1;
        return std::copysign(std::expm1(std::abs(y) * std::log1p(mu)) / mu, y);
      });
    }};

// Rounds to 16 bits after noise was added.
void dither(Signal* s, const std::string& density, bool shaped, Philox& draw) {
  const int64_t n = s->width();
  const auto any = [&](int64_t below) {
    return below > 0 ? static_cast<int64_t>(draw.uniform() * static_cast<double>(below)) : 0;
  };
  const auto any_sample = [&] { return s->row(any(s->rows() - 1))[any(n - 1)]; };
  double noise = 0;
  if (density == "RPDF") noise = any_sample() - 0.5;
  if (density == "GPDF") {
    for (int i = 0; i < 7; ++i) noise += any_sample();
  }
  for (int64_t r = 0; r < s->rows(); ++r) {
    double* x = s->row(r);
    double before = 0;  // what rounding did to the sample before
    for (int64_t i = 0; i < n; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(n);
      const double add = density == "TPDF" ? 1 - std::abs(2 * t - 1) : noise;
      const double rounded = std::nearbyint(x[i] * 32766 + add) / 32768;
      const double error = rounded - x[i];
      x[i] = rounded + (shaped ? before : 0);
      before = error;
    }
  }
}

const TransformDef kDither{
    .name = "audio.Dither",
    .doc =
        "Rounds to 16 bits after noise was added, triangular (TPDF), rectangular (RPDF) or "
        "Gaussian (GPDF), the last two at random; noise_shaping moves the error of a sample into "
        "the next. Numbers (..., time).",
    .args = {"density_function: DensityFunction = TPDF", "noise_shaping: bool = False"},
    .make = [](const Options& o) {
      return each_value_randomly(
          [density = o.choice("density_function"), shaped = o.boolean("noise_shaping")](
              const Value& v, Philox& draw) -> Value {
            Signal s = read_signal(v);
            dither(&s, density, shaped, draw);
            return to_value(s);
          });
    }};

}  // namespace

TransformDefs level_transforms() {
  return {&kContrast, &kDCShift,       &kGain,          &kVol,   &kOverdrive,
          &kFade,     &kMuLawEncoding, &kMuLawDecoding, &kDither};
}

}  // namespace mycel::data
