// Exported networks and tensor files for Python: what runtime/model_file.h does.
#include "runtime/model_file.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/nn.h"
#include "bind/tensor_object.h"
#include "interop/onnx.h"
#include "tensor/safetensors.h"

namespace mycel::bind {
namespace {

using runtime::Model;

Tensors tensors_of(nb::handle sequence, const char* what) {
  Tensors out;
  for (nb::handle o : sequence) out.push_back(to_tensor(o.ptr(), what));
  return out;
}

// fn: list of tensors -> list of tensors. known: dict from name to parameter. format: "ONNX", or
// anything else for a model file.
void export_model(nb::handle fn, nb::handle inputs, const std::vector<std::string>& input_names,
                  nb::dict known, const std::string& path, const std::string& format) {
  runtime::NamedTensors named;
  for (auto [name, p] : known)
    named.emplace_back(nb::cast<std::string>(name), to_tensor(p.ptr(), "parameter"));
  auto f = [&](std::span<const Tensor> watched) {
    nb::list args;
    for (const Tensor& t : watched) args.append(nb::steal(wrap(t)));
    nb::object out = nb::borrow(fn)(args);
    return tensors_of(out, "result");
  };
  runtime::TracedModel model =
      runtime::trace_model(f, tensors_of(inputs, "input"), named, input_names);
  nb::gil_scoped_release release;
  if (format == "ONNX")
    interop::save_onnx(path, model);
  else
    runtime::save_model(path, model);
}

nb::object run(const Model& m, nb::args args) {
  Tensors in = tensors_of(args, "input"), out;
  {
    nb::gil_scoped_release release;
    out = m(in);
  }
  return from_tensors(out);
}

nb::list inputs_of(const Model& m) {
  nb::list out;
  for (size_t i = 0; i < m.input_names().size(); ++i) {
    out.append(nb::make_tuple(m.input_names()[i], m.input_types()[i].str()));
  }
  return out;
}

nb::dict weights_of(const Model& m) {
  nb::dict out;
  for (const auto& [name, tensor] : m.weights()) out[nb::cast(name)] = nb::steal(wrap(tensor));
  return out;
}

nb::dict load_tensors(const std::string& path) {
  nb::dict out;
  for (const auto& [name, tensor] : load_safetensors(path).tensors)
    out[nb::cast(name)] = nb::steal(wrap(tensor));
  return out;
}

void save_tensors(const std::string& path, nb::dict tensors) {
  Checkpoint file;
  for (auto [name, t] : tensors) {
    file.tensors.emplace_back(nb::cast<std::string>(name), to_tensor(t.ptr(), "tensor"));
  }
  nb::gil_scoped_release release;
  save_safetensors(path, file);
}

}  // namespace

void bind_model_file(nb::module_& m) {
  m.def("export_model", export_model, nb::arg("fn"), nb::arg("inputs"), nb::arg("input_names"),
        nb::arg("known"), nb::arg("path"), nb::arg("format") = "MINDIR",
        "Traces a function of a list of tensors and writes it as a model file.");
  nb::class_<Model>(m, "GraphModel",
                    "An exported network: call it on tensors like those at export.")
      .def("__call__", run)
      .def_prop_ro("inputs", inputs_of, "Pairs (name, type) of the inputs.")
      .def_prop_ro("weights", weights_of, "A dict from name to tensor.")
      .def("__str__", [](const Model& self) { return self.graph().str(); });
  m.def(
      "load_model", [](const std::string& path) { return Model::load(path); }, nb::arg("path"),
      "Reads a model file.");
  m.def("load_tensors", load_tensors, nb::arg("path"), "Named tensors of a safetensors file.");
  m.def("save_tensors", save_tensors, nb::arg("path"), nb::arg("tensors"),
        "Writes a safetensors file.");
}

}  // namespace mycel::bind
