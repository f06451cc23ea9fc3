// Overlap and distance of regions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "nn/metric.h"

namespace mycel::nn {
namespace {

class Dice final : public Metric {
 public:
  explicit Dice(const Args& a) : smooth_(a.positive_real("smooth")) {}
  void clear() override { sum_ = batches_ = 0; }
  void update(std::span<const Tensor> t) override {
    expect_inputs("Dice", t, 2);
    Values p(t[0], "Dice"), y(t[1], "Dice");
    if (p.v.size() != y.v.size()) {
      value_error("Dice: predictions {} and labels {} differ in size", t[0].describe(),
                  t[1].describe());
    }
    double overlap = 0, sizes = 0;
    for (size_t i = 0; i < p.v.size(); ++i) {
      overlap += p.v[i] * y.v[i];
      sizes += p.v[i] * p.v[i] + y.v[i] * y.v[i];
    }
    sum_ += 2 * overlap / (sizes + smooth_);
    ++batches_;
  }
  Tensors eval(bool) override {
    if (batches_ == 0) no_batches("Dice");
    return {number_of(sum_ / batches_)};
  }

 private:
  double smooth_, sum_ = 0, batches_ = 0;
};

using Point = std::vector<double>;

// Elements of a region that touch its outside (or the border of the image).
std::vector<Point> surface(const std::vector<char>& in, const Shape& s) {
  std::vector<Point> out;
  std::vector<int64_t> stride(s.rank(), 1);
  for (int d = s.rank() - 2; d >= 0; --d) stride[d] = stride[d + 1] * s[d + 1];
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i]) continue;
    bool edge = false;
    Point p(s.rank());
    for (int d = 0; d < s.rank(); ++d) {
      int64_t at = static_cast<int64_t>(i) / stride[d] % s[d];
      p[d] = static_cast<double>(at);
      edge |= at == 0 || at == s[d] - 1 || !in[i - stride[d]] || !in[i + stride[d]];
    }
    if (edge) out.push_back(p);
  }
  return out;
}

double distance(const Point& a, const Point& b, const std::string& how) {
  double sum = 0, top = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    double x = std::abs(a[d] - b[d]);
    sum += how == "euclidean" ? x * x : x;
    top = std::max(top, x);
  }
  return how == "euclidean" ? std::sqrt(sum) : how == "chessboard" ? top : sum;
}

// For each point of `from`, the way to the nearest of `to`.
std::vector<double> nearest(const std::vector<Point>& from, const std::vector<Point>& to,
                            const std::string& how) {
  std::vector<double> out;
  for (const Point& p : from) {
    double best = std::numeric_limits<double>::infinity();
    for (const Point& q : to) best = std::min(best, distance(p, q, how));
    out.push_back(best);
  }
  return out;
}

// Distances between the surfaces of a label's region in a prediction and in the truth.
class SurfaceMetric : public Metric {
 public:
  SurfaceMetric(const char* name, std::string how) : name_(name), how_(std::move(how)) {}
  void clear() override { known_ = false; }
  void update(std::span<const Tensor> t) override {
    expect_inputs(name_, t, 3);
    Values p(t[0], name_), y(t[1], name_), label(t[2], name_);
    if (!(p.shape == y.shape)) {
      value_error("{}: prediction {} and truth {} differ in shape", name_, t[0].describe(),
                  t[1].describe());
    }
    if (label.v.size() != 1) value_error("{}: the third input is the label, one number", name_);
    std::vector<char> a, b;
    for (double v : p.v) a.push_back(v == label.v[0]);
    for (double v : y.v) b.push_back(v == label.v[0]);
    std::vector<Point> sa = surface(a, p.shape), sb = surface(b, p.shape);
    there_ = nearest(sa, sb, how_);
    back_ = nearest(sb, sa, how_);
    known_ = true;
  }

 protected:
  const char* name_;
  std::string how_;
  bool known_ = false;
  std::vector<double> there_, back_;  // prediction to truth, and the other way
};

double mean(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return v.empty() ? std::nan("") : s / static_cast<double>(v.size());
}

class MeanSurfaceDistance final : public SurfaceMetric {
 public:
  explicit MeanSurfaceDistance(const Args& a)
      : SurfaceMetric("MeanSurfaceDistance", a.string("distance_metric")),
        symmetric_(a.boolean("symmetric")) {}
  Tensors eval(bool) override {
    if (!known_) no_batches(name_);
    if (!symmetric_) return {number_of(mean(there_))};
    std::vector<double> both = there_;
    both.insert(both.end(), back_.begin(), back_.end());
    return {number_of(mean(both))};
  }

 private:
  bool symmetric_;
};

class RootMeanSquareDistance final : public SurfaceMetric {
 public:
  explicit RootMeanSquareDistance(const Args& a)
      : SurfaceMetric("RootMeanSquareDistance", a.string("distance_metric")),
        symmetric_(a.boolean("symmetric")) {}
  Tensors eval(bool) override {
    if (!known_) no_batches(name_);
    std::vector<double> all = there_;
    if (symmetric_) all.insert(all.end(), back_.begin(), back_.end());
    for (double& d : all) d *= d;
    return {number_of(std::sqrt(mean(all)))};
  }

 private:
  bool symmetric_;
};

class HausdorffDistance final : public SurfaceMetric {
 public:
  explicit HausdorffDistance(const Args& a)
      : SurfaceMetric("HausdorffDistance", a.string("distance_metric")),
        directed_(a.boolean("directed")) {
    percentile_ = a.none("percentile") ? 100 : a.within("percentile", 0, 100);
  }
  Tensors eval(bool) override {
    if (!known_) no_batches(name_);
    double d = at_percentile(there_);
    if (!directed_) d = std::max(d, at_percentile(back_));
    return {number_of(d)};
  }

 private:
  // Linear interpolation between the neighbouring ranks.
  double at_percentile(std::vector<double> v) const {
    if (v.empty()) return std::nan("");
    std::sort(v.begin(), v.end());
    double rank = percentile_ / 100 * static_cast<double>(v.size() - 1);
    auto low = static_cast<size_t>(rank);
    size_t high = std::min(low + 1, v.size() - 1);
    return v[low] + (rank - static_cast<double>(low)) * (v[high] - v[low]);
  }
  bool directed_;
  double percentile_;
};

constexpr const char* kDistance = "distance_metric: str(euclidean|chessboard|taxicab) = euclidean";

constexpr MetricDef kDice = {"Dice",
                             "Mean over batches of 2 sum(x y) / (sum(x^2) + sum(y^2) + smooth).",
                             {"smooth: float = 1e-5"},
                             "dice",
                             [](const Args& a) -> MetricPtr { return std::make_unique<Dice>(a); }};
constexpr MetricDef kMeanSurface = {
    "MeanSurfaceDistance",
    "Mean distance from the prediction's surface to the truth's (symmetric: and back) of the "
    "region "
    "with a label. Batch: prediction, truth, label.",
    {"symmetric: bool = False", kDistance},
    "mean_surface_distance",
    [](const Args& a) -> MetricPtr { return std::make_unique<MeanSurfaceDistance>(a); }};
constexpr MetricDef kRootMeanSquare = {
    "RootMeanSquareDistance",
    "Root of the mean squared distance from the prediction's surface to the truth's (symmetric: "
    "and "
    "back). Batch: prediction, truth, label.",
    {"symmetric: bool = False", kDistance},
    "root_mean_square_distance",
    [](const Args& a) -> MetricPtr { return std::make_unique<RootMeanSquareDistance>(a); }};
constexpr MetricDef kHausdorff = {
    "HausdorffDistance",
    "Largest (or the percentile-th) distance from one surface to the other, both ways unless "
    "directed. "
    "crop restricts the work to the regions and changes no value. Batch: prediction, truth, label.",
    {kDistance, "percentile: float? = None", "directed: bool = False", "crop: bool = True"},
    "hausdorff_distance",
    [](const Args& a) -> MetricPtr { return std::make_unique<HausdorffDistance>(a); }};

}  // namespace

MetricDefs segmentation_metrics() { return {&kDice, &kMeanSurface, &kRootMeanSquare, &kHausdorff}; }

}  // namespace mycel::nn
