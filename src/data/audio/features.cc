// Features of spectrograms: decibels, differences, running means, parts of complex numbers.
#include "data/audio/features.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/audio/audio.h"
#include "data/audio/border.h"

namespace mycel::data {

Samples padded(const double* x, int64_t n, int64_t before, int64_t behind,
               const std::string& border) {
  Samples out(static_cast<size_t>(before + n + behind));
  std::copy(x, x + n, out.begin() + before);
  if (border == "CONSTANT") return out;
  for (int64_t i = 0; i < before + n + behind; ++i) {
    if (i == before) i += n;  // what is there already
    if (i == before + n + behind) break;
    int64_t at = i - before;
    if (border == "EDGE" || n == 1) {
      at = std::clamp<int64_t>(at, 0, n - 1);
    } else if (border == "SYMMETRIC") {
      at = ((at % (2 * n)) + 2 * n) % (2 * n);
      at = at < n ? at : 2 * n - 1 - at;
    } else {
      const int64_t period = 2 * (n - 1);
      at = ((at % period) + period) % period;
      at = at < n ? at : period - at;
    }
    out[static_cast<size_t>(i)] = x[at];
  }
  return out;
}

void to_decibels(Signal* s, double factor, double reference, double least, double range) {
  const double shift = factor * std::log10(std::max(least, reference));
  for (double& x : s->x) x = factor * std::log10(std::max(x, least)) - shift;
  // The range counts from the maximum of a spectrogram with its channels.
  const int rank = s->shape.rank();
  const int64_t group =
      rank > 2 ? s->shape.size(rank - 3, rank) : static_cast<int64_t>(s->x.size());
  for (size_t from = 0; from < s->x.size(); from += static_cast<size_t>(group)) {
    const auto begin = s->x.begin() + static_cast<int64_t>(from), end = begin + group;
    const double low = *std::max_element(begin, end) - range;
    std::for_each(begin, end, [low](double& x) { x = std::max(x, low); });
  }
}

namespace {

const TransformDef kAmplitudeToDB{
    .name = "audio.AmplitudeToDB",
    .doc =
        "10 log10(max(x, amin) / max(ref_value, amin)) of powers, twice that of magnitudes; what "
        "lies more than top_db below the maximum of a spectrogram and its channels is raised to "
        "that. Numbers (..., freq, time). ValueError: an amin, ref_value or top_db that is not "
        "positive.",
    .args = {"stype: ScaleType = POWER", "ref_value: number = 1.0", "amin: number = 1e-10",
             "top_db: number = 80.0"},
    .make = [](const Options& o) {
      for (const char* name : {"ref_value", "amin", "top_db"}) {
        if (!(o.real(name) > 0)) o.fail(name, "must be positive, got {}", o.real(name));
      }
      return each_signal(
          [factor = o.choice("stype") == "POWER" ? 10.0 : 20.0, ref = o.real("ref_value"),
           least = o.real("amin"), range = o.real("top_db")](Signal s) {
            to_decibels(&s, factor, ref, least, range);
            return s;
          },
          2);
    }};

const TransformDef kDBToAmplitude{
    .name = "audio.DBToAmplitude",
    .doc = "ref (10^(x / 10))^power: power 1 for powers, 0.5 for magnitudes. Any numbers.",
    .args = {"ref: number", "power: number"},
    .make = [](const Options& o) {
      return each_sample([ref = o.real("ref"), power = o.real("power")](double x) {
        return ref * std::pow(10, x / 10 * power);
      });
    }};

// Complex numbers as pairs in the last dim.
Signal read_complex(const Value& v) {
  Signal s = read_signal(v);
  if (s.width() != 2)
    value_error("expected complex numbers, a last dim of 2, got {}", v.describe());
  return s;
}

Value of_pairs(const Signal& s, double (*f)(double re, double im), double power) {
  Signal out;
  out.shape = s.shape;
  out.shape.erase(s.shape.rank() - 1);
  out.dtype = s.dtype;
  out.x.reserve(s.x.size() / 2);
  for (size_t i = 0; i < s.x.size(); i += 2) {
    const double y = f(s.x[i], s.x[i + 1]);
    out.x.push_back(power == 1 ? y : std::pow(y, power));
  }
  return to_value(out);
}

double size_of_pair(double re, double im) { return std::hypot(re, im); }
double angle_of_pair(double re, double im) { return std::atan2(im, re); }

const TransformDef kAngle{
    .name = "audio.Angle",
    .doc = "Angles of complex numbers (..., 2), in radians: (...). ValueError: no last dim of 2.",
    .args = {},
    .make = [](const Options&) {
      return each_value(
          [](const Value& v) -> Value { return of_pairs(read_complex(v), angle_of_pair, 1); });
    }};

double not_negative(const Options& o) {
  const double power = o.real("power");
  if (power < 0) o.fail("power", "must not be negative, got {}", power);
  return power;
}

const TransformDef kComplexNorm{
    .name = "audio.ComplexNorm",
    .doc =
        "Sizes of complex numbers (..., 2), to a power: (...). ValueError: no last dim of 2, a "
        "negative power.",
    .args = {"power: number = 1.0"},
    .make = [](const Options& o) {
      return each_value([power = not_negative(o)](const Value& v) -> Value {
        return of_pairs(read_complex(v), size_of_pair, power);
      });
    }};

const TransformDef kMagphase{
    .name = "audio.Magphase",
    .doc =
        "Sizes of complex numbers (..., 2), to a power, and their angles: two columns (...). "
        "ValueError: no last dim of 2, a negative power.",
    .args = {"power: number = 1.0"},
    .make = [](const Options& o) {
      return of_row(
          [power = not_negative(o)](Row* values, Philox&) {
            if (values->size() != 1) value_error("expected one column, got {}", values->size());
            const Signal s = read_complex((*values)[0]);
            *values = {of_pairs(s, size_of_pair, power), of_pairs(s, angle_of_pair, 1)};
          },
          false);
    }};

const TransformDef kComputeDeltas{
    .name = "audio.ComputeDeltas",
    .doc =
        "Differences along time: sum_k k x[t + k] / sum_k k^2 for k up to (win_length - 1) / 2 on "
        "either side. Numbers (..., time). ValueError: a win_length below 3.",
    .args = {"win_length: int = 5", "pad_mode: BorderType = EDGE"},
    .make = [](const Options& o) {
      const int64_t window = o.integer("win_length");
      if (window < 3) o.fail("win_length", "must be 3 or more, got {}", window);
      const int64_t side = (window - 1) / 2;
      const double sum = static_cast<double>(side * (side + 1) * (2 * side + 1)) / 3;
      return each_row([=, border = o.choice("pad_mode")](double* x, int64_t n) {
        const Samples p = padded(x, n, side, side, border);
        for (int64_t i = 0; i < n; ++i) {
          double y = 0;
          for (int64_t k = -side; k <= side; ++k)
            y += static_cast<double>(k) * p[static_cast<size_t>(i + side + k)];
          x[i] = y / sum;
        }
      });
    }};

struct Cmn {
  int64_t window, least;
  bool center, variances;

  // The frames whose mean is taken off frame t of n: [first, last).
  std::pair<int64_t, int64_t> frames(int64_t t, int64_t n) const {
    int64_t first = center ? t - window / 2 : t - window, last = center ? first + window : t + 1;
    if (first < 0) {
      last -= first;
      first = 0;
    }
    if (!center && last > t) last = std::max(t + 1, least);
    if (last > n) {
      first = std::max<int64_t>(0, first - (last - n));
      last = n;
    }
    return {first, last};
  }
  // A matrix (time, freq).
  void normalize(double* x, int64_t n, int64_t width) const {
    const std::vector<double> in(x, x + n * width);
    for (int64_t t = 0; t < n; ++t) {
      const auto [first, last] = frames(t, n);
      const auto count = static_cast<double>(last - first);
      for (int64_t f = 0; f < width; ++f) {
        double sum = 0, squares = 0;
        for (int64_t k = first; k < last; ++k) {
          const double y = in[static_cast<size_t>(k * width + f)];
          sum += y;
          squares += y * y;
        }
        const double mean = sum / count;
        double& y = x[t * width + f];
        y -= mean;
        if (!variances) continue;
        const double variance = squares / count - mean * mean;
        y = last - first == 1 ? 0 : y / std::sqrt(std::max(variance, 1e-30));
      }
    }
  }
};

const TransformDef kSlidingWindowCmn{
    .name = "audio.SlidingWindowCmn",
    .doc =
        "Takes off the mean of a window of cmn_window frames around (center) or in front of each "
        "frame, of min_cmn_window frames at least; norm_vars divides by the deviation as well. "
        "Numbers (..., time, freq). ValueError: a negative window. Source: Kaldi.",
    .args = {"cmn_window: int = 600", "min_cmn_window: int = 100", "center: bool = False",
             "norm_vars: bool = False"},
    .make = [](const Options& o) {
      const Cmn c{o.integer("cmn_window"), o.integer("min_cmn_window"), o.boolean("center"),
                  o.boolean("norm_vars")};
      if (c.window < 0) o.fail("cmn_window", "must not be negative, got {}", c.window);
      if (c.least < 0) o.fail("min_cmn_window", "must not be negative, got {}", c.least);
      return each_signal(
          [c](Signal s) {
            const int64_t n = s.shape[-2];
            for (int64_t r = 0; r < s.rows(); r += n) c.normalize(s.row(r), n, s.width());
            return s;
          },
          2);
    }};

}  // namespace

TransformDefs feature_transforms() {
  return {&kAmplitudeToDB, &kDBToAmplitude, &kAngle,           &kComplexNorm,
          &kMagphase,      &kComputeDeltas, &kSlidingWindowCmn};
}

}  // namespace mycel::data
