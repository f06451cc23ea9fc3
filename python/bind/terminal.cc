// Terminal drawings for Python: train/terminal.h and train/progress.h.
#include "train/terminal.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "train/progress.h"

namespace mycel::bind {
namespace {

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

}  // namespace

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
  using Lines = train::ProgressLines;
  nb::class_<Lines>(sub, "ProgressLines")
      .def(nb::init<int64_t>(), nb::arg("keep_every"))
      .def("begin", &Lines::begin, nb::arg("epochs"))
      .def("step", &Lines::step, nb::arg("epoch"), nb::arg("position"), nb::arg("batches"),
           nb::arg("loss"))
      .def("epoch_end", &Lines::epoch_end, nb::arg("epoch"), nb::arg("metrics"))
      .def("end", &Lines::end);
}

}  // namespace mycel::bind
