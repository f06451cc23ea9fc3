// Means of losses and errors.
#include <cmath>

#include "nn/metric.h"

namespace mycel::nn {
namespace {

// Sum of a term per element, divided by the number of samples (rows).
class ErrorPerSample final : public Metric {
 public:
  ErrorPerSample(const char* name, bool squared) : name_(name), squared_(squared) {}
  void clear() override { sum_ = samples_ = 0; }
  void update(std::span<const Tensor> t) override {
    expect_inputs(name_, t, 2);
    Values x(t[0], name_), y(t[1], name_);
    if (x.v.size() != y.v.size()) {
      value_error("{}: predictions {} and labels {} differ in size", name_, t[0].describe(),
                  t[1].describe());
    }
    for (size_t i = 0; i < x.v.size(); ++i) {
      double d = x.v[i] - y.v[i];
      sum_ += squared_ ? d * d : std::abs(d);
    }
    samples_ += static_cast<double>(y.rows());
  }
  Tensors eval(bool) override {
    if (samples_ == 0) no_batches(name_);
    return {number_of(sum_ / samples_)};
  }

 private:
  const char* name_;
  bool squared_;
  double sum_ = 0, samples_ = 0;
};

class MeanLoss final : public Metric {
 public:
  void clear() override { sum_ = batches_ = 0; }
  void update(std::span<const Tensor> t) override {
    expect_inputs("Loss", t, 1);
    Values x(t[0], "Loss");
    if (x.v.empty()) value_error("Loss: the loss has no elements");
    double total = 0;
    for (double v : x.v) total += v;
    sum_ += total / static_cast<double>(x.v.size());
    ++batches_;
  }
  Tensors eval(bool) override {
    if (batches_ == 0) no_batches("Loss");
    return {number_of(sum_ / batches_)};
  }

 private:
  double sum_ = 0, batches_ = 0;
};

// Cosine of every pair of rows of one matrix.
class CosineSimilarity final : public Metric {
 public:
  explicit CosineSimilarity(const Args& a)
      : dot_only_(a.string("similarity") == "dot"),
        reduction_(a.string("reduction")),
        zero_diagonal_(a.boolean("zero_diagonal")) {}
  void clear() override { result_ = Tensor(); }
  void update(std::span<const Tensor> t) override {
    expect_inputs("CosineSimilarity", t, 1);
    Values x(t[0], "CosineSimilarity");
    if (x.rank() != 2)
      value_error("CosineSimilarity: x must be [n, features], got {}", t[0].describe());
    int64_t n = x.rows(), f = x.columns();
    auto dot = [&](int64_t i, int64_t j) {
      double s = 0;
      for (int64_t k = 0; k < f; ++k) s += x.at(i, k) * x.at(j, k);
      return s;
    };
    std::vector<double> norm(n, 1), m(n * n);
    if (!dot_only_) {
      for (int64_t i = 0; i < n; ++i) norm[i] = std::sqrt(dot(i, i));
    }
    for (int64_t i = 0; i < n * n; ++i) {
      bool diagonal = i / n == i % n;
      m[i] = diagonal && zero_diagonal_ ? 0 : dot(i / n, i % n) / (norm[i / n] * norm[i % n]);
    }
    result_ = reduced(m, n);
  }
  Tensors eval(bool) override {
    if (!result_) no_batches("CosineSimilarity");
    return {result_};
  }

 private:
  Tensor reduced(const std::vector<double>& m, int64_t n) const {
    if (reduction_ == "none") return numbers_of(m, Shape{n, n});
    std::vector<double> rows(n);
    for (int64_t i = 0; i < n * n; ++i)
      rows[i / n] += m[i] / (reduction_ == "mean" ? static_cast<double>(n) : 1);
    return numbers_of(rows, Shape{n});
  }
  bool dot_only_;
  std::string reduction_;
  bool zero_diagonal_;
  Tensor result_;
};

constexpr MetricDef kMAE = {
    "MAE",
    "Sum of |prediction - label| divided by the number of samples.",
    {},
    "mae",
    [](const Args&) -> MetricPtr { return std::make_unique<ErrorPerSample>("MAE", false); }};
constexpr MetricDef kMSE = {
    "MSE",
    "Sum of (prediction - label)^2 divided by the number of samples.",
    {},
    "mse",
    [](const Args&) -> MetricPtr { return std::make_unique<ErrorPerSample>("MSE", true); }};
constexpr MetricDef kLoss = {"Loss",
                             "Mean of the losses of the batches. Batch: the loss.",
                             {},
                             "loss",
                             [](const Args&) -> MetricPtr { return std::make_unique<MeanLoss>(); }};
constexpr MetricDef kCosine = {
    "CosineSimilarity",
    "Cosine (or dot product) of every pair of rows of the last batch [n, features], then the sum "
    "or mean "
    "of each row.",
    {"similarity: str(cosine|dot) = cosine", "reduction: str(none|sum|mean) = none",
     "zero_diagonal: bool = True"},
    "cosine_similarity",
    [](const Args& a) -> MetricPtr { return std::make_unique<CosineSimilarity>(a); }};

}  // namespace

MetricDefs regression_metrics() { return {&kMAE, &kMSE, &kLoss, &kCosine}; }

}  // namespace mycel::nn
