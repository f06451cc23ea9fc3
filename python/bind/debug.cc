// The debugger's session for Python (insight/debug): mycel.insight.
#include <memory>
#include <thread>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "insight/debug/desk.h"
#include "insight/debug/session.h"

namespace mycel::bind {
namespace {

using Json = nlohmann::ordered_json;
using insight::debug::Session;

std::string text_of(const Json& j) {
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const std::string& text) {
  Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded()) value_error("the text is no JSON");
  return j;
}

// A Python function kept by C++: it may go when no thread holds the interpreter.
template <typename F>
auto held(nb::handle f, F&& call) {
  auto kept = std::make_shared<Held>(f.ptr());
  return [kept, call](const auto&... args) {
    nb::gil_scoped_acquire gil;
    return call(nb::handle(kept->get()), args...);
  };
}

void may_be_interrupted() {
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  // Other threads of the program go on while this one waits.
  nb::gil_scoped_release release;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::shared_ptr<Session> make(const std::string& options, nb::handle source, nb::handle where) {
  const Json o = json_of(options);
  insight::debug::SessionOptions s;
  s.folder = o.at("folder").get<std::string>();
  s.pause = o.at("pause").get<std::string>();
  s.online = o.at("online").get<bool>();
  s.keep_bytes = o.at("keep_bytes").get<size_t>();
  for (const Json& w : o.at("watchpoints"))
    s.watchpoints.push_back(insight::debug::watchpoint_of(w));
  if (const Json& d = o.at("dump"); !d.is_null()) {
    using What = insight::debug::DumpWriter::What;
    const auto what = d.at("what").get<std::string>();
    s.dump.on = true;
    s.dump.steps = insight::debug::steps_named(d.at("steps").get<std::string>());
    const auto shift = d.at("shift").get<int64_t>();
    for (auto& [first, last] : s.dump.steps) {
      first += shift;
      last += shift;
    }
    s.dump.scopes = d.at("scopes").get<std::vector<std::string>>();
    s.dump.folder = d.at("folder").get<std::string>();
    s.dump.what = what == "tensor"      ? What::kValues
                  : what == "statistic" ? What::kStatistics
                                        : What::kBoth;
  }
  s.waiting = may_be_interrupted;
  s.source = held(
      source, [](nb::handle f, const std::string& path) { return nb::cast<std::string>(f(path)); });
  runtime::tap::set_where(held(where, [](nb::handle f) { return nb::cast<std::string>(f()); }));
  nb::gil_scoped_release release;
  return std::make_shared<Session>(std::move(s));
}

class Handle {
 public:
  Handle(const std::string& options, nb::handle source, nb::handle where)
      : session_(make(options, source, where)) {}
  Session& operator*() { return *session_; }

 private:
  std::shared_ptr<Session> session_;
};

template <typename F>
auto free_of_gil(F&& f) {
  nb::gil_scoped_release release;
  return f();
}

class Dump {
 public:
  Dump(const std::string& root, const std::string& relative)
      : shelf_(insight::debug::DumpShelf::open(root, relative)) {
    if (!shelf_) fail(ErrorKind::kOs, "'{}/{}' is no folder of a dump", root, relative);
  }
  std::string answer(const std::string& question) {
    const Json q = json_of(question);
    return free_of_gil([&] { return text_of(insight::debug::answer_of(*shelf_, q)); });
  }
  nb::object value(int64_t step, const std::string& name) {
    auto e = shelf_->find(step, name);
    if (!e || !e->value) return nb::none();
    return nb::steal(wrap(std::move(e->value)));
  }
  std::string entries(int64_t step) {
    Json out = Json::array();
    for (const insight::debug::Entry& e : shelf_->entries(step)) {
      std::vector<int64_t> shape;
      for (int64_t d : e.shape) shape.push_back(d);
      out.push_back({{"name", e.name},
                     {"role", insight::debug::name_of(e.role)},
                     {"op", e.op},
                     {"at", e.at},
                     {"scope", e.scope},
                     {"inputs", e.inputs},
                     {"dtype", std::string(name_of(e.dtype))},
                     {"shape", shape},
                     {"order", e.order}});
    }
    return text_of(out);
  }
  std::vector<std::string> problems() { return shelf_->problems(); }

 private:
  std::unique_ptr<insight::debug::DumpShelf> shelf_;
};

}  // namespace

void bind_debug(nb::module_& m) {
  nb::module_ d = m.def_submodule("debug");
  nb::class_<Handle>(d, "Session")
      .def(nb::init<const std::string&, nb::handle, nb::handle>(), nb::arg("options"),
           nb::arg("source"), nb::arg("where"))
      .def("describe_scope",
           [](Handle& h, const std::string& scope, const std::string& cls) {
             free_of_gil([&] { (*h).describe_scope(scope, cls); });
           })
      .def("attach", [](Handle& h) { (*h).attach(); })
      .def("detach", [](Handle& h) { (*h).detach(); })
      .def("begin_step",
           [](Handle& h, int64_t step) { free_of_gil([&] { (*h).begin_step(step); }); })
      .def("parameter",
           [](Handle& h, const std::string& name, nb::handle value, bool trainable) {
             Tensor t = to_tensor(value.ptr(), "Debugger");
             free_of_gil([&] { (*h).parameter(name, t, trainable); });
           })
      .def("loss",
           [](Handle& h, nb::handle value) {
             Tensor t = to_tensor(value.ptr(), "Debugger");
             free_of_gil([&] { (*h).loss(t); });
           })
      .def("end_step", [](Handle& h) { free_of_gil([&] { (*h).end_step(); }); })
      .def("close", [](Handle& h) { free_of_gil([&] { (*h).close(); }); })
      .def("answer",
           [](Handle& h, const std::string& question) {
             const Json q = json_of(question);
             return free_of_gil([&] { return text_of((*h).answer(q)); });
           })
      .def("hits", [](Handle& h) {
        Json out = Json::array();
        for (const insight::debug::Hit& hit : (*h).hits())
          out.push_back(insight::debug::to_json(hit));
        return text_of(out);
      });
  nb::class_<Dump>(d, "Dump")
      .def(nb::init<const std::string&, const std::string&>(), nb::arg("root"), nb::arg("relative"))
      .def("answer", &Dump::answer)
      .def("value", &Dump::value)
      .def("entries", &Dump::entries)
      .def("problems", &Dump::problems);
  d.def("conditions", insight::debug::conditions_json);
  d.def("conditions_markdown", insight::debug::conditions_markdown);
  d.def("check_watchpoint", [](const std::string& text) {
    insight::debug::Watches watches;
    watches.add(insight::debug::watchpoint_of(json_of(text)));
  });
  d.def("set_scope", &runtime::set_scope, nb::arg("scope"));
}

}  // namespace mycel::bind
