#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "base/error.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "nn/metric.h"

namespace mycel::bind {
namespace {

nn::MetricPtr make_metric(const std::string& name, nb::handle args, nb::handle kwargs) {
  const nn::MetricDef* d = nn::find_metric(name);
  MYCEL_CHECK(d, "there is no metric '{}'", name);
  CallArgs call = to_args(*nn::signature_of(*d), args, kwargs);
  return nn::make_metric(name, std::move(call.positional), call.named);
}

nb::list metric_records() {
  nb::list out;
  for (const nn::MetricDef* d : nn::all_metrics()) {
    nb::dict r;
    r["name"] = d->name;
    r["doc"] = d->doc;
    r["args"] = describe(*nn::signature_of(*d));
    r["short_names"] = d->short_names;
    out.append(r);
  }
  return out;
}

}  // namespace

void bind_nn_metrics(nb::module_& m) {
  nb::class_<nn::Metric>(m, "Metric", "A metric that is computed in C++.")
      .def("clear", &nn::Metric::clear)
      .def("update",
           [](nn::Metric& metric, nb::args batch) { metric.update(to_tensors(batch, "metric")); })
      .def("eval",
           [](nn::Metric& metric, bool average) { return from_tensors(metric.eval(average)); });
  m.def("make_metric", make_metric);
  m.def("metric_records", metric_records);
}

}  // namespace mycel::bind
