// What the source front end (mycel/front) needs of the tracer: regions that stay open while their
// results are settled, ops with effects, raw values of tensor objects, source locations.
#include <memory>
#include <string>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "ir/graph.h"
#include "runtime/dispatch.h"
#include "runtime/region.h"
#include "runtime/scan.h"

namespace mycel::bind {
namespace {

nb::list to_list(std::span<const Tensor> tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return out;
}

Tensors from_list(nb::handle list, const char* what) {
  Tensors out;
  for (nb::handle o : list) out.push_back(to_tensor(o.ptr(), what));
  return out;
}

// (carried, results of all steps): f(carried, rows) gives the same of one step.
nb::tuple scan(nb::handle f, nb::handle carried, nb::handle xs, int64_t length) {
  auto body = [f](std::span<const Tensor> state, std::span<const Tensor> rows) {
    nb::object out = f(to_list(state), to_list(rows));
    return runtime::Scanned{from_list(nb::object(out[0]), "scan"),
                            from_list(nb::object(out[1]), "scan")};
  };
  runtime::Scanned s =
      runtime::scan(body, from_list(carried, "scan"), from_list(xs, "scan"), length);
  return nb::make_tuple(to_list(s.carried), to_list(s.results));
}

// A Python function of a list of tensors as an op that runs for its effect: gives a new token.
nb::object effect(nb::handle f, nb::handle operands) {
  auto held = std::make_shared<Held>(f.ptr());
  auto call = std::make_shared<const ir::Callback>([held](std::span<const Tensor> in) {
    nb::gil_scoped_acquire gil;
    return from_list(nb::handle(held->get())(to_list(in)), "effect");
  });
  const ir::Op& op = ir::op_named("callback");
  Tensors out = runtime::record_node(
      op, from_list(operands, "effect"),
      op.complete({ir::Attr(ir::CallbackPtr(call)), ir::Attr(ir::Attr::Ints{0})}));
  return nb::steal(wrap(out[0]));
}

// A Python function of a list of tensors as an op; result k has the type of operand like[k].
nb::list host_call(nb::handle f, nb::handle operands, const std::vector<int64_t>& like) {
  auto held = std::make_shared<Held>(f.ptr());
  auto call = std::make_shared<const ir::Callback>([held](std::span<const Tensor> in) {
    nb::gil_scoped_acquire gil;
    return from_list(nb::handle(held->get())(to_list(in)), "host_call");
  });
  const ir::Op& op = ir::op_named("callback");
  return to_list(runtime::record_node(
      op, from_list(operands, "host_call"),
      op.complete({ir::Attr(ir::CallbackPtr(call)), ir::Attr(ir::Attr::Ints(like))})));
}

// The value of a tensor object, as a new object that shares nothing with it.
nb::object raw(nb::handle o) {
  if (!is_tensor(o.ptr())) type_error("raw: a Tensor was expected, got {}", kind_of(o.ptr()));
  return nb::steal(wrap(Tensor(value_of(o.ptr()))));
}

void set_raw(nb::handle o, nb::handle value) {
  if (!is_tensor(o.ptr())) type_error("set_raw: a Tensor was expected, got {}", kind_of(o.ptr()));
  TensorObject* t = as_object(o.ptr());
  (t->param ? t->param->value : t->value) = to_tensor(value.ptr(), "set_raw");
}

// Whether a tensor object holds the very value that another one does.
bool same_value(nb::handle a, nb::handle b) { return value_of(a.ptr()).same(value_of(b.ptr())); }

bool known(nb::handle o) {
  return !is_tensor(o.ptr()) || runtime::primal(value_of(o.ptr())).concrete();
}

}  // namespace

void bind_control(nb::module_& m) {
  using runtime::IterationKeys;
  using runtime::OpenRegion;
  nb::class_<OpenRegion>(m, "OpenRegion")
      .def("__init__",
           [](OpenRegion* self, nb::handle operands, const std::string& name) {
             new (self) OpenRegion(from_list(operands, "region"), name);
           })
      .def_prop_ro("params", [](const OpenRegion& r) { return to_list(r.params()); })
      .def("suspend", &OpenRegion::suspend)
      .def("finish", [](OpenRegion& r, nb::handle results) {
        r.finish(from_list(results, "region result"));
      });
  m.def("cond_of", [](const Tensor& pred, const OpenRegion& a, const OpenRegion& b) {
    return to_list(runtime::cond_of(pred, a, b));
  });
  m.def("while_of", [](const OpenRegion& c, const OpenRegion& b, nb::handle carried) {
    return to_list(runtime::while_of(c, b, from_list(carried, "while")));
  });
  nb::class_<IterationKeys>(m, "IterationKeys")
      .def(nb::init<const Tensor&>())
      .def_prop_ro("drawn", &IterationKeys::drawn)
      .def("close", &IterationKeys::close);
  m.def("scan", scan, nb::arg("fn"), nb::arg("carried"), nb::arg("xs"), nb::arg("length"));
  m.def("effect", effect, nb::arg("fn"), nb::arg("operands"));
  m.def("host_call", host_call, nb::arg("fn"), nb::arg("operands"), nb::arg("like"));
  m.def("raw", raw, nb::arg("tensor"));
  m.def("set_raw", set_raw, nb::arg("tensor"), nb::arg("value"));
  m.def("same_value", same_value, nb::arg("a"), nb::arg("b"));
  m.def("known", known, nb::arg("value"), "Whether a value is known while compiling.");
  m.def("intern_location", &ir::intern_loc, nb::arg("text"));
  m.def("set_location", &runtime::set_current_loc, nb::arg("loc"));
  m.def("location", &runtime::current_loc);
}

}  // namespace mycel::bind
