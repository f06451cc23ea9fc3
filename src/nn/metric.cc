#include "nn/metric.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "runtime/trace.h"

namespace mycel::nn {

const std::vector<const MetricDef*>& all_metrics() {
  static const auto* all = [] {
    auto* v = new std::vector<const MetricDef*>;
    for (const MetricDefs& room : {classification_metrics(), confusion_metrics(), curve_metrics(),
                                   regression_metrics(), segmentation_metrics(), text_metrics()}) {
      v->insert(v->end(), room.begin(), room.end());
    }
    return v;
  }();
  return *all;
}

const MetricDef* find_metric(const std::string& name) {
  for (const MetricDef* d : all_metrics()) {
    if (name == d->name) return d;
    if ((" " + std::string(d->short_names) + " ").find(" " + name + " ") != std::string::npos)
      return d;
  }
  return nullptr;
}

std::shared_ptr<const Signature> signature_of(const MetricDef& def) {
  static auto* made = new std::map<const MetricDef*, std::shared_ptr<const Signature>>;
  auto& slot = (*made)[&def];
  if (!slot) slot = std::make_shared<const Signature>(def.name, def.args);
  return slot;
}

MetricPtr make_metric(const std::string& name, std::vector<Arg> positional,
                      const NamedArgs& named) {
  const MetricDef* d = find_metric(name);
  if (!d) {
    std::vector<const char*> names;
    for (const MetricDef* m : all_metrics()) names.push_back(m->name);
    std::string near = did_you_mean(name, names.data(), names.size());
    throw UserError(ErrorKind::kValue, fmt::format("there is no metric '{}'", name),
                    near.empty() ? "" : "Did you mean '" + near + "'?");
  }
  return d->make(Args(signature_of(*d), std::move(positional), named));
}

Values::Values(const Tensor& t, const char* what) : shape(t.shape()), v(t.size()) {
  Tensor c = runtime::concrete(t, what);
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = element_as_double(c.raw(), c.dtype(), static_cast<int64_t>(i));
}

int64_t argmax(const double* row, int64_t n) { return std::max_element(row, row + n) - row; }

std::vector<int64_t> class_indices(const Values& labels) {
  std::vector<int64_t> out;
  if (labels.rank() == 2 && labels.columns() > 1) {
    for (int64_t i = 0; i < labels.rows(); ++i)
      out.push_back(argmax(&labels.v[i * labels.columns()], labels.columns()));
  } else {
    for (double x : labels.v) out.push_back(static_cast<int64_t>(x));
  }
  return out;
}

void expect_inputs(const char* metric, std::span<const Tensor> batch, size_t n) {
  if (batch.size() != n) type_error("{}: update takes {} tensors, got {}", metric, n, batch.size());
}

Tensor number_of(double v) { return Tensor::scalar(DType::kFloat64, v); }
Tensor numbers_of(const std::vector<double>& v, const Shape& shape) {
  return Tensor::from(v, shape);
}

void no_batches(const char* metric) {
  fail(ErrorKind::kRuntime, "{}: no batch has been added: there is no value", metric);
}

}  // namespace mycel::nn
