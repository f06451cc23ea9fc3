#include <nanobind/stl/string.h>

#include "bind/convert.h"
#include "bind/dtype_object.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "nn/probability/bijector.h"
#include "nn/probability/derive.h"
#include "nn/probability/distribution.h"

namespace mycel::bind {
namespace {

namespace probability = nn::probability;

nb::list names_of(const probability::ParamDef* params, size_t n) {
  nb::list out;
  for (size_t i = 0; i < n; ++i) out.append(params[i].name);
  return out;
}

nb::list family_records() {
  nb::list out;
  for (const probability::Family* f : probability::all_families()) {
    nb::dict r;
    r["name"] = f->name;
    r["doc"] = f->doc;
    r["params"] = names_of(f->params, f->arity());
    r["discrete"] = f->discrete;
    r["dtype"] = nb::borrow(dtype_object(f->dtype));
    r["category"] = f->category;
    r["no_moments"] = f->no_moments;
    nb::list own;
    for (const char* quantity : probability::kQuantities) {
      if (f->of(quantity) || f->at(quantity)) own.append(quantity);
    }
    r["formulas"] = own;
    out.append(r);
  }
  return out;
}

nb::list bijector_records() {
  nb::list out;
  for (const probability::BijectorDef* b : probability::all_bijectors()) {
    nb::dict r;
    r["name"] = b->name;
    r["doc"] = b->doc;
    r["params"] = names_of(b->params, b->arity());
    nb::list defaults;
    for (size_t i = 0; i < b->arity(); ++i) defaults.append(b->defaults[i]);
    r["defaults"] = defaults;
    r["constant_jacobian"] = b->constant_jacobian;
    out.append(r);
  }
  return out;
}

// The quantity of a distribution; `value` is absent for "mean" and its like.
Tensor evaluate(const probability::Distribution& d, const std::string& quantity, nb::handle value) {
  if (value.is_none()) return d.of(quantity);
  return d.at(quantity, nb::cast<Tensor>(value));
}

Tensor apply_bijector(const std::string& name, const std::string& map, const Tensor& x,
                      nb::handle params) {
  Tensors p = to_tensors(params, name.c_str());
  return probability::bijector(name).map(map)(x, p);
}

// `own(name)` gives a tensor, or None for what the distribution does not define itself.
Tensor derive(const std::string& quantity, nb::handle own) {
  return probability::derive(quantity, [&](std::string_view name) {
    nb::object found = own(nb::str(name.data(), name.size()));
    return found.is_none() ? Tensor() : nb::cast<Tensor>(found);
  });
}

}  // namespace

void bind_nn_probability(nb::module_& m) {
  using probability::Distribution;
  nb::class_<Distribution>(m, "Distribution", "A family with its parameters.")
      .def("__init__",
           [](Distribution* self, const std::string& family, nb::handle params) {
             new (self) Distribution(family, to_tensors(params, family.c_str()));
           })
      .def("evaluate", evaluate, nb::arg(), nb::arg().none())
      .def("kl_loss", &Distribution::kl_loss)
      .def("sample", [](const Distribution& d, nb::handle shape, uint64_t seed) {
        return d.sample(to_shape(shape.ptr(), "sample: 'shape'"), seed);
      });
  m.def("check_parameter", [](const std::string& family, size_t i, const Tensor& value) {
    const probability::Family& f = probability::family(family);
    probability::check_parameter(f.name, f.params[i], value);
  });
  m.def("check_bijector_parameter", [](const std::string& name, size_t i, const Tensor& value) {
    const probability::BijectorDef& b = probability::bijector(name);
    probability::check_parameter(b.name, b.params[i], value);
  });
  m.def("family_records", family_records);
  m.def("bijector_records", bijector_records);
  m.def("apply_bijector", apply_bijector);
  m.def("derive", derive);
}

}  // namespace mycel::bind
