// Effects of a delay that a slow wave changes. They follow SoX.
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "data/audio/audio.h"
#include "data/audio/signal.h"

namespace mycel::data {
namespace {

using std::numbers::pi;

// A period of a wave between two values.
std::vector<double> wave(bool sine, int64_t size, double low, double high, double phase) {
  std::vector<double> out(static_cast<size_t>(size));
  const auto offset = static_cast<int64_t>(phase / pi / 2 * static_cast<double>(size) + 0.5);
  for (int64_t t = 0; t < size; ++t) {
    const int64_t point = (t + offset) % size;
    const double at = static_cast<double>(point) / static_cast<double>(size);
    double y = (std::sin(at * 2 * pi) + 1) / 2;
    if (!sine) {
      const int64_t quarter = 4 * point / size;
      y = quarter == 0 ? at * 2 + 0.5 : quarter == 3 ? at * 2 - 1.5 : 1.5 - at * 2;
    }
    out[static_cast<size_t>(t)] = y * (high - low) + low;
  }
  return out;
}

struct FlangerOptions {
  double regen, width, phase, delay, depth, rate;
  int64_t period;
  bool sine, linear;
};

// Each column of (rows of channels) delayed by a wave of its own phase.
void flange(const FlangerOptions& f, int64_t channel, double* x, int64_t n) {
  const double back = f.regen / 100;
  const double in_gain = 1 / (1 + f.width / 100);
  const double delay_gain = f.width / 100 * in_gain * (1 - std::abs(back));
  const auto size = static_cast<int64_t>((f.delay + f.depth) / 1000 * f.rate + 0.5) + 2;
  const double low = std::floor(f.delay / 1000 * f.rate + 0.5);
  const std::vector<double> lfo =
      wave(f.sine, f.period, low, static_cast<double>(size) - 2, 3 * pi / 2);
  const auto shift =
      static_cast<int64_t>(static_cast<double>(channel * f.period) * f.phase / 100 + 0.5);
  std::vector<double> buffer(static_cast<size_t>(size), 0.0);
  double last = 0;
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    at = (at + size - 1) % size;
    const double delay = lfo[static_cast<size_t>((i + shift) % f.period)];
    const double whole = std::floor(delay), part = delay - whole;
    buffer[static_cast<size_t>(at)] = x[i] + last * back;
    const auto tap = [&](int64_t k) {
      return buffer[static_cast<size_t>((at + static_cast<int64_t>(whole) + k) % size)];
    };
    const double d0 = tap(0), d1 = tap(1) - d0;
    if (f.linear) {
      last = d0 + d1 * part;
    } else {
      const double d2 = tap(2) - d0;
      last = d0 + ((d2 / 2 - d1) * part + d1 * 2 - d2 / 2) * part;
    }
    x[i] = x[i] * in_gain + last * delay_gain;
  }
  clamp(x, n);
}

const TransformDef kFlanger{
    .name = "audio.Flanger",
    .doc =
        "A copy delayed by `delay` to delay + depth milliseconds, `speed` times a second back and "
        "forth, is mixed in: regen % of it feeds back, width % is heard, channels are phase % "
        "apart. Numbers (..., channel, time), 4 channels at most, results in [-1, 1]. ValueError: "
        "delay outside [0, 30], depth [0, 10], regen [-95, 95], width [0, 100], speed [0.1, 10], "
        "phase [0, 100]. Source: SoX.",
    .args = {"sample_rate: int", "delay: number = 0.0", "depth: number = 2.0",
             "regen: number = 0.0", "width: number = 71.0", "speed: number = 0.5",
             "phase: number = 25.0", "modulation: Modulation = SINUSOIDAL",
             "interpolation: Interpolation = LINEAR"},
    .make = [](const Options& o) {
      const auto rate = static_cast<double>(o.positive("sample_rate"));
      const FlangerOptions f{
          .regen = o.within("regen", -95, 95),
          .width = o.within("width", 0, 100),
          .phase = o.within("phase", 0, 100),
          .delay = o.within("delay", 0, 30),
          .depth = o.within("depth", 0, 10),
          .rate = rate,
          .period = std::max<int64_t>(1, static_cast<int64_t>(rate / o.within("speed", 0.1, 10))),
          .sine = o.choice("modulation") == "SINUSOIDAL",
          .linear = o.choice("interpolation") == "LINEAR"};
      return each_signal(
          [f](Signal s) {
            const int64_t channels = s.shape[-2];
            if (channels > 4) value_error("expected 4 channels at most, got {}", channels);
            for (int64_t r = 0; r < s.rows(); ++r) flange(f, r % channels, s.row(r), s.width());
            return s;
          },
          2);
    }};

const TransformDef kPhaser{
    .name = "audio.Phaser",
    .doc =
        "A copy delayed by up to delay_ms milliseconds, mod_speed times a second, feeds back with "
        "`decay`; gains in front and behind. Numbers (..., time), results in [-1, 1]. ValueError: "
        "gain_in outside [0, 1], gain_out [0, 1e9], delay_ms [0, 5], decay [0, 0.99], mod_speed "
        "[0.1, 2], a delay below one sample. Source: SoX.",
    .args = {"sample_rate: int", "gain_in: number = 0.4", "gain_out: number = 0.74",
             "delay_ms: number = 3.0", "decay: number = 0.4", "mod_speed: number = 0.5",
             "sinusoidal: bool = True"},
    .make = [](const Options& o) {
      const auto rate = static_cast<double>(o.positive("sample_rate"));
      const double in = o.within("gain_in", 0, 1), out = o.within("gain_out", 0, 1e9);
      const double decay = o.within("decay", 0, 0.99);
      const auto size = static_cast<int64_t>(o.within("delay_ms", 0, 5) * 0.001 * rate + 0.5);
      if (size < 1) o.fail("delay_ms", "is less than a sample at {} Hz", rate);
      const auto period = static_cast<int64_t>(rate / o.within("mod_speed", 0.1, 2) + 0.5);
      std::vector<int64_t> delays;
      for (const double d :
           wave(o.boolean("sinusoidal"), period, 1, static_cast<double>(size), pi / 2))
        delays.push_back(static_cast<int64_t>(d + 0.5));
      return each_row([=](double* x, int64_t n) {
        std::vector<double> buffer(static_cast<size_t>(size), 0.0);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t at = (i + delays[static_cast<size_t>(i % period)]) % size;
          const double y = x[i] * in + buffer[static_cast<size_t>(at)];
          buffer[static_cast<size_t>((i + 1) % size)] = y * decay;
          x[i] = y * out;
        }
        clamp(x, n);
      });
    }};

}  // namespace

TransformDefs modulation_transforms() { return {&kFlanger, &kPhaser}; }

}  // namespace mycel::data
