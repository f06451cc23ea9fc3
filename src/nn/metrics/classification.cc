// Shares of right answers.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/metric.h"

namespace mycel::nn {
namespace {

constexpr const char* kEvalType = "eval_type: str(classification|multilabel) = classification";

// Predictions and labels of one batch as sets of classes per sample, in the two published forms:
// classification: scores [n, c] and indices [n] or one-hot rows; multilabel: both 0/1 of shape [n,
// c].
struct Batch {
  Values scores, labels;
  bool multilabel;
  Batch(const char* metric, std::span<const Tensor> t, bool multi)
      : scores(t[0], metric), labels(t[1], metric), multilabel(multi) {
    if (scores.rank() != 2)
      value_error("{}: predictions must be [n, classes], got {}", metric, t[0].describe());
    bool same = labels.shape == scores.shape;
    bool indices = labels.rank() == 1 && labels.rows() == scores.rows();
    if (multi ? !same : !(same || indices)) {
      value_error("{}: labels {} do not fit predictions {}", metric, t[1].describe(),
                  t[0].describe());
    }
  }
  int64_t n() const { return scores.rows(); }
  int64_t classes() const { return scores.columns(); }
};

class Accuracy final : public Metric {
 public:
  explicit Accuracy(const Args& a) : multilabel_(a.string("eval_type") == "multilabel") {}
  void clear() override { right_ = total_ = 0; }
  void update(std::span<const Tensor> t) override {
    expect_inputs("Accuracy", t, 2);
    Batch b("Accuracy", t, multilabel_);
    std::vector<int64_t> want = multilabel_ ? std::vector<int64_t>{} : class_indices(b.labels);
    for (int64_t i = 0; i < b.n(); ++i) {
      if (multilabel_) {
        bool all = true;
        for (int64_t c = 0; c < b.classes(); ++c) all &= b.scores.at(i, c) == b.labels.at(i, c);
        right_ += all;
      } else {
        right_ += argmax(&b.scores.v[i * b.classes()], b.classes()) == want[i];
      }
    }
    total_ += static_cast<double>(b.n());
  }
  Tensors eval(bool) override {
    if (total_ == 0) no_batches("Accuracy");
    return {number_of(right_ / total_)};
  }

 private:
  bool multilabel_;
  double right_ = 0, total_ = 0;
};

// Per class: true positives, all predicted, all that are.
class Counts : public Metric {
 public:
  Counts(const char* name, bool multilabel) : name_(name), multilabel_(multilabel) {}
  void clear() override {
    hits_.clear();
    predicted_.clear();
    actual_.clear();
  }
  void update(std::span<const Tensor> t) override {
    expect_inputs(name_, t, 2);
    Batch b(name_, t, multilabel_);
    if (!hits_.empty() && static_cast<int64_t>(hits_.size()) != b.classes()) {
      value_error("{}: this batch has {} classes, those before had {}", name_, b.classes(),
                  hits_.size());
    }
    for (auto* v : {&hits_, &predicted_, &actual_}) v->resize(b.classes());
    if (multilabel_) {
      count_labels(b);
    } else {
      count_classes(b);
    }
  }

 protected:
  // Where both are 0 the ratio is 0.
  static double ratio(double a, double b) { return b > 0 ? a / b : 0; }
  Tensors result(const std::vector<double>& v, bool average) const {
    if (v.empty()) no_batches(name_);
    if (!average) return {numbers_of(v, Shape{static_cast<int64_t>(v.size())})};
    return {number_of(std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()))};
  }
  const char* name_;
  bool multilabel_;
  std::vector<double> hits_, predicted_, actual_;

 private:
  void count_classes(const Batch& b) {
    std::vector<int64_t> want = class_indices(b.labels);
    for (int64_t i = 0; i < b.n(); ++i) {
      int64_t got = argmax(&b.scores.v[i * b.classes()], b.classes());
      if (want[i] < 0 || want[i] >= b.classes()) {
        value_error("{}: label {} is outside the {} classes", name_, want[i], b.classes());
      }
      hits_[got] += got == want[i];
      predicted_[got] += 1;
      actual_[want[i]] += 1;
    }
  }
  void count_labels(const Batch& b) {
    for (int64_t i = 0; i < b.n(); ++i) {
      for (int64_t c = 0; c < b.classes(); ++c) {
        bool p = b.scores.at(i, c) == 1, y = b.labels.at(i, c) == 1;
        hits_[c] += p && y;
        predicted_[c] += p;
        actual_[c] += y;
      }
    }
  }
};

class Precision final : public Counts {
 public:
  explicit Precision(const Args& a) : Counts("Precision", a.string("eval_type") == "multilabel") {}
  Tensors eval(bool average) override {
    std::vector<double> v;
    for (size_t c = 0; c < hits_.size(); ++c) v.push_back(ratio(hits_[c], predicted_[c]));
    return result(v, average);
  }
};

class Recall final : public Counts {
 public:
  explicit Recall(const Args& a) : Counts("Recall", a.string("eval_type") == "multilabel") {}
  Tensors eval(bool average) override {
    std::vector<double> v;
    for (size_t c = 0; c < hits_.size(); ++c) v.push_back(ratio(hits_[c], actual_[c]));
    return result(v, average);
  }
};

class Fbeta final : public Counts {
 public:
  Fbeta(const char* name, double beta) : Counts(name, false), square_(beta * beta) {}
  Tensors eval(bool average) override {
    std::vector<double> v;
    for (size_t c = 0; c < hits_.size(); ++c) {
      v.push_back(ratio((1 + square_) * hits_[c], square_ * actual_[c] + predicted_[c]));
    }
    return result(v, average);
  }

 private:
  double square_;
};

class TopK final : public Metric {
 public:
  TopK(const char* name, int64_t k) : name_(name), k_(k) {}
  void clear() override { right_ = total_ = 0; }
  void update(std::span<const Tensor> t) override {
    expect_inputs(name_, t, 2);
    Batch b(name_, t, false);
    std::vector<int64_t> want = class_indices(b.labels);
    for (int64_t i = 0; i < b.n(); ++i) {
      const double* row = &b.scores.v[i * b.classes()];
      int64_t above = 0;  // classes that rank before the right one
      for (int64_t c = 0; c < b.classes(); ++c) {
        above += row[c] > row[want[i]] || (row[c] == row[want[i]] && c < want[i]);
      }
      right_ += above < k_;
    }
    total_ += static_cast<double>(b.n());
  }
  Tensors eval(bool) override {
    if (total_ == 0) no_batches(name_);
    return {number_of(right_ / total_)};
  }

 private:
  const char* name_;
  int64_t k_;
  double right_ = 0, total_ = 0;
};

constexpr MetricDef kAccuracy = {
    "Accuracy",
    "Share of right answers. Batch: predictions [n, classes], labels [n] or one-hot; multilabel: "
    "both 0/1 [n, "
    "classes], right when all agree.",
    {kEvalType},
    "accuracy acc",
    [](const Args& a) -> MetricPtr { return std::make_unique<Accuracy>(a); }};
constexpr MetricDef kPrecision = {
    "Precision",
    "Per class, right answers among the predicted. Batch as Accuracy.",
    {kEvalType},
    "precision",
    [](const Args& a) -> MetricPtr { return std::make_unique<Precision>(a); }};
constexpr MetricDef kRecall = {
    "Recall",
    "Per class, right answers among those that are. Batch as Accuracy.",
    {kEvalType},
    "recall",
    [](const Args& a) -> MetricPtr { return std::make_unique<Recall>(a); }};
constexpr MetricDef kFbeta = {
    "Fbeta",
    "Per class, (1 + beta^2) precision recall / (beta^2 precision + recall). Batch as Accuracy.",
    {"beta: float"},
    "fbeta",
    [](const Args& a) -> MetricPtr {
      return std::make_unique<Fbeta>("Fbeta", a.positive_real("beta"));
    }};
constexpr MetricDef kF1 = {
    "F1",
    "Per class, the harmonic mean of precision and recall. Batch as Accuracy.",
    {},
    "F1 f1",
    [](const Args&) -> MetricPtr { return std::make_unique<Fbeta>("F1", 1); }};
constexpr MetricDef kTopK = {
    "TopKCategoricalAccuracy",
    "Share of samples whose right class is among the k highest. Batch as Accuracy.",
    {"k: int"},
    "topk",
    [](const Args& a) -> MetricPtr {
      return std::make_unique<TopK>("TopKCategoricalAccuracy", a.positive("k"));
    }};
constexpr MetricDef kTop1 = {
    "Top1CategoricalAccuracy",
    "TopKCategoricalAccuracy for k 1.",
    {},
    "top_1_accuracy",
    [](const Args&) -> MetricPtr { return std::make_unique<TopK>("Top1CategoricalAccuracy", 1); }};
constexpr MetricDef kTop5 = {
    "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy for k 5.",
    {},
    "top_5_accuracy",
    [](const Args&) -> MetricPtr { return std::make_unique<TopK>("Top5CategoricalAccuracy", 5); }};

}  // namespace

MetricDefs classification_metrics() {
  return {&kAccuracy, &kPrecision, &kRecall, &kFbeta, &kF1, &kTopK, &kTop1, &kTop5};
}

}  // namespace mycel::nn
