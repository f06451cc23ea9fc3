// Networks as scripts: what interop/script.h does.
#include "interop/script.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/convert.h"

namespace mycel::bind {
namespace {

nb::dict onnx_to_script(const std::string& path, const std::string& folder, const std::string& name,
                        const std::map<std::string, std::vector<int64_t>>& shapes) {
  interop::ScriptOptions o;
  o.name = name;
  for (const auto& [input, dims] : shapes) o.shapes[input] = Shape(std::span<const int64_t>(dims));
  interop::ScriptReport r = interop::onnx_to_script(path, folder, o);
  nb::dict d;
  d["network"] = r.network;
  d["nodes"] = r.nodes;
  d["in_layers"] = r.in_layers;
  d["layers"] = r.layers;
  d["calls"] = r.calls;
  d["parameters"] = r.parameters;
  d["classes"] = r.classes;
  d["lines"] = r.lines;
  d["notes"] = r.notes;
  return d;
}

}  // namespace

void bind_script(nb::module_& m) {
  m.def("onnx_to_script", onnx_to_script, nb::arg("path"), nb::arg("folder"), nb::arg("name") = "",
        nb::arg("shapes") = std::map<std::string, std::vector<int64_t>>());
}

}  // namespace mycel::bind
