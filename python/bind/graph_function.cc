// Functions of the IR that may call themselves, for the source front end.
#include "runtime/graph_function.h"

#include <string>

#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "runtime/trace.h"

namespace mycel::bind {
namespace {

using runtime::GraphFunction;

ir::Types types_of(nb::handle tensors) {
  ir::Types out;
  for (nb::handle o : tensors) {
    out.push_back(ir::type_of(runtime::primal(to_tensor(o.ptr(), "GraphFunction"))));
  }
  return out;
}

Tensors from_list(nb::handle list) {
  Tensors out;
  for (nb::handle o : list) out.push_back(to_tensor(o.ptr(), "GraphFunction"));
  return out;
}

nb::list to_list(const Tensors& tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return out;
}

}  // namespace

void bind_graph_function(nb::module_& m) {
  nb::class_<GraphFunction>(m, "GraphFunction")
      .def(
          "__init__",
          [](GraphFunction* self, const std::string& name, nb::handle params, nb::handle results) {
            new (self) GraphFunction(name, types_of(params), types_of(results));
          },
          nb::arg("name"), nb::arg("params"), nb::arg("results"))
      .def("define",
           [](GraphFunction& f, nb::handle body) {
             f.define([&](std::span<const Tensor> in) {
               return from_list(body(to_list({in.begin(), in.end()})));
             });
           })
      .def("__call__",
           [](const GraphFunction& f, nb::handle args) { return to_list(f(from_list(args))); })
      .def_prop_ro("defined", &GraphFunction::defined);
}

}  // namespace mycel::bind
