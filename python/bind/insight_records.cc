// Records of pages Cluster and Explain for Python.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/convert.h"
#include "insight/cluster/record.h"
#include "insight/explain/record.h"

namespace mycel::bind {
namespace {

using insight::ClusterRecorder;
using insight::ExplainRecorder;
using Link = std::tuple<std::string, int64_t, double, int64_t>;

void step(ClusterRecorder& r, int64_t number, double seconds, double compute, double wait,
          const std::vector<Link>& links, int64_t memory, int64_t peak) {
  insight::ClusterStep s{number, seconds, compute, wait, memory, peak, {}};
  for (const auto& [collective, peer, took, bytes] : links)
    s.links.push_back({collective, peer, took, bytes});
  r.step(s);
}

int64_t sample(ExplainRecorder& r, nb::handle image, int64_t label,
               const std::vector<double>& probabilities, nb::list maps) {
  std::vector<insight::SaliencyMap> all;
  for (nb::handle m : maps)
    all.push_back({nb::cast<std::string>(m[0]), nb::cast<int64_t>(m[1]),
                   to_tensor(nb::object(m[2]).ptr(), "saliency")});
  return r.sample(to_tensor(image.ptr(), "image"), label, probabilities, all);
}

void counterfactual(ExplainRecorder& r, int64_t number, int64_t cls, const std::string& method,
                    nb::list steps) {
  std::vector<std::pair<Tensor, double>> all;
  for (nb::handle s : steps)
    all.emplace_back(to_tensor(nb::object(s[0]).ptr(), "image"), nb::cast<double>(s[1]));
  r.counterfactual(number, cls, method, all);
}

}  // namespace

void bind_insight_records(nb::module_& m) {
  nb::class_<ClusterRecorder>(m, "ClusterRecorder")
      .def(nb::init<const std::string&, int64_t, int64_t, std::string>(), nb::arg("folder"),
           nb::arg("rank"), nb::arg("ranks"), nb::arg("host") = "")
      .def("step", step)
      .def("close", &ClusterRecorder::close, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<ExplainRecorder>(m, "ExplainRecorder")
      .def(nb::init<const std::string&, const std::vector<std::string>&>(), nb::arg("folder"),
           nb::arg("labels"))
      .def("sample", sample)
      .def("counterfactual", counterfactual)
      .def("score", &ExplainRecorder::score)
      .def("close", &ExplainRecorder::close, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace mycel::bind
