#include "bind/data.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "data/digits.h"

namespace mycel::bind {
namespace {

using data::DatasetPtr;
using Names = std::vector<std::string>;

// nanobind classes are held by value: the handle holds the shared dataset.
struct Pipeline {
  DatasetPtr dataset;
};

Tensors to_row(nb::handle values, size_t columns, const char* what) {
  Tensors row = to_tensors(values, what);
  if (row.size() != columns)
    value_error("{}: a row has {} values for {} columns", what, row.size(), columns);
  return row;
}

// Rows by number from a Python object: source(i) gives a sequence of arrays, one a column.
class PythonRows final : public data::IndexedDataset {
 public:
  PythonRows(nb::handle get, int64_t size, Names columns)
      : get_(get.ptr()), size_(size), columns_(std::move(columns)) {}
  const Names& columns() const override { return columns_; }
  int64_t size() const override { return size_; }
  Tensors row(int64_t i) const override {
    nb::gil_scoped_acquire gil;
    return to_row(nb::handle(get_.get())(i), columns_.size(), "GeneratorDataset");
  }

 private:
  Held get_;
  int64_t size_;
  Names columns_;
};

// Rows from an iterator that Python makes anew for every epoch.
class PythonStream final : public data::Dataset {
 public:
  PythonStream(nb::handle make, int64_t size, Names columns)
      : make_(make.ptr()), size_(size), columns_(std::move(columns)) {}
  const Names& columns() const override { return columns_; }
  int64_t size() const override { return size_; }
  data::RowsPtr iterate(uint64_t) const override {
    nb::gil_scoped_acquire gil;
    return std::make_unique<Stream>(nb::handle(make_.get())(), columns_.size());
  }

 private:
  class Stream final : public data::Rows {
   public:
    Stream(nb::object iterator, size_t columns) : iterator_(iterator.ptr()), columns_(columns) {}
    bool next(Tensors* row) override {
      nb::gil_scoped_acquire gil;
      PyObject* o = PyIter_Next(iterator_.get());
      if (!o) {
        if (PyErr_Occurred()) throw nb::python_error();
        return false;
      }
      *row = to_row(nb::steal(o), columns_, "GeneratorDataset");
      return true;
    }

   private:
    Held iterator_;
    size_t columns_;
  };
  Held make_;
  int64_t size_;
  Names columns_;
};

Pipeline map(const Pipeline& p, nb::handle f, Names inputs, Names outputs) {
  auto held = std::make_shared<Held>(f.ptr());
  data::RowFunction row = [held](const Tensors& in) {
    nb::gil_scoped_acquire gil;
    nb::list args;
    for (const Tensor& t : in) args.append(nb::steal(wrap(t)));
    return to_tensors(nb::handle(held->get())(args), "map");
  };
  return {data::map(p.dataset, std::move(row), std::move(inputs), std::move(outputs))};
}

// A position in a dataset that Python iterates over.
struct Reader {
  DatasetPtr dataset;
  data::RowsPtr rows;
};

nb::object next_row(Reader& r) {
  Tensors row;
  if (!r.rows->next(&row)) throw nb::stop_iteration();
  nb::list out;
  for (const Tensor& t : row) out.append(nb::steal(wrap(t)));
  return out;
}

}  // namespace

DatasetPtr to_dataset(nb::handle o) { return nb::cast<Pipeline&>(o).dataset; }

void bind_data(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("data", "The input pipeline.");
  nb::class_<Reader>(m, "Reader", "The rows of one epoch, each a list of tensors.")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", next_row)
      .def("skip", [](Reader& r, int64_t n) { return r.rows->skip(n); });
  nb::class_<Pipeline>(m, "Pipeline", "A dataset that is read in C++.")
      .def("columns", [](const Pipeline& p) { return p.dataset->columns(); })
      .def("size", [](const Pipeline& p) { return p.dataset->size(); })
      .def("batch_size", [](const Pipeline& p) { return p.dataset->batch_size(); })
      .def("repeat_count", [](const Pipeline& p) { return p.dataset->repeat_count(); })
      .def("shuffle", [](const Pipeline& p, int64_t w,
                         uint64_t seed) { return Pipeline{data::shuffle(p.dataset, w, seed)}; })
      .def("batch", [](const Pipeline& p, int64_t n,
                       bool drop) { return Pipeline{data::batch(p.dataset, n, drop)}; })
      .def("repeat",
           [](const Pipeline& p, int64_t n) { return Pipeline{data::repeat(p.dataset, n)}; })
      .def("take", [](const Pipeline& p, int64_t n) { return Pipeline{data::take(p.dataset, n)}; })
      .def("skip", [](const Pipeline& p, int64_t n) { return Pipeline{data::skip(p.dataset, n)}; })
      .def("map", map)
      .def("project",
           [](const Pipeline& p, const Names& c) { return Pipeline{data::project(p.dataset, c)}; })
      .def("iterate", [](const Pipeline& p, uint64_t epoch) {
        return Reader{p.dataset, p.dataset->iterate(epoch)};
      });
  m.def("tensors", [](const std::vector<std::pair<std::string, nb::object>>& columns) {
    std::vector<std::pair<std::string, Tensor>> arrays;
    for (const auto& [name, o] : columns) arrays.emplace_back(name, to_tensor(o.ptr(), "dataset"));
    return Pipeline{data::tensor_dataset(std::move(arrays))};
  });
  m.def("rows", [](nb::handle get, int64_t size, Names columns) {
    return Pipeline{std::make_shared<PythonRows>(get, size, std::move(columns))};
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
