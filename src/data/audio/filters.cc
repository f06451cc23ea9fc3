// Recursive filters. The two-pole sections follow R. Bristow-Johnson's "Cookbook formulae for audio
// EQ biquad filter coefficients" and SoX.
#include "data/audio/filters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/audio/audio.h"
#include "data/audio/signal.h"

namespace mycel::data {

using std::numbers::pi;

void filter(const std::vector<double>& b, const std::vector<double>& a, double* x, int64_t n) {
  // Direct form II, transposed.
  const size_t order = a.size();
  std::vector<double> state(order, 0.0);
  for (int64_t i = 0; i < n; ++i) {
    const double in = x[i];
    const double out = b[0] / a[0] * in + state[0];
    for (size_t k = 1; k < order; ++k)
      state[k - 1] = b[k] / a[0] * in - a[k] / a[0] * out + (k + 1 < order ? state[k] : 0.0);
    x[i] = out;
  }
}

namespace {

struct Section {
  double b0, b1, b2, a0, a1, a2;
};

std::shared_ptr<Transform> section(const Options& o, const Section& s) {
  if (s.a0 == 0) value_error("{}: a0 must not be 0", o.owner());
  const std::vector<double> b{s.b0, s.b1, s.b2}, a{s.a0, s.a1, s.a2};
  return each_row(
      [b, a](double* x, int64_t n) {
        filter(b, a, x, n);
        clamp(x, n);
      },
      Accepts::kFloats);
}

// Angle of a frequency, and the width of the band.
struct Place {
  double w, cos, sin, alpha;
  Place(const Options& o, std::string_view freq) {
    const int64_t rate = o.integer("sample_rate");
    if (rate == 0) o.fail("sample_rate", "must not be 0");
    w = 2 * pi * o.real(freq) / static_cast<double>(rate);
    cos = std::cos(w);
    sin = std::sin(w);
    const double q = o.real("Q");
    if (!(q > 0 && q <= 1)) o.fail("Q", "must be in (0, 1], got {}", q);
    alpha = sin / 2 / q;
  }
};

// Shelves: gain A = 10^(gain / 40) below or above a frequency.
Section low_shelf(double A, double cos, double alpha) {
  const double root = 2 * std::sqrt(A) * alpha, less = (A - 1) * cos, more = (A + 1) * cos;
  return {A * (A + 1 - less + root), 2 * A * (A - 1 - more), A * (A + 1 - less - root),
          A + 1 + less + root,       -2 * (A - 1 + more),    A + 1 + less - root};
}
Section high_shelf(double A, double cos, double alpha) {
  const double root = 2 * std::sqrt(A) * alpha, less = (A - 1) * cos, more = (A + 1) * cos;
  return {A * (A + 1 + less + root), -2 * A * (A - 1 + more), A * (A + 1 + less - root),
          A + 1 - less + root,       2 * (A - 1 - more),      A + 1 - less - root};
}

#define MYCEL_FILTER_TAIL                                                                        \
  " Floats (..., time), results in [-1, 1]. ValueError: sample_rate 0, Q outside (0, 1], fewer " \
  "than 1 dim. Source: R. Bristow-Johnson, Audio EQ Cookbook."

const TransformDef kAllpass{
    .name = "audio.AllpassBiquad",
    .doc = "A two-pole all-pass filter: phases change, loudness does not." MYCEL_FILTER_TAIL,
    .args = {"sample_rate: int", "central_freq: number", "Q: number = 0.707"},
    .make = [](const Options& o) {
      const Place p(o, "central_freq");
      return section(o,
                     {1 - p.alpha, -2 * p.cos, 1 + p.alpha, 1 + p.alpha, -2 * p.cos, 1 - p.alpha});
    }};

const TransformDef kBand{
    .name = "audio.BandBiquad",
    .doc = "A two-pole band filter; noise: for un-pitched sounds." MYCEL_FILTER_TAIL,
    .args = {"sample_rate: int", "central_freq: number", "Q: number = 0.707",
             "noise: bool = False"},
    .make = [](const Options& o) {
      const Place p(o, "central_freq");
      const double width = o.real("central_freq") / o.real("Q");
      const double a2 = std::exp(-2 * pi * width / static_cast<double>(o.integer("sample_rate")));
      const double a1 = -4 * a2 / (1 + a2) * p.cos;
      double b0 = std::sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2);
      if (o.boolean("noise")) b0 = std::sqrt(((1 + a2) * (1 + a2) - a1 * a1) * (1 - a2) / (1 + a2));
      return section(o, {b0, 0, 0, 1, a1, a2});
    }};

const TransformDef kBandpass{
    .name = "audio.BandpassBiquad",
    .doc =
        "A two-pole band-pass filter; const_skirt_gain: peak gain Q, else 0 dB." MYCEL_FILTER_TAIL,
    .args = {"sample_rate: int", "central_freq: number", "Q: number = 0.707",
             "const_skirt_gain: bool = False"},
    .make = [](const Options& o) {
      const Place p(o, "central_freq");
      const double b = o.boolean("const_skirt_gain") ? p.sin / 2 : p.alpha;
      return section(o, {b, 0, -b, 1 + p.alpha, -2 * p.cos, 1 - p.alpha});
    }};

const TransformDef kBandreject{
    .name = "audio.BandrejectBiquad",
    .doc = "A two-pole filter that takes a band away." MYCEL_FILTER_TAIL,
    .args = {"sample_rate: int", "central_freq: number", "Q: number = 0.707"},
    .make = [](const Options& o) {
      const Place p(o, "central_freq");
      return section(o, {1, -2 * p.cos, 1, 1 + p.alpha, -2 * p.cos, 1 - p.alpha});
    }};

const TransformDef kBass{.name = "audio.BassBiquad",
                         .doc = "`gain` dB more or less below a frequency." MYCEL_FILTER_TAIL,
                         .args = {"sample_rate: int", "gain: number",
                                  "central_freq: number = 100.0", "Q: number = 0.707"},
                         .make = [](const Options& o) {
                           const Place p(o, "central_freq");
                           return section(
                               o, low_shelf(std::pow(10, o.real("gain") / 40), p.cos, p.alpha));
                         }};

const TransformDef kTreble{.name = "audio.TrebleBiquad",
                           .doc = "`gain` dB more or less above a frequency." MYCEL_FILTER_TAIL,
                           .args = {"sample_rate: int", "gain: number",
                                    "central_freq: number = 3000", "Q: number = 0.707"},
                           .make = [](const Options& o) {
                             const Place p(o, "central_freq");
                             return section(
                                 o, high_shelf(std::pow(10, o.real("gain") / 40), p.cos, p.alpha));
                           }};

const TransformDef kEqualizer{
    .name = "audio.EqualizerBiquad",
    .doc = "`gain` dB more or less around a frequency." MYCEL_FILTER_TAIL,
    .args = {"sample_rate: int", "center_freq: number", "gain: number", "Q: number = 0.707"},
    .make = [](const Options& o) {
      const Place p(o, "center_freq");
      const double A = std::pow(10, o.real("gain") / 40);
      return section(o, {1 + p.alpha * A, -2 * p.cos, 1 - p.alpha * A, 1 + p.alpha / A, -2 * p.cos,
                         1 - p.alpha / A});
    }};

const TransformDef kHighpass{
    .name = "audio.HighpassBiquad",
    .doc = "A two-pole filter that takes away what is below a frequency." MYCEL_FILTER_TAIL,
    .args = {"sample_rate: int", "cutoff_freq: number", "Q: number = 0.707"},
    .make = [](const Options& o) {
      const Place p(o, "cutoff_freq");
      const double b = (1 + p.cos) / 2;
      return section(o, {b, -2 * b, b, 1 + p.alpha, -2 * p.cos, 1 - p.alpha});
    }};

const TransformDef kLowpass{
    .name = "audio.LowpassBiquad",
    .doc = "A two-pole filter that takes away what is above a frequency." MYCEL_FILTER_TAIL,
    .args = {"sample_rate: int", "cutoff_freq: number", "Q: number = 0.707"},
    .make = [](const Options& o) {
      const Place p(o, "cutoff_freq");
      const double b = (1 - p.cos) / 2;
      return section(o, {b, 2 * b, b, 1 + p.alpha, -2 * p.cos, 1 - p.alpha});
    }};

const TransformDef kDeemph{
    .name = "audio.DeemphBiquad",
    .doc =
        "Takes back the emphasis of a compact disc (IEC 60908). Floats (..., time), results in "
        "[-1, 1]. ValueError: a sample_rate other than 44100 and 48000.",
    .args = {"sample_rate: int"},
    .make = [](const Options& o) {
      const int64_t rate = o.integer("sample_rate");
      if (rate != 44100 && rate != 48000)
        o.fail("sample_rate", "must be 44100 or 48000, got {}", rate);
      const bool cd = rate == 44100;
      const double w = 2 * pi * (cd ? 5283 : 5356) / static_cast<double>(rate);
      const double A = std::pow(10, (cd ? -9.477 : -9.62) / 40), slope = cd ? 0.4845 : 0.479;
      const double alpha = std::sin(w) / 2 * std::sqrt((A + 1 / A) * (1 / slope - 1) + 2);
      return section(o, high_shelf(A, std::cos(w), alpha));
    }};

const TransformDef kRiaa{
    .name = "audio.RiaaBiquad",
    .doc =
        "Takes back the equalization of a record (RIAA), 0 dB at 1 kHz. Floats (..., time), "
        "results in [-1, 1]. ValueError: a sample_rate other than 44100, 48000, 88200, 96000.",
    .args = {"sample_rate: int"},
    .make = [](const Options& o) {
      struct Roots {
        int64_t rate;
        double z0, z1, p0, p1;
      };
      static constexpr Roots kRoots[] = {{44100, -0.2014898, 0.9233820, 0.7083149, 0.9924091},
                                         {48000, -0.1766069, 0.9321590, 0.7396325, 0.9931330},
                                         {88200, -0.1168735, 0.9648312, 0.8590646, 0.9964002},
                                         {96000, -0.1141486, 0.9676817, 0.8699137, 0.9966946}};
      const int64_t rate = o.integer("sample_rate");
      const Roots* r = std::find_if(std::begin(kRoots), std::end(kRoots),
                                    [&](const Roots& k) { return k.rate == rate; });
      if (r == std::end(kRoots))
        o.fail("sample_rate", "must be 44100, 48000, 88200 or 96000, got {}", rate);
      const double b1 = -(r->z0 + r->z1), b2 = r->z0 * r->z1;
      const double a1 = -(r->p0 + r->p1), a2 = r->p0 * r->p1;
      const double y = 2 * pi * 1000 / static_cast<double>(rate);
      const auto size = [y](double c1, double c2) {
        return std::hypot(1 + c1 * std::cos(y) + c2 * std::cos(2 * y),
                          c1 * std::sin(y) + c2 * std::sin(2 * y));
      };
      const double g = size(a1, a2) / size(b1, b2);
      return section(o, {g, b1 * g, b2 * g, 1, a1, a2});
    }};

const TransformDef kBiquad{
    .name = "audio.Biquad",
    .doc =
        "A two-pole filter: a0 y[i] = b0 x[i] + b1 x[i-1] + b2 x[i-2] - a1 y[i-1] - a2 y[i-2]. "
        "Floats (..., time), results in [-1, 1]. ValueError: a0 is 0.",
    .args = {"b0: number", "b1: number", "b2: number", "a0: number", "a1: number", "a2: number"},
    .make = [](const Options& o) {
      if (o.real("a0") == 0) o.fail("a0", "must not be 0");
      return section(
          o, {o.real("b0"), o.real("b1"), o.real("b2"), o.real("a0"), o.real("a1"), o.real("a2")});
    }};

struct Coefficients {
  std::vector<double> a, b;
  bool clamped;
  explicit Coefficients(const Options& o)
      : a(o.reals("a_coeffs")), b(o.reals("b_coeffs")), clamped(o.boolean("clamp")) {
    if (a.size() != b.size() || a.empty())
      o.fail("b_coeffs", "must be as many as a_coeffs, got {} and {}", b.size(), a.size());
    if (a[0] == 0) o.fail("a_coeffs", "must not begin with 0");
  }
};

const TransformDef kLFilter{
    .name = "audio.LFilter",
    .doc =
        "A linear filter: a[0] y[i] = sum_k b[k] x[i-k] - sum_{k>0} a[k] y[i-k], coefficients of "
        "the lowest delay first. Floats (..., time), results in [-1, 1] when `clamp`. ValueError: "
        "a_coeffs and b_coeffs of different length, a[0] is 0.",
    .args = {"a_coeffs: numbers", "b_coeffs: numbers", "clamp: bool = True"},
    .make =
        [](const Options& o) {
          return each_row(
              [c = Coefficients(o)](double* x, int64_t n) {
                filter(c.b, c.a, x, n);
                if (c.clamped) clamp(x, n);
              },
              Accepts::kFloats);
        },
};

const TransformDef kFiltfilt{
    .name = "audio.Filtfilt",
    .doc =
        "A linear filter forward and then backward, so that no phase changes. Floats (..., time), "
        "results in [-1, 1] when `clamp`. ValueError: a_coeffs and b_coeffs of different length, "
        "a[0] is 0.",
    .args = {"a_coeffs: numbers", "b_coeffs: numbers", "clamp: bool = True"},
    .make =
        [](const Options& o) {
          return each_row(
              [c = Coefficients(o)](double* x, int64_t n) {
                for (int pass = 0; pass < 2; ++pass) {
                  filter(c.b, c.a, x, n);
                  std::reverse(x, x + n);
                }
                if (c.clamped) clamp(x, n);
              },
              Accepts::kFloats);
        },
};

}  // namespace

TransformDefs filter_transforms() {
  return {&kAllpass,  &kBand,    &kBandpass, &kBandreject, &kBass,   &kTreble,  &kEqualizer,
          &kHighpass, &kLowpass, &kDeemph,   &kRiaa,       &kBiquad, &kLFilter, &kFiltfilt};
}

}  // namespace mycel::data
