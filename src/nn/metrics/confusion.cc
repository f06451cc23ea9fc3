// The confusion matrix, and what is read off it.
#include <cmath>
#include <map>

#include "nn/metric.h"

namespace mycel::nn {
namespace {

class ConfusionMatrix final : public Metric {
 public:
  explicit ConfusionMatrix(const Args& a)
      : n_(a.positive("num_classes")),
        normalize_(a.string("normalize")),
        threshold_(a.real("threshold")) {
    clear();
  }
  void clear() override {
    counts_.assign(n_ * n_, 0);
    any_ = false;
  }
  void update(std::span<const Tensor> t) override {
    expect_inputs("ConfusionMatrix", t, 2);
    Values p(t[0], "ConfusionMatrix"), y(t[1], "ConfusionMatrix");
    std::vector<int64_t> got, want;
    if (p.rank() == y.rank() + 1) {
      for (int64_t i = 0; i < p.rows(); ++i)
        got.push_back(argmax(&p.v[i * p.columns()], p.columns()));
    } else if (p.shape == y.shape) {
      bool scores = is_float(t[0].dtype());
      for (double v : p.v) got.push_back(scores ? v >= threshold_ : static_cast<int64_t>(v));
    } else {
      value_error("ConfusionMatrix: predictions {} do not fit labels {}", t[0].describe(),
                  t[1].describe());
    }
    for (double v : y.v) want.push_back(static_cast<int64_t>(v));
    for (size_t i = 0; i < want.size(); ++i) {
      if (std::min(want[i], got[i]) < 0 || std::max(want[i], got[i]) >= n_) {
        value_error("ConfusionMatrix: class {} is outside the {} classes",
                    std::max(want[i], got[i]), n_);
      }
      counts_[want[i] * n_ + got[i]] += 1;
    }
    any_ = true;
  }
  Tensors eval(bool) override {
    if (!any_) no_batches("ConfusionMatrix");
    std::vector<double> m = counts_;
    for (int64_t i = 0; i < n_ * n_; ++i) {
      double total = total_for(i / n_, i % n_);
      if (normalize_ != "no_norm") m[i] = total > 0 ? counts_[i] / total : 0;
    }
    return {numbers_of(m, Shape{n_, n_})};
  }

 private:
  double total_for(int64_t row, int64_t column) const {
    double s = 0;
    for (int64_t i = 0; i < n_ * n_; ++i) {
      bool counts = normalize_ == "all" || (normalize_ == "target" && i / n_ == row) ||
                    (normalize_ == "prediction" && i % n_ == column);
      if (counts) s += counts_[i];
    }
    return s;
  }
  int64_t n_;
  std::string normalize_;
  double threshold_;
  std::vector<double> counts_;
  bool any_ = false;
};

// True and false positives and negatives of one class.
struct Quarters {
  double tp, fp, tn, fn;
};

double over(double a, double b) { return b != 0 ? a / b : std::nan(""); }

double rate(const std::string& name, const Quarters& q) {
  double p = q.tp + q.fn, n = q.fp + q.tn;
  double tpr = over(q.tp, p), tnr = over(q.tn, n), ppv = over(q.tp, q.tp + q.fp),
         npv = over(q.tn, q.tn + q.fn);
  double fpr = over(q.fp, n), fnr = over(q.fn, p);
  static const std::map<std::string, int> index = {{"sensitivity", 0},
                                                   {"recall", 0},
                                                   {"hit_rate", 0},
                                                   {"tpr", 0},
                                                   {"true_positive_rate", 0},
                                                   {"specificity", 1},
                                                   {"selectivity", 1},
                                                   {"tnr", 1},
                                                   {"true_negative_rate", 1},
                                                   {"precision", 2},
                                                   {"ppv", 2},
                                                   {"positive_predictive_value", 2},
                                                   {"npv", 3},
                                                   {"negative_predictive_value", 3},
                                                   {"fnr", 4},
                                                   {"miss_rate", 4},
                                                   {"false_negative_rate", 4},
                                                   {"fpr", 5},
                                                   {"fall_out", 5},
                                                   {"false_positive_rate", 5},
                                                   {"fdr", 6},
                                                   {"false_discovery_rate", 6},
                                                   {"for", 7},
                                                   {"false_omission_rate", 7},
                                                   {"pt", 8},
                                                   {"prevalence_threshold", 8},
                                                   {"ts", 9},
                                                   {"csi", 9},
                                                   {"threat_score", 9},
                                                   {"critical_success_index", 9},
                                                   {"acc", 10},
                                                   {"accuracy", 10},
                                                   {"ba", 11},
                                                   {"balanced_accuracy", 11},
                                                   {"f1", 12},
                                                   {"f1_score", 12},
                                                   {"mcc", 13},
                                                   {"matthews_correlation_coefficient", 13},
                                                   {"fm", 14},
                                                   {"fowlkes_mallows_index", 14},
                                                   {"bm", 15},
                                                   {"informedness", 15},
                                                   {"bookmaker_informedness", 15},
                                                   {"mk", 16},
                                                   {"markedness", 16},
                                                   {"deltap", 16}};
  auto it = index.find(name);
  if (it == index.end())
    value_error("ConfusionMatrixMetric: 'metric_name' '{}' is not known", name);
  switch (it->second) {
    case 0:
      return tpr;
    case 1:
      return tnr;
    case 2:
      return ppv;
    case 3:
      return npv;
    case 4:
      return fnr;
    case 5:
      return fpr;
    case 6:
      return 1 - ppv;
    case 7:
      return 1 - npv;
    case 8:
      return over(std::sqrt(tpr * fpr) - fpr, tpr - fpr);
    case 9:
      return over(q.tp, q.tp + q.fn + q.fp);
    case 10:
      return over(q.tp + q.tn, p + n);
    case 11:
      return (tpr + tnr) / 2;
    case 12:
      return over(2 * q.tp, 2 * q.tp + q.fn + q.fp);
    case 13:
      return over(q.tp * q.tn - q.fp * q.fn, std::sqrt((q.tp + q.fp) * p * n * (q.tn + q.fn)));
    case 14:
      return std::sqrt(ppv * tpr);
    case 15:
      return tpr + tnr - 1;
    default:
      return ppv + npv - 1;
  }
}

class ConfusionMatrixMetric final : public Metric {
 public:
  explicit ConfusionMatrixMetric(const Args& a)
      : skip_channel_(a.boolean("skip_channel")),
        name_(a.string("metric_name")),
        per_sample_(a.boolean("calculation_method")),
        decrease_(a.string("decrease")) {
    rate(name_, {1, 1, 1, 1});  // refuses unknown names now
  }
  void clear() override { samples_.clear(); }
  void update(std::span<const Tensor> t) override {
    expect_inputs("ConfusionMatrixMetric", t, 2);
    Values p(t[0], "ConfusionMatrixMetric"), y(t[1], "ConfusionMatrixMetric");
    if (!(p.shape == y.shape) || p.rank() < 2) {
      value_error(
          "ConfusionMatrixMetric: predictions {} and labels {} must both be one-hot [n, classes, "
          "...]",
          t[0].describe(), t[1].describe());
    }
    int64_t classes = p.shape[1], area = p.shape.size(2, p.rank()),
            first = skip_channel_ && classes > 1;
    for (int64_t i = 0; i < p.rows(); ++i) {
      std::vector<Quarters> sample;
      for (int64_t c = first; c < classes; ++c) {
        Quarters q{};
        for (int64_t k = 0; k < area; ++k) {
          int64_t at = (i * classes + c) * area + k;
          bool a = p.v[at] != 0, b = y.v[at] != 0;
          (a ? (b ? q.tp : q.fp) : (b ? q.fn : q.tn)) += 1;
        }
        sample.push_back(q);
      }
      samples_.push_back(sample);
    }
  }
  Tensors eval(bool) override {
    if (samples_.empty()) no_batches("ConfusionMatrixMetric");
    return {number_of(per_sample_ ? mean_of_rates() : rate_of_means())};
  }

 private:
  // Metric first, then the mean over what is a number.
  double mean_of_rates() const {
    double sum = 0, count = 0;
    for (const auto& sample : samples_) {
      for (const Quarters& q : sample) {
        double r = rate(name_, q);
        if (std::isnan(r)) continue;
        sum += r;
        ++count;
      }
    }
    if (decrease_.starts_with("sum")) return sum;
    return count > 0 ? sum / count : 0;
  }
  double rate_of_means() const {
    double classes = static_cast<double>(samples_[0].size());
    double scale =
        decrease_.starts_with("sum") ? 1 : 1 / (static_cast<double>(samples_.size()) * classes);
    Quarters total{};
    for (const auto& sample : samples_) {
      for (const Quarters& q : sample) {
        total.tp += q.tp * scale;
        total.fp += q.fp * scale;
        total.tn += q.tn * scale;
        total.fn += q.fn * scale;
      }
    }
    return rate(name_, total);
  }
  bool skip_channel_;
  std::string name_;
  bool per_sample_;
  std::string decrease_;
  std::vector<std::vector<Quarters>> samples_;
};

constexpr MetricDef kConfusionMatrix = {
    "ConfusionMatrix",
    "counts[label][prediction], divided by row (target), column (prediction) or all sums when "
    "normalized. "
    "Batch: classes [n] or scores [n, classes] (or, for two classes, probabilities [n] against "
    "threshold), labels [n].",
    {"num_classes: int", "normalize: str(no_norm|target|prediction|all) = no_norm",
     "threshold: float = 0.5"},
    "confusion_matrix",
    [](const Args& a) -> MetricPtr { return std::make_unique<ConfusionMatrix>(a); }};
constexpr MetricDef kConfusionMatrixMetric = {
    "ConfusionMatrixMetric",
    "A rate (sensitivity, precision, f1_score, ...) of one-hot predictions and labels [n, classes, "
    "...]. skip_channel leaves class 0 out; calculation_method takes the rate of each sample "
    "before the mean.",
    {"skip_channel: bool = True", "metric_name: str = sensitivity",
     "calculation_method: bool = False",
     "decrease: str(mean|sum|mean_batch|sum_batch|mean_channel|sum_channel) = mean"},
    "confusion_matrix_metric",
    [](const Args& a) -> MetricPtr { return std::make_unique<ConfusionMatrixMetric>(a); }};

}  // namespace

MetricDefs confusion_metrics() { return {&kConfusionMatrix, &kConfusionMatrixMetric}; }

}  // namespace mycel::nn
