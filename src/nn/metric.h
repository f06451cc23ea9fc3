// Metrics: numbers that say how good a network's results are, gathered over the batches of a data
// set. Each is one record with its arguments and a function that makes its state; values are
// computed on the host in double.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "nn/args.h"

namespace mycel::nn {

class Metric {
 public:
  virtual ~Metric() = default;
  // Forgets all batches.
  virtual void clear() = 0;
  // Adds a batch: (predictions, labels) or what the metric's text says.
  virtual void update(std::span<const Tensor> batch) = 0;
  // The value so far, float64; most give one 0-d tensor. RuntimeError before the first batch.
  // `average`: one number instead of one per class, where the metric has several.
  virtual Tensors eval(bool average) = 0;
  Tensor value() { return eval(true).at(0); }
};
using MetricPtr = std::unique_ptr<Metric>;

struct MetricDef {
  const char* name = "";
  const char* doc = "";
  ir::Names args = {};
  const char* short_names = "";  // for Model(metrics={"acc"}), separated by spaces
  MetricPtr (*make)(const Args&) = nullptr;
};

// By class name or short name; ValueError with the name that was meant.
MetricPtr make_metric(const std::string& name, std::vector<Arg> positional = {},
                      const NamedArgs& named = {});
const MetricDef* find_metric(const std::string& name);
const std::vector<const MetricDef*>& all_metrics();
std::shared_ptr<const Signature> signature_of(const MetricDef& def);

// A tensor as doubles on the host.
struct Values {
  Values(const Tensor& t, const char* what);
  const Shape shape;
  std::vector<double> v;
  int rank() const { return shape.rank(); }
  int64_t rows() const { return shape.rank() ? shape[0] : 1; }
  int64_t columns() const { return shape.rank() ? shape.size(1, shape.rank()) : 1; }
  double at(int64_t row, int64_t column) const { return v[row * columns() + column]; }
};
// Labels as class indices: [n], or the place of the largest element of each row of [n, c].
std::vector<int64_t> class_indices(const Values& labels);
int64_t argmax(const double* row, int64_t n);
// Exactly `n` tensors; TypeError naming the metric.
void expect_inputs(const char* metric, std::span<const Tensor> batch, size_t n);
// A 0-d float64 tensor, and a 1-d one.
Tensor number_of(double v);
Tensor numbers_of(const std::vector<double>& v, const Shape& shape);
[[noreturn]] void no_batches(const char* metric);

using MetricDefs = std::vector<const MetricDef*>;
MetricDefs classification_metrics();  // metrics/*.cc
MetricDefs confusion_metrics();
MetricDefs curve_metrics();
MetricDefs regression_metrics();
MetricDefs segmentation_metrics();
MetricDefs text_metrics();

}  // namespace mycel::nn
