#include "bind/op_object.h"

#include <cstddef>
#include <new>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "runtime/dispatch.h"
#include "structmember.h"

namespace mycel::bind {
namespace {

struct OpObject {
  PyObject_HEAD vectorcallfunc call;
  const ir::Op* op;
  std::vector<int>* order;  // places that callers see; never freed: one object per record
};

PyTypeObject* g_op_type = nullptr;

const ir::Op& op_in(PyObject* o) { return *reinterpret_cast<OpObject*>(o)->op; }

// The common case without names and attributes: tensors only, one result.
bool all_tensors(PyObject* const* args, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!is_tensor(args[i])) return false;
  }
  return true;
}

PyObject* op_vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const ir::Op& op = op_in(self);
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
    const bool plain = !keywords && count == op.inputs.size() && !op.variadic && !op.def.random &&
                       op.outputs.size() == 1 && (op.attrs.empty() || op.attrs[0].has_default);
    if (plain && count > 0 && count <= 3 && all_tensors(args, count) &&
        !op.outputs[0].starts_with("*")) {
      Tensor in[3];
      int64_t elements = 0;
      for (size_t i = 0; i < count; ++i) {
        in[i] = operand_of(args[i]);
        elements += in[i].concrete() ? in[i].size() : 0;
      }
      return wrap(unlocked(elements,
                           [&] { return runtime::call1(op, std::span<const Tensor>(in, count)); }));
    }
    Arguments a(op);
    bind_arguments(a, *reinterpret_cast<OpObject*>(self)->order, op.name.c_str(), args, count,
                   keywords);
    return run_op(a);
  });
}

PyObject* op_repr(PyObject* self) {
  return guarded(
      [&] { return PyUnicode_FromString(fmt::format("<op {}>", op_in(self).name).c_str()); });
}

PyObject* op_name(PyObject* self, void*) { return PyUnicode_FromString(op_in(self).name.c_str()); }
PyObject* op_module(PyObject*, void*) { return PyUnicode_FromString("mycel.ops"); }

std::string document(const ir::Op& op) {
  std::string s = op.signature() + "\n\n" + op.def.doc + "\n";
  if (!op.inputs.empty()) s += "\nOperands:\n";
  for (const ir::InputSpec& in : op.inputs) {
    s += fmt::format("    {}{}: {}{}{}\n", in.variadic ? "*" : "", in.name, in.cls, in.dims,
                     in.optional ? ", optional" : "");
  }
  if (!op.attrs.empty()) s += "\nAttributes:\n";
  for (size_t i = 0; i < op.attrs.size(); ++i) s += fmt::format("    {}\n", op.def.attr[i]);
  if (op.def.grad.none) s += fmt::format("\nNo gradient: {}.\n", op.def.grad.none);
  return s;
}

PyObject* op_doc(PyObject* self, void*) {
  return guarded([&] { return PyUnicode_FromString(document(op_in(self)).c_str()); });
}
PyObject* op_text_signature(PyObject* self, void*) {
  return guarded([&] {
    std::string s = op_in(self).signature();
    return PyUnicode_FromString(s.substr(op_in(self).name.size()).c_str());
  });
}
PyObject* op_signature(PyObject* self, void*) {
  return guarded([&] {
    return nb::module_::import_("mycel.ops._signature")
        .attr("of")(nb::handle(self))
        .release()
        .ptr();
  });
}

// (name, kind, default) of each parameter that callers see: kind "operand", "variadic" or "attr".
PyObject* op_parameters(PyObject* self, void*) {
  return guarded([&] {
    const ir::Op& op = op_in(self);
    nb::list out;
    for (int p : *reinterpret_cast<OpObject*>(self)->order) {
      if (p < static_cast<int>(op.inputs.size())) {
        const ir::InputSpec& in = op.inputs[p];
        out.append(
            nb::make_tuple(in.name, in.variadic ? "variadic" : "operand", in.optional, nb::none()));
      } else {
        const ir::AttrSpec& at = op.attrs[p - op.inputs.size()];
        nb::object value = owned(from_attr(at.default_value));
        out.append(nb::make_tuple(at.name, "attr", at.has_default, value));
      }
    }
    return out.release().ptr();
  });
}

PyObject* op_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    nb::object get = nb::module_::import_("mycel.ops._signature").attr("restore");
    return nb::make_tuple(get, nb::make_tuple(op_in(self).name)).release().ptr();
  });
}

// As a class attribute an op is a method: the instance is its first operand.
PyObject* op_get(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return guarded([&] {
    static PyObject* method =
        nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
    return nb::handle(method)(nb::handle(self), nb::handle(instance)).release().ptr();
  });
}

PyMemberDef op_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef op_getset[] = {{"__name__", op_name, nullptr, nullptr, nullptr},
                           {"__qualname__", op_name, nullptr, nullptr, nullptr},
                           {"__module__", op_module, nullptr, nullptr, nullptr},
                           {"__doc__", op_doc, nullptr, nullptr, nullptr},
                           {"__text_signature__", op_text_signature, nullptr, nullptr, nullptr},
                           {"__signature__", op_signature, nullptr, nullptr, nullptr},
                           {"parameters", op_parameters, nullptr,
                            "(name, kind, has default, default) of each parameter.", nullptr},
                           {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef op_methods[] = {{"__reduce__", op_reduce, METH_NOARGS, "Pickles as its name."},
                            {nullptr, nullptr, 0, nullptr}};

// One entry per public record: name, primitive line, methods, aliases.
nb::list records() {
  nb::list out;
  for (const ir::Op* op : ir::all_ops()) {
    out.append(nb::make_tuple(op->name, op->def.primitive, op->def.method, op->def.alias,
                              op->def.internal));
  }
  return out;
}

// What the record says of the attributes: (name, kind, None allowed, length or -1, choices) of
// each.
nb::list attributes(const std::string& name) {
  static constexpr const char* kKinds[] = {"bool",     "int",   "float",  "str",
                                           "dtype",    "graph", "tensor", "callback",
                                           "function", "int[]", "float[]"};
  nb::list out;
  for (const ir::AttrSpec& s : ir::op_named(name).attrs) {
    nb::list choices;
    for (const std::string& c : s.choices) choices.append(nb::cast(c));
    out.append(
        nb::make_tuple(s.name, kKinds[static_cast<int>(s.kind)], s.optional, s.length, choices));
  }
  return out;
}

// What the record says of the operands: (name, class, dims, optional, variadic) of each.
nb::list operands(const std::string& name) {
  nb::list out;
  for (const ir::InputSpec& s : ir::op_named(name).inputs)
    out.append(nb::make_tuple(s.name, s.cls, s.dims, s.optional, s.variadic));
  return out;
}

}  // namespace

PyObject* op_object(const ir::Op& op) {
  static auto* objects = new std::unordered_map<const ir::Op*, PyObject*>;
  PyObject*& o = (*objects)[&op];
  if (!o) {
    o = PyType_GenericAlloc(g_op_type, 0);
    if (!o) throw nb::python_error();
    auto* self = reinterpret_cast<OpObject*>(o);
    self->call = op_vectorcall;
    self->op = &op;
    self->order = new std::vector<int>(visible_places(op));
  }
  return o;
}

void bind_ops(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
                                {Py_tp_members, op_members},
                                {Py_tp_getset, op_getset},
                                {Py_tp_methods, op_methods},
                                {Py_tp_descr_get, reinterpret_cast<void*>(op_get)},
                                {0, nullptr}};
  constexpr unsigned kFlags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  static PyType_Spec spec = {"mycel._mycel.Op", sizeof(OpObject), 0, kFlags, slots};
  g_op_type = reinterpret_cast<PyTypeObject*>(owned(PyType_FromSpec(&spec)).release().ptr());
  m.attr("Op") = nb::handle(reinterpret_cast<PyObject*>(g_op_type));
  m.def(
      "op", [](const std::string& name) { return nb::borrow(op_object(ir::op_named(name))); },
      nb::arg("name"), "The callable of the record named `name`.");
  m.def("records", records, "(name, primitive, method, alias, internal) of every record.");
  m.def("operands", operands, nb::arg("name"),
        "(name, class, dims, optional, variadic) of each operand of a record.");
  m.def("attributes", attributes, nb::arg("name"),
        "(name, kind, None allowed, length, choices) of each attribute of a record.");
  m.def(
      "is_op", [](const std::string& name) { return ir::find_op(name) != nullptr; },
      nb::arg("name"));
}

}  // namespace mycel::bind
