// A tape of one eager run for Cell.summary: which ops ran, between which entries and exits of
// cells. Counting is ir/flops.h's, recording the transforms' own.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/convert.h"
#include "bind/nn.h"
#include "bind/python.h"
#include "bind/tensor_object.h"
#include "ir/flops.h"
#include "nn/cell_watch.h"
#include "runtime/trace.h"

namespace mycel::bind {
namespace {

struct Event {
  uintptr_t cell;  // address of the C++ cell or identity of the Python cell
  bool entered;
  size_t position;  // ops recorded so far
  std::vector<ir::Type> results;
};

class Tape final : public nn::CellWatch {
 public:
  Tape() : recorder_("summary"), before_(nn::cell_watch()) { nn::set_cell_watch(this); }
  ~Tape() override { close(); }

  Tensor watch(const Tensor& t) { return recorder_.watch(t); }
  void enter(const nn::Cell& cell) override { note(key(cell), true, {}); }
  void leave(const nn::Cell& cell, const Tensors& results) override {
    note(key(cell), false, results);
  }
  void note(uintptr_t cell, bool entered, const Tensors& results) {
    Event e{cell, entered, recorder_.graph().size(), {}};
    for (const Tensor& t : results) {
      if (t) e.results.push_back(ir::type_of(t));
    }
    events_.push_back(std::move(e));
  }
  void close() {
    if (!open_) return;
    open_ = false;
    nn::set_cell_watch(before_);
    recorder_.close();
  }

  nb::list events() const {
    nb::list out;
    for (const Event& e : events_) {
      nb::list shapes;
      for (const ir::Type& t : e.results) {
        shapes.append(nb::make_tuple(nb::cast(std::string(name_of(t.dtype))),
                                     nb::steal(from_shape(t.shape))));
      }
      out.append(nb::make_tuple(e.cell, e.entered, e.position, shapes));
    }
    return out;
  }
  // (op, FLOPs or None) of all that was recorded, in order; None for parameters of the tape.
  nb::list ops() {
    nb::list out;
    for (const ir::Node& n : recorder_.graph().nodes()) {
      if (n.is_param()) {
        out.append(nb::none());
        continue;
      }
      int64_t count = ir::flops(n);
      out.append(nb::make_tuple(n.op->name, count < 0 ? nb::none() : nb::cast(count)));
    }
    return out;
  }

 private:
  static uintptr_t key(const nn::Cell& cell) { return reinterpret_cast<uintptr_t>(&cell); }

  runtime::Recorder recorder_;
  nn::CellWatch* before_;
  bool open_ = true;
  std::vector<Event> events_;
};

}  // namespace

void bind_summary(nb::module_& m) {
  nb::class_<Tape>(m, "Tape", "Records the ops of one eager run and where cells begin and end.")
      .def(nb::init<>())
      .def("watch",
           [](Tape& t, nb::handle tensor) {
             return nb::steal(wrap(t.watch(to_tensor(tensor.ptr(), "summary"))));
           })
      .def("enter", [](Tape& t, uintptr_t cell) { t.note(cell, true, {}); })
      .def("leave", [](Tape& t, uintptr_t cell,
                       nb::handle results) { t.note(cell, false, to_tensors(results, "summary")); })
      .def("close", &Tape::close)
      .def("events", &Tape::events)
      .def("ops", &Tape::ops);
}

}  // namespace mycel::bind
