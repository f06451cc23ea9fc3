#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/dtype_object.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "nn/activation.h"
#include "nn/layer.h"

namespace mycel::bind {
namespace {

using nn::Layer;
using LayerPtr = std::shared_ptr<Layer>;

LayerPtr make_layer(const std::string& name, nb::handle args, nb::handle kwargs) {
  const nn::LayerDef* def = nn::find_layer(name);
  MYCEL_CHECK(def, "there is no layer '{}'", name);
  CallArgs call = to_args(*nn::signature_of(*def), args, kwargs);
  return nn::make(name, std::move(call.positional), call.named);
}

// layer.call(training, inputs): the fast path of every layer that Python runs.
nb::object call_layer(Layer& layer, bool training, nb::args inputs) {
  touch(layer);
  Tensors in = to_tensors(inputs, layer.def.name);
  if (layer.training() != training) layer.set_train(training);
  int64_t elements = 0;
  for (const Tensor& t : in) elements += t && t.concrete() ? t.size() : 0;
  Tensors out = unlocked(elements, [&] { return layer.construct(in); });
  return from_tensors(out);
}

nb::list own_parameters(const Layer& layer) {
  nb::list out;
  for (const auto& [name, p] : layer.own_parameters()) {
    out.append(nb::make_tuple(name, nb::steal(wrap(p))));
  }
  return out;
}

// [(name, Python cell or layer handle)].
nb::list own_children(const Layer& layer) {
  nb::list out;
  for (const auto& [name, child] : layer.children()) {
    PyObject* o = python_cell(*child);
    if (o) {
      out.append(nb::make_tuple(name, nb::borrow(o)));
    } else if (auto as_layer = std::dynamic_pointer_cast<Layer>(child)) {
      out.append(nb::make_tuple(name, as_layer));
    }
  }
  return out;
}

nb::list arguments(const Layer& layer) {
  nb::list out;
  const auto& specs = layer.args.signature().specs();
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].extra == nn::ArgSpec::Extra::kCell) continue;
    out.append(nb::make_tuple(specs[i].name, from_arg(layer.args.values()[i])));
  }
  return out;
}

template <typename Def>
nb::dict record(const Def& d) {
  nb::dict out;
  out["name"] = d.name;
  out["doc"] = d.doc;
  out["args"] = describe(*nn::signature_of(d));
  return out;
}

nb::list layer_records() {
  nb::list out;
  for (const nn::LayerDef* d : nn::all_layers()) {
    nb::dict r = record(*d);
    nb::list in;
    for (size_t i = 0; i < d->in.size(); ++i) in.append(d->in[i]);
    r["in"] = in;
    out.append(r);
  }
  return out;
}

nb::list initializer_records() {
  nb::list out;
  for (const nn::InitDef* d : nn::all_initializers()) out.append(record(*d));
  return out;
}

nn::Init make_init(const std::string& name, nb::handle args, nb::handle kwargs) {
  const nn::InitDef* d = nn::find_initializer(name);
  MYCEL_CHECK(d, "there is no initializer '{}'", name);
  CallArgs call = to_args(*nn::signature_of(*d), args, kwargs);
  return nn::Init::named(name, std::move(call.positional), call.named);
}

// An initializer written in Python: fill(shape, dtype) -> array or tensor.
nn::Init init_from_function(nb::handle fill) {
  auto held = std::make_shared<Held>(fill.ptr());
  return nn::Init(nn::Init::Function([held](const Shape& shape, DType dtype) {
    nb::gil_scoped_acquire gil;
    nb::object out =
        nb::handle(held->get())(nb::steal(from_shape(shape)), nb::borrow(dtype_object(dtype)));
    return to_tensor(out.ptr(), dtype, "the result of an initializer");
  }));
}

}  // namespace

void bind_nn_layers(nb::module_& m) {
  nb::class_<nn::Init>(m, "Init", "How a parameter gets its first values.")
      .def("make",
           [](const nn::Init& i, nb::handle shape, nb::handle dtype) {
             return i.make(to_shape(shape.ptr(), "initializer: 'shape'"),
                           require_dtype(dtype.ptr(), "initializer: 'dtype'"));
           })
      // An initializer never changes: a copy is itself.
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def("__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); })
      .def("__repr__", &nn::Init::str);
  m.def("make_init", make_init);
  m.def("make_init_by_name", [](const std::string& name) { return nn::Init(name); });
  m.def("init_from_function", init_from_function);
  m.def("init_from_number", [](double v) { return nn::Init(v); });
  m.def("initializer_records", initializer_records);

  nb::class_<Layer>(m, "Layer", "A layer that is computed in C++.")
      .def("call", call_layer)
      .def_prop_ro("address",
                   [](const Layer& l) {
                     return reinterpret_cast<uintptr_t>(static_cast<const nn::Cell*>(&l));
                   })
      .def("name", [](const Layer& l) { return std::string(l.def.name); })
      .def("parameters", own_parameters)
      .def("children", own_children)
      .def("arguments", arguments)
      .def("extra_repr", &Layer::extra_repr)
      .def("to_float",
           [](Layer& l, nb::handle dtype) {
             l.to_float(require_dtype(dtype.ptr(), "to_float: 'dst_type'"));
           })
      .def("clone", [](const Layer& l) { return nn::clone(l); })
      .def("set_parameter", [](Layer& l, const std::string& name,
                               nn::Parameter p) { l.replace_parameter(name, std::move(p)); })
      .def("set_child", [](Layer& l, const std::string& name, nb::handle o) {
        l.replace_child(name, to_cell(o));
      });
  m.def("make_layer", make_layer);
  m.def("make_activation", [](const std::string& name) {
    return std::dynamic_pointer_cast<Layer>(std::shared_ptr<nn::Cell>(nn::make_activation(name)));
  });
  m.def("activation_names", nn::activation_names);
  m.def("layer_records", layer_records);
}

void bind_nn(nb::module_& parent) {
  nb::module_ m = parent.def_submodule("nn", "Layers, initializers, optimizers and metrics.");
  bind_nn_layers(m);
  bind_nn_optimizers(m);
  bind_nn_metrics(m);
  bind_nn_probability(m);
}

}  // namespace mycel::bind
