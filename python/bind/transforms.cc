// Transforms of Python functions. Functions take and give flat lists of tensors; the Python layer
// (mycel/ops/_transforms.py) turns the user's arguments and results into such lists and back.
#include "runtime/transforms.h"

#include <memory>
#include <span>
#include <vector>

#include <nanobind/stl/optional.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "runtime/control.h"
#include "runtime/dispatch.h"
#include "runtime/jacobian.h"
#include "runtime/vmap.h"

namespace mycel::bind {
namespace {

nb::list to_list(std::span<const Tensor> tensors) {
  nb::list out;
  for (const Tensor& t : tensors) out.append(nb::steal(wrap(t)));
  return out;
}

// None stands for an absent tensor.
Tensors from_list(nb::handle list, const char* what) {
  Tensors out;
  for (nb::handle o : list) out.push_back(o.is_none() ? Tensor() : to_tensor(o.ptr(), what));
  return out;
}

// A Python function of a list of tensors as the C++ transforms want it. Callable from any thread.
runtime::Fn function(nb::handle f, const char* what) {
  auto held = std::make_shared<Held>(f.ptr());
  return [held, what](std::span<const Tensor> in) {
    nb::gil_scoped_acquire gil;
    nb::object out = nb::handle(held->get())(to_list(in));
    return from_list(out, what);
  };
}

template <typename F>
auto released(F&& f) {
  nb::gil_scoped_release release;
  return f();
}

nb::tuple value_and_grad(nb::handle f, nb::handle args, std::vector<int> wrt, nb::handle variables,
                         nb::handle seeds, bool has_aux) {
  runtime::GradOptions o;
  o.wrt = std::move(wrt);
  std::vector<nn::Parameter> held;
  for (nb::handle v : variables) {
    nn::Parameter p = parameter_of(v.ptr());
    if (!p) type_error("grad: weights must be Parameters, got {}", kind_of(v.ptr()));
    value_of(v.ptr());  // tells a compiler that the parameter takes part
    held.push_back(p);
    o.variables.push_back(&p->value);
  }
  o.seeds = from_list(seeds, "grad: sens");
  o.has_aux = has_aux;
  runtime::Fn fn = function(f, "grad: the function's result");
  Tensors in = from_list(args, "grad: argument");
  runtime::Grads g = released([&] { return runtime::value_and_grad(fn, in, o); });
  return nb::make_tuple(to_list(g.values), to_list(g.inputs), to_list(g.variables));
}

nb::tuple vjp(nb::handle f, nb::handle args) {
  runtime::Fn fn = function(f, "vjp: the function's result");
  Tensors in = from_list(args, "vjp: argument");
  auto back = std::make_shared<runtime::Pullback>(released([&] { return runtime::vjp(fn, in); }));
  nb::object pull = nb::cpp_function([back](nb::handle seeds) {
    Tensors in = from_list(seeds, "vjp: gradient");
    return to_list(released([&] { return back->pull(in); }));
  });
  return nb::make_tuple(to_list(back->values), pull);
}

nb::tuple jvp(nb::handle f, nb::handle args, nb::handle tangents) {
  runtime::Fn fn = function(f, "jvp: the function's result");
  Tensors in = from_list(args, "jvp: argument"), v = from_list(tangents, "jvp: tangent");
  runtime::Pushforward p = released([&] { return runtime::jvp(fn, in, v); });
  return nb::make_tuple(to_list(p.values), to_list(p.tangents));
}

runtime::Mapped map_examples(nb::handle f, nb::handle args, std::vector<runtime::Axis> axes) {
  runtime::Fn fn = function(f, "vmap: the function's result");
  Tensors in = from_list(args, "vmap: argument");
  return released([&] { return runtime::map_examples(fn, in, axes); });
}

nb::tuple linearize(nb::handle f, nb::handle args) {
  runtime::Fn fn = function(f, "linearize: the function's result");
  Tensors in = from_list(args, "linearize: argument");
  auto l = std::make_shared<runtime::Linear>(released([&] { return runtime::linearize(fn, in); }));
  nb::object push = nb::cpp_function([l](nb::handle tangents) {
    Tensors v = from_list(tangents, "linearize: direction");
    return to_list(released([&] { return l->push(v); }));
  });
  return nb::make_tuple(to_list(l->values), push);
}

// `series`: per argument a list of derivatives.
nb::tuple jet(nb::handle f, nb::handle args, nb::handle series) {
  runtime::Fn fn = function(f, "jet: the function's result");
  Tensors in = from_list(args, "jet: primal");
  std::vector<Tensors> curves;
  for (nb::handle s : series) curves.push_back(from_list(s, "jet: series"));
  runtime::Jet j = released([&] { return runtime::jet(fn, in, curves); });
  nb::list out;
  for (const Tensors& s : j.series) out.append(to_list(s));
  return nb::make_tuple(to_list(j.values), out);
}

using JacobianFn = runtime::Jacobian (*)(const runtime::Fn&, std::span<const Tensor>,
                                         const runtime::JacobianOptions&);

template <JacobianFn way>
nb::tuple jacobian(nb::handle f, nb::handle args, std::vector<int> wrt, bool has_aux) {
  runtime::Fn fn = function(f, "the function's result");
  Tensors in = from_list(args, "argument");
  runtime::Jacobian j = released([&] { return way(fn, in, {wrt, has_aux}); });
  nb::list blocks;
  for (const Tensors& row : j.blocks) blocks.append(to_list(row));
  return nb::make_tuple(to_list(j.values), blocks);
}

nb::list custom_gradient(nb::handle f, nb::handle bprop, nb::handle args) {
  runtime::Fn forward = function(f, "construct"), backward = function(bprop, "bprop");
  Tensors in = from_list(args, "argument");
  return to_list(released([&] { return runtime::with_custom_gradient(forward, backward, in); }));
}

nb::list cond(const Tensor& pred, nb::handle then, nb::handle otherwise, nb::handle operands) {
  runtime::Fn a = function(then, "cond"), b = function(otherwise, "cond");
  Tensors in = from_list(operands, "cond");
  return to_list(released([&] { return runtime::cond(pred, a, b, in); }));
}

nb::list while_loop(nb::handle condition, nb::handle body, nb::handle carried) {
  runtime::Fn c = function(condition, "while_loop"), b = function(body, "while_loop");
  Tensors in = from_list(carried, "while_loop");
  return to_list(released([&] { return runtime::while_loop(c, b, in); }));
}

}  // namespace

void bind_transforms(nb::module_& m) {
  m.def("value_and_grad", value_and_grad, nb::arg("fn"), nb::arg("args"), nb::arg("wrt"),
        nb::arg("variables"), nb::arg("seeds"), nb::arg("has_aux"));
  m.def("vjp", vjp, nb::arg("fn"), nb::arg("args"));
  m.def("jvp", jvp, nb::arg("fn"), nb::arg("args"), nb::arg("tangents"));
  nb::class_<runtime::Mapped>(m, "Mapped")
      .def_ro("size", &runtime::Mapped::size)
      .def("batched", [](const runtime::Mapped& m, size_t i) { return bool(m.batched.at(i)); })
      .def(
          "placed",
          [](const runtime::Mapped& m, size_t i, runtime::Axis axis) {
            return nb::steal(wrap(runtime::placed(m, i, axis)));
          },
          nb::arg("result"), nb::arg("axis").none());
  m.def("map_examples", map_examples, nb::arg("fn"), nb::arg("args"), nb::arg("in_axes"));
  m.def("jet", jet, nb::arg("fn"), nb::arg("args"), nb::arg("series"));
  m.def("linearize", linearize, nb::arg("fn"), nb::arg("args"));
  m.def("jacfwd", jacobian<runtime::jacfwd>);
  m.def("jacrev", jacobian<runtime::jacrev>);
  m.def("hessian", jacobian<runtime::hessian>);
  m.def("custom_gradient", custom_gradient, nb::arg("fn"), nb::arg("bprop"), nb::arg("args"));
  m.def("cond", cond, nb::arg("pred"), nb::arg("then"), nb::arg("otherwise"), nb::arg("operands"));
  m.def("while_loop", while_loop, nb::arg("condition"), nb::arg("body"), nb::arg("carried"));
}

}  // namespace mycel::bind
