// Exported networks and terminal drawings for Python: what runtime/model_file.h and
// train/terminal.h do.
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
#include "tensor/safetensors.h"
#include "train/terminal.h"

namespace mycel::bind {
namespace {

using runtime::Model;

Tensors tensors_of(nb::handle sequence, const char* what) {
  Tensors out;
  for (nb::handle o : sequence) out.push_back(to_tensor(o.ptr(), what));
  return out;
}

// fn: list of tensors -> list of tensors. known: dict from name to parameter.
void export_model(nb::handle fn, nb::handle inputs, const std::vector<std::string>& input_names,
                  nb::dict known, const std::string& path) {
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

std::string curve(nb::list series, int width, int height) {
  std::vector<train::Series> all;
  for (nb::handle h : series) {
    auto pair = nb::cast<nb::tuple>(h);
    train::Series s{nb::cast<std::string>(pair[0]), {}};
    for (nb::handle v : pair[1]) s.values.push_back(nb::cast<double>(nb::float_(v)));
    all.push_back(std::move(s));
  }
  return train::curve(all, width, height);
}

std::string picture(nb::handle image, double white) {
  Tensor t = to_tensor(image.ptr(), DType::kFloat32, "image");
  if (t.rank() < 2)
    value_error("picture: the image must have at least 2 dims, got {}", t.describe());
  int columns = static_cast<int>(t.dim(t.rank() - 1));
  return train::picture(t.data<float>(), static_cast<int>(t.size() / std::max(columns, 1)), columns,
                        white);
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

void bind_terminal(nb::module_& m) {
  nb::module_ sub = m.def_submodule("terminal", "Drawing in a terminal.");
  sub.def("bar", train::bar, nb::arg("done"), nb::arg("width"));
  sub.def("curve", curve, nb::arg("series"), nb::arg("width"), nb::arg("height"));
  sub.def("picture", picture, nb::arg("image"), nb::arg("white"));
  // Writes to the file descriptor behind standard output; Python flushes its own buffer first.
  nb::class_<train::Screen>(sub, "Screen")
      .def("__init__", [](train::Screen* s) { new (s) train::Screen(stdout); })
      .def("show", &train::Screen::show, nb::arg("line"))
      .def("print", &train::Screen::print, nb::arg("text"))
      .def_prop_ro("live", &train::Screen::live)
      .def_prop_ro("width", &train::Screen::width);
}

}  // namespace

void bind_model_file(nb::module_& m) {
  m.def("export_model", export_model, nb::arg("fn"), nb::arg("inputs"), nb::arg("input_names"),
        nb::arg("known"), nb::arg("path"),
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
  bind_terminal(m);
}

}  // namespace mycel::bind
