// Primitive: the published class form of an op, `ops.ReduceSum(keep_dims=True)(x, 1)`. The
// attributes given to the constructor are fixed; the call binds operands and the remaining
// attributes in record order.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/op_object.h"
#include "structmember.h"

namespace mycel::bind {
namespace {

struct Binding {
  const ir::Op* op = nullptr;
  std::vector<PyObject*> fixed;  // owned; by place
  std::vector<int> order;        // places bound by a call
};

struct PrimitiveObject {
  PyObject_HEAD vectorcallfunc call;
  Binding* binding;
};

PrimitiveObject* self_of(PyObject* o) { return reinterpret_cast<PrimitiveObject*>(o); }

const char* class_name(PyObject* o, std::string* keep) {
  *keep =
      nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(o))).attr("__name__"));
  return keep->c_str();
}

PyObject* primitive_call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const Binding* b = self_of(self)->binding;
    std::string name;
    if (!b) type_error("{}: __init__ of the base class was not called", class_name(self, &name));
    Arguments a(*b->op);
    a.slots = b->fixed;
    bind_arguments(a, b->order, class_name(self, &name), args,
                   static_cast<size_t>(PyVectorcall_NARGS(nargsf)), keywords);
    return run_op(a);
  });
}

PyObject* primitive_new(PyTypeObject* type, PyObject*, PyObject*) {
  auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* o = alloc(type, 0);
  if (!o) return nullptr;
  self_of(o)->call = primitive_call;
  self_of(o)->binding = nullptr;
  return o;
}

int primitive_clear(PyObject* self) {
  Binding* b = std::exchange(self_of(self)->binding, nullptr);
  if (b) {
    for (PyObject* o : b->fixed) Py_XDECREF(o);
  }
  delete b;
  return 0;
}

int primitive_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (self_of(self)->binding) {
    for (PyObject* o : self_of(self)->binding->fixed) Py_VISIT(o);
  }
  return 0;
}

void primitive_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  primitive_clear(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// _bind(op, names, args, kwargs): fixes the attributes called `names`; values may stay at their
// defaults.
PyObject* primitive_bind(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *op_name, *names, *values, *keywords;
    if (!PyArg_ParseTuple(args, "UOO!O!", &op_name, &names, &PyTuple_Type, &values, &PyDict_Type,
                          &keywords)) {
      return nullptr;
    }
    const ir::Op& op = ir::op_named(nb::cast<std::string>(nb::handle(op_name)));
    auto b = std::make_unique<Binding>();
    b->op = &op;
    b->fixed.assign(op.inputs.size() + op.attrs.size(), nullptr);
    std::vector<int> fixed;
    for (nb::handle n : nb::borrow<nb::tuple>(names)) {
      int place = op.attr_index(nb::cast<std::string>(n));
      MYCEL_CHECK(place >= 0, "the primitive line of {} names an unknown attribute", op.name);
      fixed.push_back(place + static_cast<int>(op.inputs.size()));
    }
    // The constructor is bound with the rules of a call: positional values, then names.
    std::vector<PyObject*> given;
    for (Py_ssize_t i = 0; i < PyTuple_Size(values); ++i)
      given.push_back(PyTuple_GetItem(values, i));
    const size_t count = given.size();
    nb::object keys = owned(PyTuple_New(PyDict_Size(keywords)));
    Py_ssize_t at = 0, k = 0;
    PyObject *key, *value;
    while (PyDict_Next(keywords, &at, &key, &value)) {
      Py_INCREF(key);
      PyTuple_SetItem(keys.ptr(), k++, key);
      given.push_back(value);
    }
    Arguments a(op);
    std::string name;
    bind_arguments(a, fixed, class_name(self, &name), given.data(), count, keys.ptr());
    for (size_t p = 0; p < a.slots.size(); ++p) {
      if (!a.slots[p]) continue;
      const ir::AttrSpec& spec = op.attrs[p - op.inputs.size()];
      // Fits now, so that a bad value is an error of the constructor's line.
      ir::fit_attr(name, spec, to_attr(a.slots[p], spec, name));
    }
    for (PyObject* o : a.slots) Py_XINCREF(o);
    b->fixed = a.slots;
    for (int p : visible_places(op)) {
      if (std::find(fixed.begin(), fixed.end(), p) == fixed.end()) b->order.push_back(p);
    }
    primitive_clear(self);
    self_of(self)->binding = b.release();
    Py_RETURN_NONE;
  });
}

// The fixed attributes as a dict of name to value.
PyObject* primitive_fixed(PyObject* self, void*) {
  return guarded([&] {
    nb::dict out;
    if (const Binding* b = self_of(self)->binding) {
      for (size_t i = 0; i < b->op->attrs.size(); ++i) {
        PyObject* o = b->fixed[b->op->inputs.size() + i];
        if (o) out[b->op->attrs[i].name.c_str()] = nb::handle(o);
      }
    }
    return out.release().ptr();
  });
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PrimitiveObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {
    {"_bind", primitive_bind, METH_VARARGS, "Binds a record and constructor arguments."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef getset[] = {
    {"_fixed", primitive_fixed, nullptr, "Attributes that were given.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void bind_primitive(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(primitive_new)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(primitive_dealloc)},
                                {Py_tp_traverse, reinterpret_cast<void*>(primitive_traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(primitive_clear)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_members, members},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, getset},
                                {0, nullptr}};
  constexpr unsigned kFlags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
  static PyType_Spec spec = {"mycel._mycel.PrimitiveBase", sizeof(PrimitiveObject), 0, kFlags,
                             slots};
  m.attr("PrimitiveBase") = owned(PyType_FromSpec(&spec));
}

}  // namespace mycel::bind
