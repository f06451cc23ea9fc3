// Models of other frameworks for Python: what interop/onnx.h and interop/tensorflow.h do. A
// sequence is a list, an empty optional None.
#include "interop/onnx.h"

#include <memory>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "interop/tensorflow.h"
#include "ir/op.h"

namespace mycel::bind {
namespace {

using interop::OnnxModel;
using interop::OnnxValue;
using interop::OnnxValues;

// nanobind classes are held by value: the handle holds the shared model.
struct OnnxNetwork {
  std::shared_ptr<OnnxModel> model;
};

OnnxValue to_value(nb::handle o) {
  if (o.is_none()) return {};
  if (PyList_Check(o.ptr()) || PyTuple_Check(o.ptr())) {
    OnnxValues items;
    for (nb::handle item : o) items.push_back(to_value(item));
    return OnnxValue::sequence(std::move(items));
  }
  return to_tensor(o.ptr(), "input");
}

nb::object from_value(const OnnxValue& v) {
  if (v.kind == OnnxValue::Kind::kNothing) return nb::none();
  if (v.kind == OnnxValue::Kind::kTensor) return nb::steal(wrap(v.tensor));
  nb::list out;
  for (const OnnxValue& item : v.items) out.append(from_value(item));
  return out;
}

OnnxValues to_values(nb::handle sequence) {
  OnnxValues out;
  for (nb::handle o : sequence) out.push_back(to_value(o));
  return out;
}

nb::list from_values(const OnnxValues& values) {
  nb::list out;
  for (const OnnxValue& v : values) out.append(from_value(v));
  return out;
}

nb::list run(OnnxNetwork& self, nb::handle inputs) {
  OnnxValues in = to_values(inputs), out;
  {
    nb::gil_scoped_release release;
    out = self.model->run(in);
  }
  return from_values(out);
}

nb::list evaluate(const OnnxNetwork& self, nb::handle inputs, nb::handle weights) {
  OnnxValues in = to_values(inputs), out;
  Tensors given;
  for (nb::handle w : weights) given.push_back(to_tensor(w.ptr(), "weight"));
  return from_values(self.model->evaluate(in, given));
}

nb::list ports(const std::vector<interop::OnnxPort>& of) {
  nb::list out;
  for (const auto& p : of) out.append(nb::make_tuple(p.name, p.type));
  return out;
}

nb::list weights(const OnnxNetwork& self) {
  nb::list out;
  for (size_t i = 0; i < self.model->weights().size(); ++i) {
    const auto& [name, tensor] = self.model->weights()[i];
    bool statistic = self.model->statistics()[i];
    out.append(nb::make_tuple(name, nb::steal(wrap(tensor)), statistic));
  }
  return out;
}

// (name, scale, zero point) of what is quantized.
nb::list scales(const std::vector<interop::OnnxPort>& of) {
  nb::list out;
  for (const auto& p : of) {
    if (p.scale != 0) out.append(nb::make_tuple(p.name, p.scale, p.zero_point));
  }
  return out;
}

nb::list tensorflow_ops() {
  nb::list out;
  for (const interop::TensorflowOp& op : interop::tensorflow_ops())
    out.append(nb::make_tuple(op.lite, op.graph, op.quantized));
  return out;
}

// Of every primitive op that a user may call: what its record says of ONNX.
nb::dict onnx_lines() {
  nb::dict out;
  ir::ensure_ops();
  for (const ir::Op* op : ir::all_ops()) {
    if (!op->def.composite() && !op->def.internal && !op->def.random)
      out[nb::cast(op->name)] = nb::cast(std::string(op->def.onnx));
  }
  return out;
}

}  // namespace

void bind_onnx(nb::module_& m) {
  nb::class_<OnnxNetwork>(m, "OnnxNetwork", "An ONNX model that has been read.")
      .def("run", run, nb::arg("inputs"), "Compiled for inputs like these; gives a list.")
      .def("evaluate", evaluate, nb::arg("inputs"), nb::arg("weights"),
           "Op by op, so that it can be watched; gives a list.")
      .def_prop_ro("inputs", [](const OnnxNetwork& s) { return ports(s.model->inputs()); })
      .def_prop_ro("outputs", [](const OnnxNetwork& s) { return ports(s.model->outputs()); })
      .def_prop_ro("scales",
                   [](const OnnxNetwork& s) {
                     return nb::make_tuple(scales(s.model->inputs()), scales(s.model->outputs()));
                   })
      .def_prop_ro("weights", weights, "Triples (name, tensor, whether it is a statistic).")
      .def_prop_ro("how", [](const OnnxNetwork& s) { return s.model->how(); });
  m.def(
      "load_onnx", [](const std::string& path) { return OnnxNetwork{interop::load_onnx(path)}; },
      nb::arg("path"));
  m.def(
      "parse_onnx",
      [](nb::bytes bytes, const std::string& folder) {
        return OnnxNetwork{interop::parse_onnx({bytes.c_str(), bytes.size()}, folder)};
      },
      nb::arg("bytes"), nb::arg("folder") = "");
  using Names = std::vector<std::string>;
  m.def(
      "load_tflite",
      [](const std::string& path) { return OnnxNetwork{interop::load_tflite(path)}; },
      nb::arg("path"));
  m.def(
      "parse_tflite",
      [](nb::bytes bytes) {
        return OnnxNetwork{interop::parse_tflite({bytes.c_str(), bytes.size()})};
      },
      nb::arg("bytes"));
  m.def(
      "load_tensorflow",
      [](const std::string& path, const Names& inputs, const Names& outputs) {
        return OnnxNetwork{interop::load_tensorflow(path, inputs, outputs)};
      },
      nb::arg("path"), nb::arg("inputs"), nb::arg("outputs"));
  m.def(
      "parse_tensorflow",
      [](nb::bytes bytes, const Names& inputs, const Names& outputs) {
        return OnnxNetwork{
            interop::parse_tensorflow({bytes.c_str(), bytes.size()}, inputs, outputs)};
      },
      nb::arg("bytes"), nb::arg("inputs"), nb::arg("outputs"));
  m.def("tensorflow_ops", tensorflow_ops);
  m.def("onnx_ops", interop::onnx_ops);
  m.def("onnx_lines", onnx_lines);
}

}  // namespace mycel::bind
