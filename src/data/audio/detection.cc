// What a signal holds: its pitch, the place where a voice begins.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "data/audio/audio.h"
#include "data/audio/spectrum.h"

namespace mycel::data {
namespace {

struct Pitch {
  double rate, low, high;
  int64_t frame, window;

  // How alike frames and frames `lag` later are: sum(a b) / |a|^2 / |b|^2.
  std::vector<double> run(const double* x, int64_t n) const {
    const auto most = static_cast<int64_t>(std::ceil(rate / low));
    const auto least = static_cast<int64_t>(std::ceil(rate / high));
    const int64_t frames = (n + frame - 1) / frame;
    std::vector<double> in(x, x + n);
    in.resize(static_cast<size_t>(frames * frame + most), 0.0);
    std::vector<double> lags;
    for (int64_t t = 0; t < frames; ++t)
      lags.push_back(best_lag(in.data() + t * frame, least, most));
    return smoothed(lags);
  }

 private:
  double best_lag(const double* x, int64_t least, int64_t most) const {
    std::vector<double> alike;
    for (int64_t lag = 1; lag <= most; ++lag) {
      double ab = 0, aa = 0, bb = 0;
      for (int64_t i = 0; i < frame; ++i) {
        const double a = x[i], b = x[i + lag];
        ab += a * b;
        aa += a * a;
        bb += b * b;
      }
      alike.push_back(ab / (1e-9 + aa) / (1e-9 + bb));
    }
    const auto begin = alike.begin() + least;
    const int64_t half = std::max<int64_t>(least + 1, most / 2);
    const auto all = std::max_element(begin, alike.end());
    const auto early = std::max_element(begin, alike.begin() + half);
    // A lag among the lower ones is taken when it is nearly as good: the other is its double.
    const auto best = *early > 0.99 * *all ? early : all;
    return static_cast<double>(best - alike.begin() + 1);
  }
  std::vector<double> smoothed(const std::vector<double>& lags) const {
    const int64_t pad = (window - 1) / 2;
    std::vector<double> in(static_cast<size_t>(pad), 0.0);
    in.insert(in.end(), lags.begin(), lags.end());
    std::fill(in.begin(), in.begin() + pad, lags[0]);
    std::vector<double> out;
    for (int64_t t = 0; t + window <= static_cast<int64_t>(in.size()); ++t) {
      std::vector<double> some(in.begin() + t, in.begin() + t + window);
      const auto middle = some.begin() + (window - 1) / 2;
      std::nth_element(some.begin(), middle, some.end());
      out.push_back(rate / (1e-9 + *middle));
    }
    return out;
  }
};

const TransformDef kDetectPitchFrequency{
    .name = "audio.DetectPitchFrequency",
    .doc =
        "The pitch of each frame of frame_time seconds in Hz, between freq_low and freq_high, by "
        "normalized cross-correlation and a median over win_length frames: floats (..., time) to "
        "(..., frames). ValueError: bounds that are not positive or not in order, fewer frames "
        "than the median needs, a freq_high too near freq_low.",
    .args = {"sample_rate: int", "frame_time: number = 0.01", "win_length: int = 30",
             "freq_low: number = 85", "freq_high: number = 3400"},
    .make = [](const Options& o) {
      if (o.integer("sample_rate") == 0) o.fail("sample_rate", "must not be 0");
      for (const char* name : {"frame_time", "freq_low", "freq_high"}) {
        if (!(o.real(name) > 0)) o.fail(name, "must be positive, got {}", o.real(name));
      }
      const auto rate = static_cast<double>(o.positive("sample_rate"));
      const Pitch p{.rate = rate,
                    .low = o.real("freq_low"),
                    .high = o.real("freq_high"),
                    .frame = static_cast<int64_t>(std::ceil(rate * o.real("frame_time"))),
                    .window = o.positive("win_length")};
      if (std::ceil(rate / p.low) <= std::ceil(rate / p.high))
        o.fail("freq_high", "must be above freq_low by more, got {} and {}", p.high, p.low);
      return each_signal(
          [p](const Signal& s) {
            const int64_t frames = (s.width() + p.frame - 1) / p.frame;
            if (frames + (p.window - 1) / 2 < p.window)
              value_error("{} samples have {} frames, too few for a median over {}", s.width(),
                          frames, p.window);
            Signal out;
            out.dtype = s.dtype;
            out.shape = s.shape;
            for (int64_t r = 0; r < s.rows(); ++r) {
              const std::vector<double> found = p.run(s.row(r), s.width());
              out.x.insert(out.x.end(), found.begin(), found.end());
            }
            out.shape.set(-1, static_cast<int64_t>(out.x.size()) / s.rows());
            return out;
          },
          1, Accepts::kFloats);
    }};

// SoX's detector of voice: a measure of the cepstrum, smoothed, against a level.
struct Vad {
  double level, reduction, up, down, smooth, trigger;
  int64_t measure, size = 16, period, kept, gap, before, boots;
  int64_t first, last, low_quefrency, high_quefrency;
  std::vector<double> window, lifter;

  explicit Vad(const Options& o) {
    const auto rate = static_cast<double>(o.positive("sample_rate"));
    const auto positive = [&](const char* name) {
      const double x = o.real(name);
      if (!(x > 0)) o.fail(name, "must be positive, got {}", x);
      return x;
    };
    const auto not_negative = [&](const char* name) {
      const double x = o.real(name);
      if (x < 0) o.fail(name, "must not be negative, got {}", x);
      return x;
    };
    const double freq = positive("measure_freq");
    const double duration =
        o.none("measure_duration") ? 2 / freq : not_negative("measure_duration");
    const auto whole = [](double x) { return static_cast<int64_t>(x); };
    const auto decay = [&](const char* name) { return std::exp(-1 / (positive(name) * freq)); };
    level = o.real("trigger_level");
    reduction = not_negative("noise_reduction_amount");
    up = decay("noise_up_time");
    down = decay("noise_down_time");
    smooth = decay("measure_smooth_time");
    trigger = decay("trigger_time");
    if (o.real("noise_up_time") <= o.real("noise_down_time"))
      o.fail("noise_up_time", "must be above noise_down_time, got {} and {}",
             o.real("noise_up_time"), o.real("noise_down_time"));
    measure = whole(rate * duration + 0.5);
    if (measure < 1) o.fail("measure_duration", "is less than a sample");
    while (size < measure) size *= 2;
    period = std::max<int64_t>(1, whole(rate / freq + 0.5));
    kept = whole(std::ceil(not_negative("search_time") * freq));
    if (kept < 1) o.fail("search_time", "must hold a measurement, got {}", o.real("search_time"));
    gap = whole(not_negative("allowed_gap") * freq + 0.5);
    before = whole(not_negative("pre_trigger_time") * rate + 0.5) + kept * period + measure;
    boots = whole(not_negative("boot_time") * freq - 0.5);
    first = std::max<int64_t>(
        1, whole(positive("hp_filter_freq") / rate * static_cast<double>(size) + 0.5));
    last = std::min(whole(positive("lp_filter_freq") / rate * static_cast<double>(size) + 0.5),
                    size / 2);
    if (last <= first) o.fail("lp_filter_freq", "leaves no frequencies above hp_filter_freq");
    low_quefrency = whole(std::ceil(rate * 0.5 / positive("lp_lifter_freq")));
    high_quefrency = std::min(whole(rate * 0.5 / positive("hp_lifter_freq")), size / 4);
    if (high_quefrency <= low_quefrency)
      o.fail("hp_lifter_freq", "leaves nothing below lp_lifter_freq");
    window = scaled(measure);
    lifter = scaled(last - first);
  }

  static std::vector<double> scaled(int64_t n) {
    std::vector<double> w = window_of("HANN", n);
    for (double& x : w) x *= 2 / std::sqrt(static_cast<double>(n));
    return w;
  }

  struct Channel {
    std::vector<double> spectrum, noise, measures;
    double mean = 0;
  };

  double measured(const double* x, Channel* c, int64_t boot) const {
    std::vector<double> buffer(static_cast<size_t>(size), 0.0);
    for (int64_t i = 0; i < measure; ++i)
      buffer[static_cast<size_t>(i)] = x[i] * window[static_cast<size_t>(i)];
    const std::vector<Complex> now = rfft(buffer);
    const double keep =
        boot >= 0 ? static_cast<double>(boot) / (1 + static_cast<double>(boot)) : smooth;
    std::vector<double> cepstrum(static_cast<size_t>(size / 2), 0.0);
    for (int64_t i = first; i < last; ++i) {
      const auto k = static_cast<size_t>(i);
      c->spectrum[k] = c->spectrum[k] * keep + std::abs(now[k]) * (1 - keep);
      const double power = c->spectrum[k] * c->spectrum[k];
      const double hold = boot >= 0 ? 0 : power > c->noise[k] ? up : down;
      c->noise[k] = c->noise[k] * hold + power * (1 - hold);
      cepstrum[k] = std::sqrt(std::max(0.0, power - reduction * c->noise[k])) *
                    lifter[static_cast<size_t>(i - first)];
    }
    const std::vector<Complex> lifted = rfft(cepstrum);
    double sum = 0;
    for (int64_t i = low_quefrency; i < high_quefrency; ++i)
      sum += std::norm(lifted[static_cast<size_t>(i)]);
    const double log =
        sum > 0 ? std::log(sum / static_cast<double>(high_quefrency - low_quefrency)) : -INFINITY;
    return std::max(0.0, 21 + log);
  }

  // Measurements before the trigger that belong to the voice: back from `at` over gaps.
  int64_t voiced(const std::vector<double>& measures, int64_t at) const {
    int64_t trigger_at = kept, zero = kept;
    for (int64_t j = 0; j < kept; ++j) {
      const double m = measures[static_cast<size_t>(at)];
      if (m >= level && j <= trigger_at + gap) {
        zero = trigger_at = j;
      } else if (m == 0 && trigger_at >= zero) {
        zero = j;
      }
      at = (at + kept - 1) % kept;
    }
    return std::min(kept - 1, zero);
  }

  // The sample where the voice begins; `none` when there is none.
  int64_t begin(const Signal& s, int64_t none) const {
    std::vector<Channel> channels(static_cast<size_t>(s.rows()));
    for (Channel& c : channels) {
      c.spectrum.resize(static_cast<size_t>(size));
      c.noise.resize(static_cast<size_t>(size));
      c.measures.resize(static_cast<size_t>(kept));
    }
    int64_t at = 0, boot = 0;
    for (int64_t pos = measure; pos < s.width(); pos += period) {
      bool triggered = false;
      int64_t flush = 0;
      for (int64_t r = 0; r < s.rows(); ++r) {
        Channel& c = channels[static_cast<size_t>(r)];
        const double m = measured(s.row(r) + pos - measure, &c, boot);
        c.measures[static_cast<size_t>(at)] = m;
        c.mean = c.mean * trigger + m * (1 - trigger);
        triggered = triggered || c.mean >= level;
        if (triggered) flush = std::max(flush, voiced(c.measures, at));
      }
      if (triggered)
        return std::max<int64_t>(0, pos - before + (kept - std::min(flush, kept)) * period);
      at = (at + 1) % kept;
      if (boot >= 0) boot = boot == boots ? -1 : boot + 1;
    }
    return none;
  }
};

const TransformDef kVad{
    .name = "audio.Vad",
    .doc =
        "Cuts off what lies in front of the first voice: (..., time) to (..., what is left), the "
        "channels together; a signal without a voice stays as it is. A measure of the cepstrum, "
        "measure_freq times a second, against trigger_level. ValueError: times and frequencies "
        "out of range. Source: SoX.",
    .args = {"sample_rate: int", "trigger_level: number = 7.0", "trigger_time: number = 0.25",
             "search_time: number = 1.0", "allowed_gap: number = 0.25",
             "pre_trigger_time: number = 0.0", "boot_time: number = 0.35",
             "noise_up_time: number = 0.1", "noise_down_time: number = 0.01",
             "noise_reduction_amount: number = 1.35", "measure_freq: number = 20.0",
             "measure_duration: number? = None", "measure_smooth_time: number = 0.4",
             "hp_filter_freq: number = 50.0", "lp_filter_freq: number = 6000.0",
             "hp_lifter_freq: number = 150.0", "lp_lifter_freq: number = 2000.0"},
    .make = [](const Options& o) {
      return each_signal([v = Vad(o)](const Signal& s) {
        const int64_t from = v.begin(s, 0);
        Signal out = resized(s, s.width() - from);
        for (int64_t r = 0; r < s.rows(); ++r)
          std::copy(s.row(r) + from, s.row(r) + s.width(), out.row(r));
        return out;
      });
    }};

}  // namespace

TransformDefs detection_transforms() { return {&kDetectPitchFrequency, &kVad}; }

}  // namespace mycel::data
