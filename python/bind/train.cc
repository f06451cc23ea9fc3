// The training loop and checkpoints for Python. The loop is the C++ one: a Python object stands in
// for the program (steps, metrics) and gets every moment for its callbacks.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bind/data.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "train/checkpoint.h"
#include "train/model.h"

namespace mycel::bind {
namespace {

nb::list listed(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return out;
}

// `object`: set_train, train_step, eval_step, clear_metrics, add_to_metrics, metric_values, moment.
// Outputs of steps stay on the Python side, whatever their structure. Used with the GIL held.
class PythonProgram final : public train::Program {
 public:
  explicit PythonProgram(nb::object object) : object_(std::move(object)) {}
  void set_train(bool training) override { object_.attr("set_train")(training); }
  Tensors train_step(const Tensors& batch) override {
    object_.attr("train_step")(listed(batch));
    return {};
  }
  Tensors eval_step(const Tensors& batch) override {
    object_.attr("eval_step")(listed(batch));
    return {};
  }
  void clear_metrics() override { object_.attr("clear_metrics")(); }
  void add_to_metrics(const Tensors&) override { object_.attr("add_to_metrics")(); }
  train::Metrics metric_values() override {
    object_.attr("finish_metrics")();
    return {};
  }
  void after_step() override {
    if (PyErr_CheckSignals()) throw nb::python_error();
  }

 private:
  nb::object object_;
};

class PythonMoments final : public train::Callback {
 public:
  explicit PythonMoments(nb::object object) : object_(std::move(object)) {}
  void at(train::Moment m, train::RunContext& run) override {
    nb::dict d;
    d["epoch"] = run.epoch;
    d["batches"] = run.batches;
    d["step"] = run.step;
    d["position"] = run.position;
    nb::object stop = object_.attr("moment")(train::name_of(m), d);
    if (nb::cast<bool>(stop)) run.request_stop();
  }

 private:
  nb::object object_;
};

train::Progress progress_of(nb::handle o) {
  if (o.is_none()) return {};
  nb::tuple t = nb::borrow<nb::tuple>(o);
  return {nb::cast<int64_t>(t[0]),
          nb::cast<int64_t>(t[1]),
          nb::cast<int64_t>(t[2]),
          {nb::cast<uint64_t>(t[3]), nb::cast<uint64_t>(t[4])}};
}

nb::object from_progress(const train::Progress& p) {
  return nb::make_tuple(p.epoch, p.position, p.step, p.random.seed, p.random.counter);
}

// Trains with the callbacks and steps of `object`. start: (epoch, position, step, seed, counter) or
// None; only the first three count here.
void run_train(nb::object object, int64_t epochs, nb::handle dataset, nb::handle start,
               nb::handle valid, int64_t every, const std::vector<int64_t>& at,
               bool catch_interrupt) {
  PythonProgram program(object);
  train::RunContext run;
  train::Validation v{valid.is_none() ? nullptr : to_dataset(valid), every, at};
  train::Loop loop(program, {std::make_shared<PythonMoments>(object)}, run);
  loop.train(epochs, to_dataset(dataset), progress_of(start), v, catch_interrupt);
}

void run_eval(nb::object object, nb::handle dataset) {
  PythonProgram program(object);
  train::RunContext run;
  run.epochs = run.epoch = 1;
  train::Loop(program, {std::make_shared<PythonMoments>(object)}, run).eval(to_dataset(dataset));
}

void save(const std::string& path, nb::handle entries, const std::vector<std::string>& extra,
          nb::handle progress, const std::map<std::string, std::string>& metadata) {
  train::NamedTensors tensors;
  for (nb::handle o : entries) {
    nb::tuple t = nb::borrow<nb::tuple>(o);
    Tensor value = value_of(nb::object(t[1]).ptr());
    tensors.emplace_back(nb::cast<std::string>(t[0]), std::move(value));
  }
  train::SaveOptions options{.extra = extra, .progress = {}, .metadata = metadata};
  if (!progress.is_none()) options.progress = progress_of(progress);
  nb::gil_scoped_release release;
  train::save_checkpoint(path, tensors, options);
}

nb::dict load(const std::string& path) {
  train::Loaded file;
  {
    nb::gil_scoped_release release;
    file = train::load_checkpoint(path);
  }
  nb::list tensors;
  for (const auto& [name, t] : file.tensors)
    tensors.append(nb::make_tuple(name, nb::steal(wrap(t))));
  nb::dict out;
  out["tensors"] = tensors;
  out["metadata"] = nb::cast(file.metadata);
  out["extra"] = nb::cast(file.extra);
  out["progress"] = file.progress ? from_progress(*file.progress) : nb::none();
  return out;
}

std::vector<std::string> load_parameters(nb::handle into, const std::string& file,
                                         nb::handle entries, const std::vector<std::string>& extra,
                                         bool strict, bool partial) {
  std::vector<nn::Parameter> params;
  for (nb::handle o : into) params.push_back(parameter_of(o.ptr()));
  train::Loaded from;
  from.file = file;
  from.extra = extra;
  for (nb::handle o : entries) {
    nb::tuple t = nb::borrow<nb::tuple>(o);
    from.tensors.emplace_back(nb::cast<std::string>(t[0]), value_of(nb::object(t[1]).ptr()));
  }
  return train::load_parameters(params, from, {.strict = strict, .partial = partial});
}

}  // namespace

void bind_train(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("train", "The training loop and checkpoints.");
  m.def("run_train", run_train, nb::arg("program"), nb::arg("epochs"), nb::arg("dataset"),
        nb::arg("start").none(), nb::arg("valid").none(), nb::arg("every"), nb::arg("at"),
        nb::arg("catch_interrupt"));
  m.def("run_eval", run_eval, nb::arg("program"), nb::arg("dataset"));
  m.def("save", save, nb::arg("path"), nb::arg("entries"), nb::arg("extra"),
        nb::arg("progress").none(), nb::arg("metadata"));
  m.def("load", load, nb::arg("path"));
  m.def("load_parameters", load_parameters, nb::arg("into"), nb::arg("file"), nb::arg("entries"),
        nb::arg("extra"), nb::arg("strict"), nb::arg("partial"));
}

}  // namespace mycel::bind
