// Arrow batches of Python objects (pyarrow's, or any with __arrow_c_array__) as rows.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bind/data.h"
#include "data/arrow/rows.h"
#include "data/group_order.h"
#include "data/operators.h"

namespace mycel::bind {

namespace {

using Names = std::vector<std::string>;

// What a capsule of the Arrow PyCapsule interface holds.
template <typename T>
T* in_capsule(nb::handle capsule, const char* name) {
  auto* p = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!p) throw nb::python_error();
  return p;
}

// Groups that a Python object reads: read(g) gives batches.
class PythonGroups final : public data::ArrowGroups {
 public:
  PythonGroups(nb::handle read, std::vector<int64_t> rows, Names names)
      : read_(read.ptr()), rows_(std::move(rows)), names_(std::move(names)) {}
  const std::vector<int64_t>& rows() const override { return rows_; }
  std::string name(size_t g) const override { return names_[g]; }
  std::vector<data::ArrowBatch> read(size_t g) const override {
    nb::gil_scoped_acquire gil;
    std::vector<data::ArrowBatch> out;
    nb::object batches = nb::handle(read_.get())(g);
    for (nb::handle batch : batches) {
      nb::object pair = batch.attr("__arrow_c_array__")();
      data::Arrowed<ArrowSchema> schema(in_capsule<ArrowSchema>(pair[0], "arrow_schema"));
      data::Arrowed<ArrowArray> array(in_capsule<ArrowArray>(pair[1], "arrow_array"));
      out.emplace_back(std::move(schema), std::move(array));
    }
    return out;
  }

 private:
  Held read_;
  std::vector<int64_t> rows_;
  Names names_;
};

// order: None, or (shuffled, window, seed, shards, shard, count).
nb::object arrow_rows(const std::string& owner, nb::object schema, nb::handle read,
                      std::vector<int64_t> rows, Names names, nb::dict fill, size_t memory,
                      nb::object order, int workers) {
  data::ArrowRowsOptions options{.owner = owner, .memory = memory, .workers = workers};
  for (auto [column, value] : fill) {
    options.fill[nb::cast<std::string>(column)] = to_option(value, owner + ": 'fill_null'");
  }
  data::GroupOrder by;
  if (!order.is_none()) {
    by.shuffled = nb::cast<bool>(order[0]);
    by.window = nb::cast<int64_t>(order[1]);
    by.seed = nb::cast<uint64_t>(order[2]);
    by.shards = nb::cast<int64_t>(order[3]);
    by.shard = nb::cast<int64_t>(order[4]);
    by.count = nb::cast<int64_t>(order[5]);
    // Those of a window, and of the next one when threads are ahead.
    if (by.shuffled)
      options.groups_kept = by.window <= 0 ? rows.size() : 2 * static_cast<size_t>(by.window);
  }
  nb::object capsule = schema.attr("__arrow_c_schema__")();
  data::DatasetPtr made = data::arrow_rows(
      *in_capsule<ArrowSchema>(capsule, "arrow_schema"),
      std::make_shared<PythonGroups>(read, rows, std::move(names)), std::move(options));
  if (!order.is_none()) made = data::sample(std::move(made), data::by_groups(rows, by));
  return from_dataset(std::move(made));
}

}  // namespace

void bind_data_arrow(nb::module_& m) {
  m.def("arrow_rows", arrow_rows, nb::arg("owner"), nb::arg("schema"), nb::arg("read"),
        nb::arg("rows"), nb::arg("names"), nb::arg("fill"), nb::arg("memory"),
        nb::arg("order").none(), nb::arg("workers"));
}

}  // namespace mycel::bind
