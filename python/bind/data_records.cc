// The records of transforms and sources, for the classes of mycel/dataset; and calls of transforms
// outside of a pipeline.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/data.h"
#include "bind/tensor_object.h"
#include "data/source.h"

namespace mycel::bind {

using data::Option;
using data::Row;
using data::TransformPtr;

namespace {

struct Operation {
  TransformPtr transform;
};

nb::object from_option(const Option& o) {
  if (o.none()) return nb::none();
  if (o.is<bool>()) return nb::cast(o.get<bool>());
  if (o.is<int64_t>()) return nb::cast(o.get<int64_t>());
  if (o.is<double>()) return nb::cast(o.get<double>());
  if (o.is<std::string>()) return nb::cast(o.get<std::string>());
  nb::list items;
  for (const Option& e : o.get<Option::List>()) items.append(from_option(e));
  return nb::tuple(items);
}

data::NamedOptions to_options(nb::dict args, const std::string& owner) {
  data::NamedOptions out;
  for (auto [key, value] : args) {
    std::string name = nb::cast<std::string>(key);
    out.emplace_back(name, to_option(value, owner + ": '" + name + "'"));
  }
  return out;
}

// A function on arrays. Random ones of Python draw where they like, so it counts as random only
// if it says so.
class PythonTransform final : public data::Transform {
 public:
  explicit PythonTransform(nb::handle f) : f_(f.ptr()) {
    random_ = nb::hasattr(f, "random") && nb::cast<bool>(f.attr("random"));
    set_name("map", "function");
  }
  bool random() const override { return random_; }
  void run(Row* values, Philox&) const override {
    nb::gil_scoped_acquire gil;
    nb::list args;
    for (const data::Value& v : *values) args.append(from_value(v));
    nb::object made = nb::handle(f_.get())(*nb::tuple(args));
    if (PyTuple_Check(made.ptr())) {
      *values = to_row(made, "map");
    } else {
      *values = {to_value(made, "map")};
    }
  }

 private:
  Held f_;
  bool random_ = false;
};

// An array of numbers is used where it lies: nobody writes into memory that is not ours, and what
// comes back of it is copied (from_value).
data::Value borrowed(nb::handle o, const char* what) {
  if (is_tensor(o.ptr()) || !nb::hasattr(o, "dtype") || !PyObject_CheckBuffer(o.ptr()))
    return to_value(o, what);
  const std::string kind = nb::cast<std::string>(o.attr("dtype").attr("kind"));
  const bool numbers = kind == "u" || kind == "i" || kind == "f";
  return numbers ? data::Value(share_buffer(o.ptr(), what)) : to_value(o, what);
}

nb::object run_operation(const Operation& op, nb::handle values, uint64_t seed, uint64_t count) {
  Row row;
  for (nb::handle o : values) row.push_back(borrowed(o, op.transform->name().c_str()));
  {
    nb::gil_scoped_release release;
    Philox draw(seed, count);
    data::run_all({&op.transform, 1}, &row, draw);
  }
  nb::list out;
  for (const data::Value& v : row) out.append(from_value(v));
  return nb::tuple(out);
}

template <typename Def>
nb::list records(const std::vector<const Def*>& defs) {
  nb::list out;
  for (const Def* d : defs)
    out.append(nb::make_tuple(d->name, d->doc, describe(*data::specs_of(*d))));
  return out;
}

}  // namespace

TransformPtr python_transform(nb::handle f) { return std::make_shared<PythonTransform>(f); }

TransformPtr to_transform(nb::handle o, const char* what) {
  if (nb::hasattr(o, "_transform")) {
    nb::object handle = o.attr("_transform");
    if (nb::isinstance<Operation>(handle)) return nb::cast<Operation&>(handle).transform;
  }
  if (nb::isinstance<Operation>(o)) return nb::cast<Operation&>(o).transform;
  if (!PyCallable_Check(o.ptr())) type_error("{}: a transform must be callable", what);
  return python_transform(o);
}

nb::list describe(const data::OptionSpecs& specs) {
  static const char* const kKinds[] = {"bool",       "int",     "number", "string", "ints",
                                       "numbers",    "strings", "dtype",  "tensor", "transform",
                                       "transforms", "any",     "choice"};
  nb::list out;
  for (const data::OptionSpec& s : specs.specs()) {
    out.append(nb::make_tuple(s.name, s.has_default, from_option(s.fallback),
                              s.choice ? nb::cast(s.choice->name) : nb::none(),
                              kKinds[static_cast<int>(s.kind)]));
  }
  return out;
}

void bind_data_records(nb::module_& m) {
  nb::class_<Operation>(m, "Operation", "A transform that runs in C++.")
      .def("__call__", run_operation, nb::arg("values"), nb::arg("seed"), nb::arg("count"))
      .def("random", [](const Operation& op) { return op.transform->random(); })
      .def("__repr__", [](const Operation& op) { return op.transform->description(); });
  m.def("transform_records", [] { return records(data::all_transforms()); });
  m.def("source_records", [] { return records(data::all_sources()); });
  m.def("choices", [] {
    nb::list out;
    for (const data::Choice& c : data::all_choices()) {
      nb::list members;
      for (const auto& member : c.members)
        members.append(nb::make_tuple(member.name, from_option(member.value)));
      out.append(nb::make_tuple(c.name, c.doc, members));
    }
    return out;
  });
  m.def("make_transform", [](const std::string& name, nb::dict args) {
    return Operation{data::make_transform(name, to_options(args, name))};
  });
  m.def("open_source", [](const std::string& name, nb::dict args) {
    const data::NamedOptions options = to_options(args, name);
    data::DatasetPtr opened;
    {
      nb::gil_scoped_release release;
      opened = data::open_source(name, options);
    }
    return from_dataset(std::move(opened));
  });
}

}  // namespace mycel::bind
