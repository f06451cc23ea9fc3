// The receiver operating characteristic.
#include <algorithm>
#include <numeric>

#include "nn/metric.h"

namespace mycel::nn {
namespace {

class Roc final : public Metric {
 public:
  explicit Roc(const Args& a) {
    classes_ = a.none("class_num") ? 1 : a.positive("class_num");
    positive_ = a.none("pos_label") ? 1 : a.integer("pos_label");
  }
  void clear() override {
    scores_.clear();
    labels_.clear();
  }
  void update(std::span<const Tensor> t) override {
    expect_inputs("ROC", t, 2);
    Values p(t[0], "ROC"), y(t[1], "ROC");
    int64_t columns = classes_ > 1 ? classes_ : 1;
    if (p.v.size() != y.v.size() * static_cast<size_t>(columns)) {
      value_error("ROC: predictions {} do not fit labels {} and {} classes", t[0].describe(),
                  t[1].describe(), classes_);
    }
    scores_.insert(scores_.end(), p.v.begin(), p.v.end());
    labels_.insert(labels_.end(), y.v.begin(), y.v.end());
  }
  // Three tensors per class: false positive rate, true positive rate, thresholds.
  Tensors eval(bool) override {
    if (labels_.empty()) no_batches("ROC");
    Tensors out;
    for (int64_t c = 0; c < classes_; ++c) curve(c, out);
    return out;
  }

 private:
  void curve(int64_t c, Tensors& out) const {
    std::vector<size_t> order(labels_.size());
    std::iota(order.begin(), order.end(), 0);
    auto score = [&](size_t i) { return scores_[i * classes_ + c]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return score(a) > score(b); });
    double wanted = static_cast<double>(classes_ > 1 ? c : positive_);
    std::vector<double> fps{0}, tps{0}, thresholds{score(order[0]) + 1};
    double tp = 0, fp = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      (labels_[order[k]] == wanted ? tp : fp) += 1;
      if (k + 1 < order.size() && score(order[k]) == score(order[k + 1])) continue;
      fps.push_back(fp);
      tps.push_back(tp);
      thresholds.push_back(score(order[k]));
    }
    if (fp == 0 || tp == 0)
      value_error("ROC: class {} needs samples inside and outside of it", wanted);
    for (double& v : fps) v /= fp;
    for (double& v : tps) v /= tp;
    Shape s{static_cast<int64_t>(fps.size())};
    for (const auto* v : {&fps, &tps, &thresholds}) out.push_back(numbers_of(*v, s));
  }
  int64_t classes_ = 1, positive_ = 1;
  std::vector<double> scores_, labels_;
};

constexpr MetricDef kRoc = {
    "ROC",
    "False positive rates, true positive rates and thresholds, a point for every distinct score. "
    "Batch: scores [n] and "
    "labels [n] (pos_label is the positive one), or scores [n, class_num] and class labels [n].",
    {"class_num: int? = None", "pos_label: int? = None"},
    "roc",
    [](const Args& a) -> MetricPtr { return std::make_unique<Roc>(a); }};

}  // namespace

MetricDefs curve_metrics() { return {&kRoc}; }

}  // namespace mycel::nn
