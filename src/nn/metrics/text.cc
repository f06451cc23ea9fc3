// Metrics of language models.
#include <cmath>
#include <map>

#include "nn/metric.h"

namespace mycel::nn {
namespace {

class Perplexity final : public Metric {
 public:
  explicit Perplexity(const Args& a) {
    if (!a.none("ignore_label")) ignored_ = a.integer("ignore_label");
    ignores_ = !a.none("ignore_label");
  }
  void clear() override { sum_ = count_ = 0; }
  void update(std::span<const Tensor> t) override {
    if (t.size() < 2 || t.size() % 2)
      type_error("Perplexity: update takes pairs (probabilities, labels), got {}", t.size());
    // All predictions first, then all labels.
    size_t half = t.size() / 2;
    for (size_t i = 0; i < half; ++i) add(t[i], t[half + i]);
  }
  Tensors eval(bool) override {
    if (count_ == 0) no_batches("Perplexity");
    return {number_of(std::exp(sum_ / count_))};
  }

 private:
  void add(const Tensor& probabilities, const Tensor& labels) {
    Values p(probabilities, "Perplexity"), y(labels, "Perplexity");
    int64_t classes = p.rank() ? p.shape[-1] : 1;
    if (static_cast<int64_t>(y.v.size()) * classes != static_cast<int64_t>(p.v.size())) {
      value_error("Perplexity: probabilities {} do not fit labels {}", probabilities.describe(),
                  labels.describe());
    }
    for (size_t i = 0; i < y.v.size(); ++i) {
      auto label = static_cast<int64_t>(y.v[i]);
      if (ignores_ && label == ignored_) continue;
      if (label < 0 || label >= classes)
        value_error("Perplexity: label {} is outside the {} classes", label, classes);
      sum_ -= std::log(std::max(1e-10, p.v[i * classes + label]));
      ++count_;
    }
  }
  bool ignores_ = false;
  int64_t ignored_ = 0;
  double sum_ = 0, count_ = 0;
};

constexpr MetricDef kPerplexity = {
    "Perplexity",
    "exp of the mean of -log p[label] (p at least 1e-10) over all labels but ignore_label. Batch: "
    "probabilities "
    "[..., classes] and labels [...].",
    {"ignore_label: int? = None"},
    "perplexity",
    [](const Args& a) -> MetricPtr { return std::make_unique<Perplexity>(a); }};

}  // namespace

MetricDefs text_metrics() { return {&kPerplexity}; }

}  // namespace mycel::nn
