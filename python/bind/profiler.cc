// The profiler for Python: insight/profile/profiler.h.
#include "insight/profile/profiler.h"

#include <memory>
#include <new>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/convert.h"
#include "bind/python.h"
#include "insight/plot.h"
#include "insight/profile/analysis.h"

namespace mycel::bind {
namespace {

using insight::Profiler;

void make(Profiler* at, const std::string& folder, bool memory, bool data, int64_t megabytes,
          int64_t first, int64_t last) {
  insight::ProfilerOptions o;
  o.memory = memory;
  o.data = data;
  o.start = false;
  o.most_megabytes = megabytes;
  o.first_step = first;
  if (last >= 0) o.last_step = last;
  new (at) Profiler(folder, o);
}

std::string analyse(Profiler& p) {
  nb::gil_scoped_release release;
  return p.analyse();
}

// [(name, kind, runs, seconds)] by op, slowest first.
std::vector<std::tuple<std::string, std::string, int64_t, double>> ops(const Profiler& p) {
  std::vector<std::tuple<std::string, std::string, int64_t, double>> out;
  for (const auto& o : insight::profile::analyse(p.profile()).ops)
    out.emplace_back(o.name, timeline::name_of(o.kind), o.runs, static_cast<double>(o.ns) / 1e9);
  return out;
}

std::string plot_svg(const std::string& folder, std::vector<std::string> runs,
                     std::vector<std::string> tags, bool logarithmic, bool chinese) {
  nb::gil_scoped_release release;
  auto index = insight::open_index(folder);
  index->update();
  return insight::plot_svg(*index, {std::move(runs), std::move(tags), logarithmic, chinese});
}

}  // namespace

void bind_profiler(nb::module_& parent) {
  nb::module_ m = nb::borrow<nb::module_>(parent.attr("insight"));
  nb::class_<Profiler>(m, "Profiler")
      .def("__init__", make, nb::arg("folder"), nb::arg("memory"), nb::arg("data"),
           nb::arg("megabytes"), nb::arg("first_step"), nb::arg("last_step"))
      .def("start", &Profiler::start)
      .def("stop", &Profiler::stop)
      .def("analyse", analyse)
      .def("ops", ops)
      .def_prop_ro("running", &Profiler::running)
      .def_prop_ro("path", &Profiler::path);
  m.def("plot_svg", plot_svg, nb::arg("folder"), nb::arg("runs"), nb::arg("tags"),
        nb::arg("logarithmic"), nb::arg("chinese"));
}

}  // namespace mycel::bind
