// Parameter objects: a Tensor object whose value lives in a ParameterData that C++ layers may hold
// too.
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"
#include "runtime/trace.h"

namespace mycel::bind {
namespace {

PyTypeObject* g_base = nullptr;        // _mycel.ParameterBase
PyObject* g_parameter_type = nullptr;  // mycel.Parameter, once the package has registered it
// The Python object of each ParameterData, so that `net.weight is net.weight`. Borrowed: the object
// takes itself out when it goes. Guarded by the GIL.
std::unordered_map<const nn::ParameterData*, PyObject*>& living() {
  static auto* map = new std::unordered_map<const nn::ParameterData*, PyObject*>;
  return *map;
}

nn::ParameterData& data(PyObject* self) {
  const nn::Parameter& p = as_object(self)->param;
  if (!p) type_error("Parameter: __init__ was not called");
  return *p;
}

PyObject* adopt(PyTypeObject* type, const nn::Parameter& p) {
  PyObject* o = new_tensor(type, Tensor());
  if (!o) throw nb::python_error();
  as_object(o)->param = p;
  living()[p.get()] = o;
  return o;
}

// An empty place; __init__ of the Python class assigns value and flags.
PyObject* parameter_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&] {
    return adopt(type, nn::make_parameter(Tensor::empty(DType::kFloat32, {0}), "Parameter"));
  });
}

void parameter_dealloc(PyObject* self) {
  const nn::Parameter& p = as_object(self)->param;
  auto it = living().find(p.get());
  if (it != living().end() && it->second == self) living().erase(it);
  static auto base = reinterpret_cast<destructor>(PyType_GetSlot(g_tensor_type, Py_tp_dealloc));
  base(self);
}

// _assign(value, checked): replaces the value; dtype and shape must stay when `checked`.
PyObject* parameter_assign(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* value;
    int checked = 1;
    if (!PyArg_ParseTuple(args, "O|p", &value, &checked)) return nullptr;
    nn::ParameterData& p = data(self);
    value_of(self);  // tells a compiler that the parameter takes part
    Tensor t = to_tensor(value, "Parameter");
    if (checked && (!(t.shape() == p.value.shape()) || t.dtype() != p.value.dtype())) {
      throw UserError(ErrorKind::kValue,
                      fmt::format("Parameter '{}' is {}; {} cannot be assigned to it", p.name,
                                  p.value.describe(), t.describe()),
                      "Use set_data(value, slice_shape=True) to change the shape, .astype to "
                      "change the dtype.");
    }
    p.value = std::move(t);
    Py_RETURN_NONE;
  });
}

PyObject* parameter_plain(PyObject* self, PyObject*) {
  return guarded([&] {
    data(self);
    return wrap(value_of(self));
  });
}

PyObject* get_name(PyObject* self, void*) {
  return guarded([&] { return PyUnicode_FromString(data(self).name.c_str()); });
}
int set_name(PyObject* self, PyObject* v, void*) {
  return guarded_int([&] {
    if (!v) type_error("Parameter: 'name' cannot be deleted");
    data(self).name = to_string(v, "Parameter: 'name'");
    return 0;
  });
}

template <bool nn::ParameterData::* field>
PyObject* get_flag(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(data(self).*field); });
}
template <bool nn::ParameterData::* field>
int set_flag(PyObject* self, PyObject* v, void* name) {
  return guarded_int([&] {
    if (!v || !PyBool_Check(v)) {
      type_error("Parameter: '{}' must be True or False, got {}", static_cast<const char*>(name),
                 v ? kind_of(v) : "nothing");
    }
    data(self).*field = v == Py_True;
    return 0;
  });
}

PyObject* get_fusion(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLong(data(self).comm_fusion); });
}
int set_fusion(PyObject* self, PyObject* v, void*) {
  return guarded_int([&] {
    int64_t n = v ? to_int(v, "Parameter: 'comm_fusion'") : -1;
    if (n < 0) value_error("Parameter: 'comm_fusion' must be at least 0, got {}", n);
    data(self).comm_fusion = static_cast<int>(n);
    return 0;
  });
}

PyObject* get_stages(PyObject* self, void*) {
  return guarded([&] {
    nb::list out;
    for (int s : data(self).pipeline_stages) out.append(s);
    return out.release().ptr();
  });
}
int set_stages(PyObject* self, PyObject* v, void*) {
  return guarded_int([&] {
    std::vector<int64_t> stages =
        v ? to_ints(v, "Parameter: 'pipeline_stages'") : std::vector<int64_t>();
    data(self).pipeline_stages.assign(stages.begin(), stages.end());
    return 0;
  });
}

template <bool nn::ParameterData::* field>
PyGetSetDef flag(const char* name, const char* doc) {
  return {name, get_flag<field>, set_flag<field>, doc, const_cast<char*>(name)};
}

using Data = nn::ParameterData;
PyGetSetDef getset[] = {
    {"name", get_name, set_name, "Name, unique inside a network.", nullptr},
    flag<&Data::requires_grad>("requires_grad", "Whether training changes it."),
    flag<&Data::layerwise_parallel>("layerwise_parallel", "Whether each device keeps its own."),
    flag<&Data::parallel_optimizer>("parallel_optimizer",
                                    "Whether its optimizer state may be split."),
    flag<&Data::parallel_optimizer_comm_recompute>(
        "parallel_optimizer_comm_recompute",
        "Whether the gather of a split parameter is recomputed."),
    {"comm_fusion", get_fusion, set_fusion,
     "Gradients of equal numbers are reduced together; 0: alone.", nullptr},
    {"pipeline_stages", get_stages, set_stages, "Stages that hold a copy.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {{"_assign", parameter_assign, METH_VARARGS, "Replaces the value."},
                         {"_plain", parameter_plain, METH_NOARGS,
                          "The value as a Tensor that later assignments do not change."},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void being_updated(const nn::ParameterData& p) {
  fail(ErrorKind::kRuntime, "Parameter '{}' is being updated by a compiled step in another thread",
       p.name);
}

nn::Parameter parameter_of(PyObject* o) { return is_tensor(o) ? as_object(o)->param : nullptr; }

PyObject* wrap(const nn::Parameter& p) {
  if (!p) Py_RETURN_NONE;
  auto it = living().find(p.get());
  if (it != living().end()) {
    Py_INCREF(it->second);
    return it->second;
  }
  MYCEL_CHECK(g_parameter_type, "mycel.Parameter is not registered yet");
  return adopt(reinterpret_cast<PyTypeObject*>(g_parameter_type), p);
}

void bind_parameter(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_base, g_tensor_type},
                                {Py_tp_new, reinterpret_cast<void*>(parameter_new)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(parameter_dealloc)},
                                {Py_tp_getset, getset},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"mycel._mycel.ParameterBase", sizeof(TensorObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  g_base = reinterpret_cast<PyTypeObject*>(owned(PyType_FromSpec(&spec)).release().ptr());
  m.attr("ParameterBase") = nb::handle(reinterpret_cast<PyObject*>(g_base));
  m.def("register_parameter_type", [](nb::handle type) {
    if (!PyType_Check(type.ptr()) ||
        !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), g_base)) {
      type_error("register_parameter_type: a subclass of ParameterBase is needed");
    }
    Py_INCREF(type.ptr());
    g_parameter_type = type.ptr();
  });
  m.def("is_parameter", [](nb::handle o) { return parameter_of(o.ptr()) != nullptr; });
}

}  // namespace mycel::bind
