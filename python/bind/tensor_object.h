// mycel.Tensor as Python sees it: a small C struct around a Tensor value, so that operators reach
// the dispatcher without a Python layer. A Parameter is the same struct whose value lives in a
// ParameterData shared with C++ layers.
#pragma once

#include "bind/python.h"
#include "nn/parameter.h"
#include "tensor/tensor.h"

namespace mycel::bind {

struct TensorObject {
  PyObject_HEAD Tensor value;  // empty when `param` is set
  nn::Parameter param;
  PyObject* weak;
  bool constant;  // const_arg: compiled into graphs by value
};

extern PyTypeObject* g_tensor_type;

inline bool is_tensor(PyObject* o) {
  return Py_TYPE(o) == g_tensor_type || PyType_IsSubtype(Py_TYPE(o), g_tensor_type);
}
inline TensorObject* as_object(PyObject* o) { return reinterpret_cast<TensorObject*>(o); }

// Called when Python code reads a parameter while a function is compiled; see trace_function.cc.
extern thread_local void (*g_on_read)(const nn::Parameter&);

// RuntimeError: a compiled step in another thread has the parameter's buffer.
[[noreturn]] void being_updated(const nn::ParameterData& p);

// The value of a Tensor object (is_tensor must hold).
inline const Tensor& value_of(PyObject* o) {
  TensorObject* t = as_object(o);
  if (!t->param) return t->value;
  if (g_on_read) g_on_read(t->param);
  if (!t->param->value) being_updated(*t->param);
  return t->param->value;
}

Tensor cast_parameter(const Tensor& t, DType to);
// What Parameters are cast to when ops compute with them: the dtype of the cell that runs on this
// thread, see Cell.to_float. Set by Computing.
extern thread_local const DType* g_compute_type;

// The value of a Tensor object as an op takes it.
inline Tensor operand_of(PyObject* o) {
  const Tensor& t = value_of(o);
  if (!as_object(o)->param || !g_compute_type || !is_float(t.dtype())) return t;
  return cast_parameter(t, *g_compute_type);
}

// A new Tensor object; None for an empty Tensor.
PyObject* wrap(Tensor t);
// The Parameter object that stands for `p`: always the same one while Python holds it.
PyObject* wrap(const nn::Parameter& p);
// The Parameter behind an object; null when it is none.
nn::Parameter parameter_of(PyObject* o);

// Creates an instance of `type` (Tensor or a subclass) around a value.
PyObject* new_tensor(PyTypeObject* type, Tensor t);

void bind_tensor(nb::module_& m);
void bind_parameter(nb::module_& m);
void bind_buffers(nb::module_& m);

// Slots defined in other files.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);
PyObject* tensor_subscript(PyObject* self, PyObject* index);
int tensor_assign(PyObject* self, PyObject* index, PyObject* value);
int tensor_get_buffer(PyObject* self, Py_buffer* view, int flags);
void tensor_release_buffer(PyObject* self, Py_buffer* view);
// Slot table entries of the number protocol, ended by a zero slot.
const PyType_Slot* number_slots();
PyObject* tensor_compare(PyObject* a, PyObject* b, int op);

}  // namespace mycel::bind

namespace nanobind::detail {

// mycel::Tensor in the signature of a bound function: a Tensor object, or anything that makes one.
template <>
struct type_caster<mycel::Tensor> {
  NB_TYPE_CASTER(mycel::Tensor, const_name("mycel.Tensor"))
  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    if (!mycel::bind::is_tensor(src.ptr())) return false;
    value = mycel::bind::value_of(src.ptr());
    return true;
  }
  static handle from_cpp(const mycel::Tensor& t, rv_policy, cleanup_list*) noexcept {
    return mycel::bind::wrap(t);
  }
};

template <>
struct type_caster<mycel::nn::Parameter> {
  NB_TYPE_CASTER(mycel::nn::Parameter, const_name("mycel.Parameter"))
  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    value = mycel::bind::parameter_of(src.ptr());
    return value != nullptr;
  }
  static handle from_cpp(const mycel::nn::Parameter& p, rv_policy, cleanup_list*) noexcept {
    return mycel::bind::wrap(p);
  }
};

}  // namespace nanobind::detail
