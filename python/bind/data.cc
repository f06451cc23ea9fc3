#include "bind/data.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "base/threads.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "data/description.h"
#include "data/digits.h"
#include "data/gate.h"
#include "data/group_order.h"
#include "data/index_progress.h"
#include "data/operators.h"
#include "data/reader.h"

namespace mycel::bind {
namespace {

using data::DatasetPtr;
using data::OrderPtr;
using data::Row;
using data::Value;
using Names = std::vector<std::string>;

// nanobind classes are held by value: the handle holds the shared dataset.
struct Pipeline {
  DatasetPtr dataset;
};
struct Sampler {
  OrderPtr order;
};
struct PythonGate {
  data::GatePtr gate;
};

Row checked_row(nb::handle values, size_t columns, const char* what) {
  Row row = to_row(values, what);
  if (row.size() != columns)
    value_error("{}: a row has {} values for {} columns", what, row.size(), columns);
  return row;
}

// Rows by number from a Python object: source(i) gives a sequence of arrays, one a column.
class PythonRows final : public data::IndexedDataset {
 public:
  PythonRows(nb::handle get, int64_t size, Names columns, int workers)
      : get_(get.ptr()), size_(size), columns_(std::move(columns)), workers_(workers) {}
  const Names& columns() const override { return columns_; }
  int64_t size() const override { return size_; }
  int workers() const override { return workers_; }
  std::string describe() const override { return "GeneratorDataset"; }
  Row row(int64_t i) const override {
    nb::gil_scoped_acquire gil;
    return checked_row(nb::handle(get_.get())(i), columns_.size(), "GeneratorDataset");
  }

 private:
  Held get_;
  int64_t size_;
  Names columns_;
  int workers_;
};

// Rows from an iterator that Python makes anew for every epoch.
class PythonStream final : public data::StreamDataset {
 public:
  PythonStream(nb::handle make, int64_t size, Names columns)
      : make_(make.ptr()), size_(size), columns_(std::move(columns)) {}
  const Names& columns() const override { return columns_; }
  int64_t size() const override { return size_; }
  std::string describe() const override { return "GeneratorDataset(stream)"; }

 protected:
  class Stream final : public data::StreamDataset::Stream {
   public:
    Stream(nb::object iterator, size_t columns) : iterator_(iterator.ptr()), columns_(columns) {}
    bool next(Row* row) override {
      nb::gil_scoped_acquire gil;
      PyObject* o = PyIter_Next(iterator_.get());
      if (!o) {
        if (PyErr_Occurred()) throw nb::python_error();
        return false;
      }
      *row = checked_row(nb::steal(o), columns_, "GeneratorDataset");
      return true;
    }

   private:
    Held iterator_;
    size_t columns_;
  };
  std::unique_ptr<data::StreamDataset::Stream> open() const override {
    nb::gil_scoped_acquire gil;
    return std::make_unique<Stream>(nb::handle(make_.get())(), columns_.size());
  }

 private:
  Held make_;
  int64_t size_;
  Names columns_;
};

nb::tuple arrays_of(const Row& row) {
  nb::list out;
  for (const Value& v : row) out.append(from_value(v));
  return nb::tuple(out);
}

Pipeline map(const Pipeline& p, nb::list operations, Names inputs, Names outputs, uint64_t seed,
             int workers) {
  std::vector<data::TransformPtr> transforms;
  for (nb::handle o : operations) transforms.push_back(to_transform(o, "map"));
  return {data::map(p.dataset, std::move(transforms), std::move(inputs), std::move(outputs), seed,
                    workers)};
}

// f(*arrays) -> bool.
data::Predicate to_predicate(nb::handle f) {
  auto held = std::make_shared<Held>(f.ptr());
  return [held](const Row& in) {
    nb::gil_scoped_acquire gil;
    nb::object made = nb::handle(held->get())(*arrays_of(in));
    const int truth = PyObject_IsTrue(made.ptr());
    if (truth < 0) throw nb::python_error();
    return truth == 1;
  };
}

// options: {"drop_remainder", "padding": [(column, shape, number, text)], "function", "inputs",
// "outputs", "workers"}. The function is called with lists of arrays, the number of the batch and
// of the epoch, and gives a tuple of lists of arrays.
data::Batching to_batching(nb::dict options) {
  data::Batching b;
  b.drop_remainder = nb::cast<bool>(options["drop_remainder"]);
  b.workers = nb::cast<int>(options["workers"]);
  for (nb::handle o : nb::object(options["padding"])) {
    nb::tuple t = nb::borrow<nb::tuple>(o);
    b.padding.push_back({nb::cast<std::string>(t[0]), nb::cast<std::vector<int64_t>>(t[1]),
                         nb::cast<double>(t[2]), nb::cast<std::string>(t[3])});
  }
  b.inputs = nb::cast<Names>(options["inputs"]);
  b.outputs = nb::cast<Names>(options["outputs"]);
  nb::object f = nb::object(options["function"]);
  if (f.is_none()) return b;
  auto held = std::make_shared<Held>(f.ptr());
  b.function = [held](const std::vector<Row>& columns, int64_t batch, uint64_t epoch) {
    nb::gil_scoped_acquire gil;
    nb::list lists;
    for (const Row& column : columns) lists.append(nb::list(arrays_of(column)));
    std::vector<Row> out;
    nb::object made = nb::handle(held->get())(lists, batch, epoch);
    for (nb::handle column : made) out.push_back(to_row(column, "batch"));
    return out;
  };
  return b;
}

Pipeline batch(const Pipeline& p, nb::handle size, nb::dict options) {
  data::Batching b = to_batching(options);
  if (!PyCallable_Check(size.ptr()))
    return {data::batch(p.dataset, nb::cast<int64_t>(size), std::move(b))};
  auto held = std::make_shared<Held>(size.ptr());
  auto rows = [held](int64_t batch, uint64_t epoch) {
    nb::gil_scoped_acquire gil;
    return to_int(nb::handle(held->get())(batch, epoch).ptr(), "batch: 'batch_size'");
  };
  return {data::batch(p.dataset, rows, std::move(b))};
}

Pipeline bucket_batch(const Pipeline& p, Names inputs, std::vector<int64_t> boundaries,
                      std::vector<int64_t> sizes, nb::object length, bool pad_to_boundary,
                      nb::dict options) {
  data::Buckets b{std::move(inputs), std::move(boundaries), std::move(sizes), nullptr,
                  pad_to_boundary};
  if (!length.is_none()) {
    auto held = std::make_shared<Held>(length.ptr());
    b.length = [held](const Row& in) {
      nb::gil_scoped_acquire gil;
      return to_int(nb::handle(held->get())(*arrays_of(in)).ptr(),
                    "bucket_batch_by_length: the length");
    };
  }
  return {data::bucket_batch(p.dataset, std::move(b), to_batching(options))};
}

Pipeline flat_map(const Pipeline& p, nb::handle f) {
  auto held = std::make_shared<Held>(f.ptr());
  nb::gil_scoped_release release;
  return {data::flat_map(p.dataset, [held](const Row& in) {
    nb::gil_scoped_acquire gil;
    return to_dataset(nb::handle(held->get())(*arrays_of(in)));
  })};
}

// Waits in C++ with the lock of Python let go, and looks for Ctrl-C now and then. Rows that are
// being made are waited for, except those of worker processes, which end.
void poll_signals() {
  nb::gil_scoped_acquire gil;
  if (!PyErr_CheckSignals()) return;
  nb::python_error interrupted;
  nb::module_::import_("mycel.dataset._processes").attr("close_all")();
  throw interrupted;
}

// A position in a dataset that Python iterates over, epoch by epoch.
class PythonReader {
 public:
  PythonReader(const Pipeline& p, uint64_t epoch, int64_t position, int workers, int64_t ahead,
               int64_t epochs, bool gates) {
    data::ReaderOptions options{
        .workers = workers, .ahead = ahead, .poll = poll_signals, .gates = gates};
    if (epochs >= 0) options.epochs = static_cast<int64_t>(epoch) + epochs;
    reader_ = std::make_unique<data::Reader>(p.dataset, data::Position{epoch, position}, options);
  }
  ~PythonReader() { close(); }
  // The row as a list, or None at the end of an epoch.
  nb::object next(bool as_tensors) {
    if (!reader_) fail(ErrorKind::kRuntime, "dataset: the iterator was closed");
    Row row;
    bool found = false;
    {
      nb::gil_scoped_release release;
      found = reader_->next(&row);
    }
    if (!found) return nb::none();
    nb::list out;
    for (const Value& v : row) out.append(as_tensors ? tensor_from_value(v) : from_value(v));
    return out;
  }
  nb::tuple position() const {
    if (!reader_) fail(ErrorKind::kRuntime, "dataset: the iterator was closed");
    const data::Position p = reader_->position();
    return nb::make_tuple(p.epoch, p.position);
  }
  nb::dict stats() const {
    nb::dict out;
    const data::Workers::Stats s = reader_ ? reader_->stats() : data::Workers::Stats{};
    out["workers"] = s.threads;
    out["rows"] = s.rows;
    out["waits"] = s.waits;
    out["wait_seconds"] = static_cast<double>(s.wait_ns) * 1e-9;
    out["ahead"] = s.ahead;
    out["ahead_at_most"] = s.ahead_at_most;
    out["bytes"] = s.bytes;
    return out;
  }
  std::string describe_json() const {
    if (!reader_) fail(ErrorKind::kRuntime, "dataset: the iterator was closed");
    return data::describe_json(*reader_);
  }
  void close() {
    nb::gil_scoped_release release;  // workers may need the lock to end
    reader_.reset();
  }

 private:
  std::unique_ptr<data::Reader> reader_;
};

// Whatever is indexed from now on tells `f`, which may be None.
void on_index_progress(nb::handle f) {
  if (f.is_none()) return data::on_index_progress({});
  auto held = std::make_shared<Held>(f.ptr());
  data::on_index_progress([held](const std::string& what, int64_t done, int64_t total) {
    nb::gil_scoped_acquire gil;
    nb::handle(held->get())(what, done, total < 0 ? nb::none() : nb::cast(total));
  });
}

void bind_samplers(nb::module_& m) {
  nb::class_<Sampler>(m, "Sampler", "An order of rows that is computed in C++.")
      .def("__repr__", [](const Sampler& s) { return s.order->describe(); })
      .def("size", [](const Sampler& s, int64_t rows) { return s.order->size(rows); })
      .def("chained", [](const Sampler& s, const Sampler& inner) {
        return Sampler{data::chained(s.order, inner.order)};
      });
  m.def("sequential",
        [](int64_t start, int64_t count) { return Sampler{data::sequential(start, count)}; });
  m.def("random_order", [](uint64_t seed, bool replacement, int64_t count) {
    return Sampler{data::random_order(seed, replacement, count)};
  });
  m.def("subset", [](std::vector<int64_t> rows, int64_t count) {
    return Sampler{data::subset(std::move(rows), count)};
  });
  m.def("random_subset", [](std::vector<int64_t> rows, uint64_t seed, int64_t count) {
    return Sampler{data::random_subset(std::move(rows), seed, count)};
  });
  m.def("weighted",
        [](std::vector<double> weights, uint64_t seed, bool replacement, int64_t count) {
          return Sampler{data::weighted(std::move(weights), seed, replacement, count)};
        });
  m.def("per_class", [](const std::vector<int64_t>& labels, int64_t rows, uint64_t seed,
                        bool shuffled, int64_t classes, int64_t count) {
    return Sampler{data::per_class(labels, rows, seed, shuffled, classes, count)};
  });
  m.def("tabled", [](nb::handle f) {
    auto held = std::make_shared<Held>(f.ptr());
    nb::gil_scoped_release release;
    return Sampler{data::tabled([held](uint64_t epoch) {
      nb::gil_scoped_acquire gil;
      return nb::cast<std::vector<int64_t>>(nb::handle(held->get())(epoch));
    })};
  });
  m.def("sharded", [](int64_t shards, int64_t shard, bool shuffled, uint64_t seed, int64_t count,
                      int64_t offset) {
    return Sampler{data::sharded(shards, shard, shuffled, seed, count, offset)};
  });
}

std::vector<DatasetPtr> datasets_of(nb::handle pipelines) {
  std::vector<DatasetPtr> out;
  for (nb::handle p : pipelines) out.push_back(to_dataset(p));
  return out;
}

// patience() gives seconds.
void bind_gate(nb::module_& m) {
  nb::class_<PythonGate>(m, "Gate", "Lets rows pass that were released.")
      .def("__init__",
           [](PythonGate* self, std::string name, int64_t rows, nb::handle patience) {
             auto held = std::make_shared<Held>(patience.ptr());
             new (self) PythonGate{std::make_shared<data::Gate>(std::move(name), rows, [held] {
               nb::gil_scoped_acquire gil;
               return nb::cast<double>(nb::handle(held->get())());
             })};
           })
      .def("release", [](const PythonGate& g, int64_t rows) { g.gate->release(rows); });
}

void bind_pipeline(nb::module_& m) {
  m.def("set_reader_settings",
        [](int64_t ahead, size_t bytes, bool tune, int64_t interval, std::string found_prefix) {
          data::set_reader_settings({ahead, bytes, tune, interval, std::move(found_prefix)});
        });
  bind_gate(m);
  m.def("on_index_progress", on_index_progress, nb::arg("f").none());
  nb::class_<PythonReader>(m, "Reader", "The rows of a dataset, epoch by epoch.")
      .def(nb::init<const Pipeline&, uint64_t, int64_t, int, int64_t, int64_t, bool>())
      .def("next", &PythonReader::next)
      .def("position", &PythonReader::position)
      .def("stats", &PythonReader::stats)
      .def("describe_json", &PythonReader::describe_json)
      .def("close", &PythonReader::close);
  nb::class_<Pipeline>(m, "Pipeline", "A dataset that is read in C++.")
      .def("columns", [](const Pipeline& p) { return p.dataset->columns(); })
      .def("size", [](const Pipeline& p) { return p.dataset->size(); })
      .def("indexable", [](const Pipeline& p) { return p.dataset->indexable(); })
      .def("workers", [](const Pipeline& p) { return p.dataset->workers(); })
      .def("batch_size", [](const Pipeline& p) { return p.dataset->batch_size(); })
      .def("repeat_count", [](const Pipeline& p) { return p.dataset->repeat_count(); })
      .def("class_indexing", [](const Pipeline& p) { return p.dataset->class_indexing(); })
      .def("describe", [](const Pipeline& p) { return data::describe(*p.dataset); })
      .def("describe_json", [](const Pipeline& p) { return data::describe_json(*p.dataset); })
      .def("row",
           [](const Pipeline& p, uint64_t epoch, int64_t i) {
             Row row;
             {
               nb::gil_scoped_release release;
               row = p.dataset->row(epoch, i);
             }
             return nb::list(arrays_of(row));
           })
      .def("shuffle", [](const Pipeline& p, int64_t w,
                         uint64_t seed) { return Pipeline{data::shuffle(p.dataset, w, seed)}; })
      .def("sample", [](const Pipeline& p,
                        const Sampler& s) { return Pipeline{data::sample(p.dataset, s.order)}; })
      .def("shard", [](const Pipeline& p, int64_t shards,
                       int64_t shard) { return Pipeline{data::shard(p.dataset, shards, shard)}; })
      // Files in a new order each epoch (groups), or rows inside of each (rows).
      .def("shuffle_files",
           [](const Pipeline& p, bool groups, uint64_t seed, int64_t shards, int64_t shard,
              int64_t count) {
             data::GroupOrder by{.groups = groups, .rows = !groups, .window = 1, .seed = seed};
             by.shards = shards;
             by.shard = shard;
             by.count = count;
             return Pipeline{
                 data::sample(p.dataset, data::by_groups(data::rows_of_files(*p.dataset), by))};
           })
      .def("batch", batch)
      .def("bucket_batch", bucket_batch, nb::arg("inputs"), nb::arg("boundaries"), nb::arg("sizes"),
           nb::arg("length").none(), nb::arg("pad_to_boundary"), nb::arg("options"))
      .def("repeat",
           [](const Pipeline& p, int64_t n) { return Pipeline{data::repeat(p.dataset, n)}; })
      .def("take", [](const Pipeline& p, int64_t n) { return Pipeline{data::take(p.dataset, n)}; })
      .def("skip", [](const Pipeline& p, int64_t n) { return Pipeline{data::skip(p.dataset, n)}; })
      .def("split",
           [](const Pipeline& p, const std::vector<int64_t>& sizes) {
             std::vector<Pipeline> out;
             for (DatasetPtr& d : data::split(p.dataset, sizes)) out.push_back({std::move(d)});
             return out;
           })
      .def("map", map)
      .def("filter",
           [](const Pipeline& p, nb::handle f, Names inputs, int workers) {
             return Pipeline{data::filter(p.dataset, to_predicate(f), std::move(inputs), workers)};
           })
      .def("sync_wait",
           [](const Pipeline& p, const PythonGate& g) {
             return Pipeline{data::sync_wait(p.dataset, g.gate)};
           })
      .def("flat_map", flat_map)
      .def("project",
           [](const Pipeline& p, const Names& c) { return Pipeline{data::project(p.dataset, c)}; })
      .def("rename", [](const Pipeline& p, const Names& from,
                        const Names& to) { return Pipeline{data::rename(p.dataset, from, to)}; })
      .def("cache", [](const Pipeline& p, size_t bytes, const std::string& folder) {
        return Pipeline{data::cache(p.dataset, bytes, folder)};
      });
  m.def("zip", [](nb::handle p) { return Pipeline{data::zip(datasets_of(p))}; });
  m.def("concat", [](nb::handle p) { return Pipeline{data::concat(datasets_of(p))}; });
  // A pipeline that leaves out rows that cannot be made, and a function that tells how many.
  m.def("skip_errors", [](const Pipeline& p, int workers) {
    auto skipped = std::make_shared<std::atomic<int64_t>>(0);
    DatasetPtr made = data::skip_errors(p.dataset, skipped, workers);
    return nb::make_tuple(nb::cast(Pipeline{std::move(made)}),
                          nb::cpp_function([skipped] { return skipped->load(); }));
  });
}

}  // namespace

DatasetPtr to_dataset(nb::handle o) { return nb::cast<Pipeline&>(o).dataset; }
nb::object from_dataset(DatasetPtr d) { return nb::cast(Pipeline{std::move(d)}); }

void bind_data(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("data", "The input pipeline.");
  bind_samplers(m);
  bind_pipeline(m);
  bind_data_records(m);
  bind_data_mindrecord(m);
  bind_data_arrow(m);
  bind_data_graph(m);
  m.def("arrays", [](const std::vector<std::pair<std::string, nb::object>>& columns) {
    std::vector<std::pair<std::string, Value>> arrays;
    for (const auto& [name, o] : columns) arrays.emplace_back(name, to_value(o, "dataset"));
    return Pipeline{data::value_dataset(std::move(arrays))};
  });
  m.def("rows", [](nb::handle get, int64_t size, Names columns, int workers) {
    return Pipeline{std::make_shared<PythonRows>(get, size, std::move(columns), workers)};
  });
  m.def("stream", [](nb::handle make, int64_t size, Names columns) {
    return Pipeline{std::make_shared<PythonStream>(make, size, std::move(columns))};
  });
  m.def("digits", [](const std::string& usage, const std::string& path) {
    data::Digits d = data::digits(usage, path);
    return nb::make_tuple(nb::steal(wrap(d.images)), nb::steal(wrap(d.labels)));
  });
}

}  // namespace mycel::bind
