#include "data/audio/filterbanks.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "data/audio/audio.h"

namespace mycel::data {

using std::numbers::pi;

namespace {

constexpr double kSlaneyStep = 200.0 / 3, kSlaneyBreak = 1000;
const double kSlaneyLog = std::log(6.4) / 27;

double to_mel(double hz, bool slaney) {
  if (!slaney) return 2595 * std::log10(1 + hz / 700);
  if (hz < kSlaneyBreak) return hz / kSlaneyStep;
  return kSlaneyBreak / kSlaneyStep + std::log(hz / kSlaneyBreak) / kSlaneyLog;
}
double to_hz(double mel, bool slaney) {
  if (!slaney) return 700 * (std::pow(10, mel / 2595) - 1);
  const double first = kSlaneyBreak / kSlaneyStep;
  return mel < first ? mel * kSlaneyStep : kSlaneyBreak * std::exp(kSlaneyLog * (mel - first));
}

double step(double low, double high, int64_t i, int64_t n) {
  return n > 1 ? low + (high - low) * static_cast<double>(i) / static_cast<double>(n - 1) : low;
}

// Triangles from each point over the next to the one behind it.
Matrix triangles(int64_t freqs, int64_t rate, const std::vector<double>& points) {
  Matrix m;
  m.rows = freqs;
  m.columns = static_cast<int64_t>(points.size()) - 2;
  m.x.resize(static_cast<size_t>(m.rows * m.columns));
  for (int64_t f = 0; f < freqs; ++f) {
    const double hz = step(0, static_cast<double>(rate / 2), f, freqs);
    for (int64_t c = 0; c < m.columns; ++c) {
      const double* p = points.data() + c;
      const double up = (hz - p[0]) / (p[1] - p[0]), down = (p[2] - hz) / (p[2] - p[1]);
      m.at(f, c) = std::max(0.0, std::min(up, down));
    }
  }
  return m;
}

}  // namespace

Matrix mel_filters(int64_t freqs, double low, double high, int64_t mels, int64_t rate,
                   const std::string& norm, const std::string& type) {
  const bool slaney = type == "SLANEY";
  std::vector<double> points(static_cast<size_t>(mels + 2));
  for (int64_t i = 0; i < mels + 2; ++i) {
    points[static_cast<size_t>(i)] =
        to_hz(step(to_mel(low, slaney), to_mel(high, slaney), i, mels + 2), slaney);
  }
  Matrix m = triangles(freqs, rate, points);
  for (int64_t c = 0; c < mels && norm == "SLANEY"; ++c) {
    const double area = 2 / (points[static_cast<size_t>(c + 2)] - points[static_cast<size_t>(c)]);
    for (int64_t f = 0; f < freqs; ++f) m.at(f, c) *= area;
  }
  return m;
}

Matrix linear_filters(int64_t freqs, double low, double high, int64_t filters, int64_t rate) {
  std::vector<double> points(static_cast<size_t>(filters + 2));
  for (int64_t i = 0; i < filters + 2; ++i)
    points[static_cast<size_t>(i)] = step(low, high, i, filters + 2);
  return triangles(freqs, rate, points);
}

Matrix cosines(int64_t coefficients, int64_t mels, const std::string& norm) {
  Matrix m;
  m.rows = mels;
  m.columns = coefficients;
  m.x.resize(static_cast<size_t>(mels * coefficients));
  const auto n = static_cast<double>(mels);
  for (int64_t i = 0; i < mels; ++i) {
    for (int64_t k = 0; k < coefficients; ++k) {
      const double y = std::cos(pi / n * (static_cast<double>(i) + 0.5) * static_cast<double>(k));
      const double first = k == 0 ? std::sqrt(0.5) : 1;
      m.at(i, k) = norm == "ORTHO" ? y * first * std::sqrt(2 / n) : y * 2;
    }
  }
  return m;
}

Signal times(const Signal& s, const Matrix& m) {
  if (s.shape[-2] != m.rows)
    value_error("expected {} frequencies, (..., {}, time), got {}", m.rows, m.rows, s.shape.str());
  Signal out;
  out.dtype = s.dtype;
  out.shape = s.shape;
  out.shape.set(-2, m.columns);
  const int64_t n = s.width(), matrices = s.rows() / m.rows;
  out.x.resize(static_cast<size_t>(matrices * m.columns * n));
  for (int64_t g = 0; g < matrices; ++g) {
    for (int64_t r = 0; r < m.rows; ++r) {
      const double* x = s.row(g * m.rows + r);
      for (int64_t c = 0; c < m.columns; ++c) {
        const double w = m.at(r, c);
        if (w == 0) continue;
        double* y = out.row(g * m.columns + c);
        for (int64_t i = 0; i < n; ++i) y[i] += w * x[i];
      }
    }
  }
  return out;
}

namespace {

// A record that gives a matrix in place of a row.
std::shared_ptr<Transform> gives(const Matrix& m) {
  Signal s;
  s.x.assign(m.x.begin(), m.x.end());
  s.shape = {m.rows, m.columns};
  s.dtype = DType::kFloat32;
  return of_row([v = to_value(s)](Row* values, Philox&) { *values = {v}; }, false);
}

void check_range(const Options& o) {
  if (o.real("f_min") < 0) o.fail("f_min", "must not be negative, got {}", o.real("f_min"));
  if (o.real("f_max") <= 0) o.fail("f_max", "must be positive, got {}", o.real("f_max"));
  if (o.real("f_min") > o.real("f_max"))
    o.fail("f_min", "must not be above f_max, got {} and {}", o.real("f_min"), o.real("f_max"));
}

const TransformDef kMelscale{
    .name = "audio.melscale_fbanks",
    .doc =
        "Triangular filters over the mel scale, float32 (n_freqs, n_mels): those of HTK or of the "
        "Auditory Toolbox (SLANEY); norm SLANEY gives each the area 1. ValueError: f_min above "
        "f_max, a negative f_min, numbers that are not positive.",
    .args = {"n_freqs: int", "f_min: number", "f_max: number", "n_mels: int", "sample_rate: int",
             "norm: NormType = NONE", "mel_type: MelType = HTK"},
    .make = [](const Options& o) {
      check_range(o);
      return gives(mel_filters(o.positive("n_freqs"), o.real("f_min"), o.real("f_max"),
                               o.positive("n_mels"), o.positive("sample_rate"), o.choice("norm"),
                               o.choice("mel_type")));
    }};

const TransformDef kLinear{
    .name = "audio.linear_fbanks",
    .doc =
        "Triangular filters over frequency, float32 (n_freqs, n_filter). ValueError: f_min above "
        "f_max, a negative f_min, numbers that are not positive.",
    .args = {"n_freqs: int", "f_min: number", "f_max: number", "n_filter: int", "sample_rate: int"},
    .make = [](const Options& o) {
      check_range(o);
      return gives(linear_filters(o.positive("n_freqs"), o.real("f_min"), o.real("f_max"),
                                  o.positive("n_filter"), o.positive("sample_rate")));
    }};

const TransformDef kDct{
    .name = "audio.create_dct",
    .doc =
        "The cosine transform of type 2 as a matrix, float32 (n_mels, n_mfcc), orthonormal by "
        "norm ORTHO. ValueError: numbers that are not positive.",
    .args = {"n_mfcc: int", "n_mels: int", "norm: NormMode = NONE"},
    .make = [](const Options& o) {
      return gives(cosines(o.positive("n_mfcc"), o.positive("n_mels"), o.choice("norm")));
    }};

}  // namespace

TransformDefs filterbank_transforms() { return {&kMelscale, &kLinear, &kDct}; }

}  // namespace mycel::data
