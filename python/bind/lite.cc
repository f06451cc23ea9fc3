// The converter and the Lite runtime for Python (lite/convert.h, lite/convert/lite_file.h).
#include <cstring>
#include <memory>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "lite/convert.h"
#include "lite/convert/lite_file.h"
#include "tensor/dtype.h"

namespace mycel::bind {
namespace {

struct LiteNetwork {
  std::shared_ptr<lite::LiteModel> model;
};

nb::list ports(const std::vector<lite::Port>& of) {
  nb::list out;
  for (const lite::Port& p : of) {
    out.append(nb::make_tuple(p.name, std::string(name_of(static_cast<DType>(p.dtype))), p.dims));
  }
  return out;
}

nb::list run(LiteNetwork& self, nb::handle inputs) {
  Tensors in, out;
  for (nb::handle o : inputs) in.push_back(to_tensor(o.ptr(), "input"));
  {
    nb::gil_scoped_release release;
    out = lite::run_lite(*self.model, in);
  }
  nb::list results;
  for (const Tensor& t : out) results.append(nb::steal(wrap(t)));
  return results;
}

nb::dict state(const LiteNetwork& self) {
  nb::dict out;
  for (const auto& s : self.model->state()) {
    const lite::Port port = self.model->state_port(s);
    Tensor t = Tensor::empty(static_cast<DType>(port.dtype), Shape(port.dims));
    std::memcpy(t.mutable_raw(), s.now.data(), s.now.size());
    out[nb::cast(s.name)] = nb::steal(wrap(t));
  }
  return out;
}

std::vector<std::string> convert(const std::string& from, const std::string& to,
                                 const std::string& format, const std::string& source,
                                 const std::map<std::string, std::vector<int64_t>>& shapes,
                                 const std::string& quantize, bool keep_graph, nb::handle states,
                                 const std::vector<std::pair<std::string, std::string>>& notes,
                                 const std::string& calibrate, const std::string& observer,
                                 double percentile, bool per_channel, bool symmetric,
                                 bool bias_correction, const std::vector<std::string>& skip) {
  lite::ConvertOptions o;
  o.calibrate = calibrate;
  o.quantizing = {
      lite::observer_named(observer), percentile, per_channel, symmetric, bias_correction, skip};
  o.from = source;
  o.to = format;
  for (const auto& [name, dims] : shapes) o.shapes[name] = Shape(dims);
  o.quantize = quantize;
  o.keep_graph = keep_graph;
  o.notes = notes;
  for (nb::handle s : states) {
    o.state.push_back({nb::cast<std::string>(s[0]), nb::cast<size_t>(s[1]),
                       to_tensor(nb::object(s[2]).ptr(), "state")});
  }
  return lite::convert(from, to, o);
}

}  // namespace

void bind_lite(nb::module_& m) {
  nb::class_<LiteNetwork>(m, "LiteNetwork", "A .lite file in the Lite runtime.")
      .def("run", run, nb::arg("inputs"))
      .def_prop_ro("inputs", [](const LiteNetwork& s) { return ports(s.model->inputs()); })
      .def_prop_ro("outputs", [](const LiteNetwork& s) { return ports(s.model->outputs()); })
      .def_prop_ro("state", state)
      .def_prop_ro(
          "steps",
          [](const LiteNetwork& s) { return s.model->program() ? s.model->program()->steps() : 0; })
      .def_prop_ro("delegated", [](const LiteNetwork& s) {
        return s.model->program() ? s.model->program()->delegated() : 0;
      });
  m.def(
      "open_lite",
      [](const std::string& path, int threads) {
        return LiteNetwork{lite::open_lite(path, threads)};
      },
      nb::arg("path"), nb::arg("threads"));
  m.def("lite_convert", convert);
}

}  // namespace mycel::bind
