// The training loop and checkpoints for Python. The loop is the C++ one: a Python object stands in
// for the program (steps, metrics) and gets every moment for its callbacks.
#include <algorithm>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bind/compiled.h"
#include "bind/data.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "data/reader.h"
#include "train/checkpoint.h"
#include "train/model.h"

namespace mycel::bind {
namespace {

nb::list listed(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return out;
}

bool same_types(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.dtype() == y.dtype() && x.shape() == y.shape();
  });
}

// Steps of `object`, with the GIL released: first(batch) makes one from Python and gives the
// compiled function behind it or None; batches of the same types then run through that alone, and
// last(results) gets the results of the last one.
void run_steps(nb::handle object, const train::Program::NextBatch& next) {
  Tensors batch;
  bool more = next(&batch);
  while (more) {
    std::shared_ptr<Compiled> compiled;
    {
      nb::gil_scoped_acquire gil;
      compiled = to_compiled(object.attr("first")(listed(batch)));
    }
    Tensors like = batch, results;
    bool direct = false;
    while ((more = next(&batch)) && compiled && same_types(batch, like)) {
      results = run_unlocked(*compiled, batch);
      direct = true;
    }
    if (direct) {
      nb::gil_scoped_acquire gil;
      object.attr("last")(listed(results));
    }
  }
}

// `object`: set_train, train_step, eval_step, clear_metrics, add_to_metrics, metric_values, moment,
// and sink, the steps of run_steps. Outputs of steps stay on the Python side, whatever their
// structure. Runs with the GIL released.
class PythonProgram final : public train::Program {
 public:
  explicit PythonProgram(nb::object object) : object_(std::move(object)) {}
  void set_train(bool training) override {
    nb::gil_scoped_acquire gil;
    object_.attr("set_train")(training);
  }
  Tensors train_step(const Tensors& batch) override {
    nb::gil_scoped_acquire gil;
    object_.attr("train_step")(listed(batch));
    return {};
  }
  Tensors train_steps(const NextBatch& next) override {
    run_steps(object_, next);
    return {};
  }
  Tensors eval_step(const Tensors& batch) override {
    nb::gil_scoped_acquire gil;
    object_.attr("eval_step")(listed(batch));
    return {};
  }
  void clear_metrics() override {
    nb::gil_scoped_acquire gil;
    object_.attr("clear_metrics")();
  }
  void add_to_metrics(const Tensors&) override {
    nb::gil_scoped_acquire gil;
    object_.attr("add_to_metrics")();
  }
  train::Metrics metric_values() override {
    nb::gil_scoped_acquire gil;
    object_.attr("finish_metrics")();
    return {};
  }
  void after_step() override {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals()) throw nb::python_error();
  }

 private:
  nb::object object_;
};

class PythonMoments final : public train::Callback {
 public:
  explicit PythonMoments(nb::object object) : object_(std::move(object)) {}
  void at(train::Moment m, train::RunContext& run) override {
    nb::gil_scoped_acquire gil;
    nb::dict d;
    d["epoch"] = run.epoch;
    d["batches"] = run.batches;
    d["step"] = run.step;
    d["steps"] = run.steps;
    d["position"] = run.position;
    nb::object stop = object_.attr("moment")(train::name_of(m), d);
    if (nb::cast<bool>(stop)) run.request_stop();
  }

 private:
  nb::object object_;
};

// The rows of a dataset, read ahead epoch after epoch, for data_sink.
class Sink {
 public:
  explicit Sink(nb::handle dataset)
      : rows_(std::make_unique<data::Reader>(to_dataset(dataset), data::Position{}, options())) {}
  ~Sink() { close(); }
  // Up to `count` steps (all of the epoch when negative); gives how many there were.
  int64_t run(nb::handle steps, int64_t count) {
    if (!rows_) fail(ErrorKind::kRuntime, "data_sink: it has been closed");
    nb::gil_scoped_release release;
    int64_t done = 0;
    run_steps(steps, [&](Tensors* batch) {
      if (done == count) return false;
      if (done > 0) check_signals();
      if (!(count < 0 ? rows_->next(batch) : rows_->next_of_any_epoch(batch))) return false;
      ++done;
      return true;
    });
    return done;
  }
  void close() {
    nb::gil_scoped_release release;
    rows_.reset();
  }

 private:
  // Reads the next batch while one is used.
  static data::ReaderOptions options() { return {.workers = 1, .poll = check_signals}; }
  static void check_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals()) throw nb::python_error();
  }
  std::unique_ptr<data::Reader> rows_;
};

train::NamedTensors named_tensors(nb::handle entries) {
  train::NamedTensors out;
  for (nb::handle o : entries) {
    nb::tuple t = nb::borrow<nb::tuple>(o);
    Tensor value = value_of(nb::object(t[1]).ptr());
    out.emplace_back(nb::cast<std::string>(t[0]), std::move(value));
  }
  return out;
}

nb::list from_named(const train::NamedTensors& tensors) {
  nb::list out;
  for (const auto& [name, t] : tensors) out.append(nb::make_tuple(name, nb::steal(wrap(t))));
  return out;
}

train::Progress progress_of(nb::handle o) {
  if (o.is_none()) return {};
  nb::tuple t = nb::borrow<nb::tuple>(o);
  return {nb::cast<int64_t>(t[0]),
          nb::cast<int64_t>(t[1]),
          nb::cast<int64_t>(t[2]),
          {nb::cast<uint64_t>(t[3]), nb::cast<uint64_t>(t[4])},
          named_tensors(nb::object(t[5]))};
}

nb::object from_progress(const train::Progress& p) {
  return nb::make_tuple(p.epoch, p.position, p.step, p.random.seed, p.random.counter,
                        from_named(p.state));
}

// Trains with the callbacks and steps of `object`. start: (epoch, position, step, seed, counter,
// state); the random numbers do not count here, and the callbacks have their state already.
void run_train(nb::object object, int64_t epochs, nb::handle dataset, nb::handle start,
               nb::handle valid, int64_t every, const std::vector<int64_t>& at, bool valid_sink,
               bool catch_interrupt, int64_t sink) {
  PythonProgram program(object);
  train::RunContext run;
  train::Validation v{valid.is_none() ? nullptr : to_dataset(valid), every, at, valid_sink};
  train::Loop loop(program, {std::make_shared<PythonMoments>(object)}, run);
  data::DatasetPtr rows = to_dataset(dataset);
  train::Progress from = progress_of(start);
  nb::gil_scoped_release release;
  loop.train(epochs, rows, from, v, catch_interrupt, sink);
}

void run_eval(nb::object object, nb::handle dataset, bool sink) {
  PythonProgram program(object);
  train::RunContext run;
  run.epochs = run.epoch = 1;
  train::Loop loop(program, {std::make_shared<PythonMoments>(object)}, run);
  data::DatasetPtr rows = to_dataset(dataset);
  nb::gil_scoped_release release;
  loop.eval(rows, sink);
}

void save(const std::string& path, nb::handle entries, const std::vector<std::string>& extra,
          nb::handle progress, const std::map<std::string, std::string>& metadata) {
  train::NamedTensors tensors = named_tensors(entries);
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
  nb::dict out;
  out["tensors"] = from_named(file.tensors);
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
  from.tensors = named_tensors(entries);
  return train::load_parameters(params, from, {.strict = strict, .partial = partial});
}

}  // namespace

void bind_train(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("train", "The training loop and checkpoints.");
  m.def("run_train", run_train, nb::arg("program"), nb::arg("epochs"), nb::arg("dataset"),
        nb::arg("start").none(), nb::arg("valid").none(), nb::arg("every"), nb::arg("at"),
        nb::arg("valid_sink"), nb::arg("catch_interrupt"), nb::arg("sink"));
  nb::class_<Sink>(m, "Sink")
      .def(nb::init<nb::handle>(), nb::arg("dataset"))
      .def("run", &Sink::run, nb::arg("steps"), nb::arg("count"))
      .def("close", &Sink::close);
  m.def("run_eval", run_eval, nb::arg("program"), nb::arg("dataset"), nb::arg("sink"));
  m.def("save", save, nb::arg("path"), nb::arg("entries"), nb::arg("extra"),
        nb::arg("progress").none(), nb::arg("metadata"));
  m.def("load", load, nb::arg("path"));
  m.def("load_parameters", load_parameters, nb::arg("into"), nb::arg("file"), nb::arg("entries"),
        nb::arg("extra"), nb::arg("strict"), nb::arg("partial"));
}

}  // namespace mycel::bind
