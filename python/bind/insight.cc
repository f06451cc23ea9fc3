// Records of runs for Python: insight/recorder.h.
#include <memory>
#include <new>

#include <nanobind/stl/string.h>

#include "base/error.h"
#include "bind/compiled.h"
#include "bind/convert.h"
#include "bind/data.h"
#include "bind/tensor_object.h"
#include "insight/dataset_json.h"
#include "insight/recorder.h"
#include "runtime/trace.h"

namespace mycel::bind {

void bind_insight_records(nb::module_& m);

namespace {

using insight::Recorder;

void make(Recorder* at, const std::string& folder, const std::string& prefix,
          const std::string& suffix, uint64_t max_file_bytes) {
  nb::gil_scoped_release release;
  insight::RecorderOptions options;
  options.prefix = prefix;
  options.suffix = suffix;
  options.max_file_bytes = max_file_bytes;
  new (at) Recorder(folder, options);
}

// A call that may wait for room in the queue.
template <void (Recorder::*method)(const std::string&, const Tensor&, int64_t)>
void record_tensor(Recorder& r, const std::string& tag, nb::handle value, int64_t step) {
  Tensor t = to_tensor(value.ptr(), tag.c_str());
  nb::gil_scoped_release release;
  (r.*method)(tag, t, step);
}

void scalar(Recorder& r, const std::string& tag, double value, int64_t step) {
  nb::gil_scoped_release release;
  r.scalar(tag, value, step);
}

// The mean of a tensor, as the loss of a step; gives it.
double mean(Recorder& r, const std::string& tag, nb::handle value, int64_t step) {
  Tensor t = runtime::concrete(to_tensor(value.ptr(), "loss"), "loss");
  double sum = 0;
  for (int64_t i = 0; i < t.size(); ++i) sum += element_as_double(t.raw(), t.dtype(), i);
  const double found = sum / static_cast<double>(t.size());
  scalar(r, tag, found, step);
  return found;
}

void hparams(Recorder& r, nb::dict values) {
  insight::HParams out;
  for (auto [key, value] : values) {
    insight::HParam& to = out[nb::cast<std::string>(key)];
    if (PyBool_Check(value.ptr())) {
      to = nb::cast<bool>(value);
    } else if (PyUnicode_Check(value.ptr())) {
      to = nb::cast<std::string>(value);
    } else {
      to = to_real(value.ptr(), "hyper-parameter");
    }
  }
  r.hparams(out);
}

void graph(Recorder& r, const std::string& tag, nb::handle compiled) {
  std::shared_ptr<Compiled> c = to_compiled(compiled);
  if (!c) type_error("a compiled function was expected, got None");
  r.graph_and_passes(tag, shared_graph_of(c));
}

void dataset(Recorder& r, const std::string& tag, nb::handle pipeline) {
  r.record("dataset_graph/" + tag, insight::dataset_json(*to_dataset(pipeline)));
}

void watch_dataset(Recorder& r, const std::string& tag, nb::handle pipeline) {
  r.watch("dataset_graph/" + tag, insight::states_of(to_dataset(pipeline)));
}

// The tensor's value alone, when a transform watches it.
nb::object plain(nb::handle value) {
  return nb::steal(wrap(runtime::concrete(to_tensor(value.ptr(), "summary"), "summary")));
}

void flush(Recorder& r) {
  nb::gil_scoped_release release;
  r.flush();
}
void close(Recorder& r) {
  nb::gil_scoped_release release;
  r.close();
}

}  // namespace

void bind_insight(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("insight", "Records of runs.");
  nb::class_<Recorder>(m, "Recorder")
      .def("__init__", make, nb::arg("folder"), nb::arg("prefix"), nb::arg("suffix"),
           nb::arg("max_file_bytes"))
      .def_prop_ro("path", &Recorder::path)
      .def_prop_ro("full", &Recorder::full)
      .def("scalar", scalar, nb::arg("tag"), nb::arg("value"), nb::arg("step"))
      .def("mean", mean, nb::arg("tag"), nb::arg("value"), nb::arg("step"))
      .def("histogram", record_tensor<&Recorder::histogram>, nb::arg("tag"), nb::arg("value"),
           nb::arg("step"))
      .def("image", record_tensor<&Recorder::image>, nb::arg("tag"), nb::arg("value"),
           nb::arg("step"))
      .def("tensor", record_tensor<&Recorder::tensor>, nb::arg("tag"), nb::arg("value"),
           nb::arg("step"))
      .def("watch_dataset", watch_dataset, nb::arg("tag"), nb::arg("pipeline"))
      .def("text", &Recorder::text, nb::arg("tag"), nb::arg("value"), nb::arg("step"))
      .def("record", &Recorder::record, nb::arg("tag"), nb::arg("json"), nb::arg("step") = 0)
      .def("hparams", hparams, nb::arg("values"))
      .def("graph", graph, nb::arg("tag"), nb::arg("compiled"))
      .def("dataset", dataset, nb::arg("tag"), nb::arg("pipeline"))
      .def("ended", &Recorder::ended, nb::arg("success"))
      .def("flush", flush)
      .def("close", close);
  bind_insight_records(m);
  m.def("environment", insight::environment_json);
  m.def("plain", plain, nb::arg("value"));
}

}  // namespace mycel::bind
