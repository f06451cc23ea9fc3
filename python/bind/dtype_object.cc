#include "bind/dtype_object.h"

#include <string>

#include <fmt/format.h>

#include "base/error.h"

namespace mycel::bind {
namespace {

struct DTypeObject {
  PyObject_HEAD DType code;
};

PyTypeObject* g_type = nullptr;
PyObject* g_objects[kDTypeCount] = {};

DType code_of(PyObject* o) { return reinterpret_cast<DTypeObject*>(o)->code; }

std::string python_name(DType t) { return is_bool(t) ? "bool_" : std::string(name_of(t)); }

// "Float32", "Bool", "UInt8": the spelling of messages in the published API.
std::string title(DType t) {
  std::string s(name_of(t));
  if (s.starts_with("uint")) return "UI" + s.substr(2);
  if (s.starts_with("bfloat")) return "BF" + s.substr(2);
  s[0] = static_cast<char>(std::toupper(s[0]));
  return s;
}

PyObject* dtype_repr(PyObject* self) {
  std::string s = "mycel." + python_name(code_of(self));
  return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
}

PyObject* dtype_str(PyObject* self) {
  std::string s = title(code_of(self));
  return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
}

PyObject* dtype_name(PyObject* self, void*) {
  return PyUnicode_FromString(std::string(name_of(code_of(self))).c_str());
}

PyObject* dtype_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(size_of(code_of(self)));
}

PyObject* dtype_reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(python_name(code_of(self)).c_str());
}

PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, "Pickles as its global name."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef dtype_getset[] = {
    {"name", dtype_name, nullptr, "The name as NumPy spells it.", nullptr},
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// NumPy's dtype objects and scalar types, without importing NumPy.
bool from_numpy_dtype(PyObject* o, DType* out) {
  nb::object name;
  if (PyType_Check(o)) {
    name = nb::getattr(nb::handle(o), "__name__");
    nb::object module = nb::getattr(nb::handle(o), "__module__", nb::str(""));
    std::string from = nb::isinstance<nb::str>(module) ? nb::cast<std::string>(module) : "";
    if (from != "numpy" && from != "ml_dtypes") return false;
  } else {
    if (!nb::hasattr(nb::handle(o), "itemsize") || !nb::hasattr(nb::handle(o), "kind"))
      return false;
    name = nb::getattr(nb::handle(o), "name");
  }
  if (!nb::isinstance<nb::str>(name)) return false;
  std::string s = nb::cast<std::string>(name);
  return parse_dtype(s == "bool_" ? "bool" : s, out);
}

}  // namespace

PyObject* dtype_object(DType t) { return g_objects[static_cast<int>(t)]; }

bool is_dtype_object(PyObject* o) { return Py_TYPE(o) == g_type; }

bool to_dtype(PyObject* o, DType* out) {
  if (is_dtype_object(o)) {
    *out = code_of(o);
    return true;
  }
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return *out = DType::kFloat32, true;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return *out = DType::kInt64, true;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return *out = DType::kBool, true;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return *out = DType::kComplex128, true;
  if (PyUnicode_Check(o)) {
    std::string s = nb::cast<std::string>(nb::handle(o));
    return parse_dtype(s == "bool_" ? "bool" : s, out);
  }
  return from_numpy_dtype(o, out);
}

DType require_dtype(PyObject* o, const char* what) {
  DType t{};
  if (to_dtype(o, &t)) return t;
  std::string text = nb::cast<std::string>(nb::repr(nb::handle(o)));
  throw UserError(
      ErrorKind::kType, fmt::format("{}: {} is not a dtype Mycel has", what, text),
      "Give one of mycel.float32, float16, bfloat16, float64, int8 … int64, uint8 … uint64, "
      "bool_, complex64, complex128.");
}

void bind_dtype(nb::module_& m) {
  static PyType_Slot slots[] = {
      {Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
      {Py_tp_str, reinterpret_cast<void*>(dtype_str)},
      {Py_tp_methods, dtype_methods},
      {Py_tp_getset, dtype_getset},
      {Py_tp_doc,
       const_cast<char*>("An element type. There is one object per type; compare with ==.")},
      {0, nullptr}};
  static PyType_Spec spec = {"mycel._mycel.DType", sizeof(DTypeObject), 0, Py_TPFLAGS_DEFAULT,
                             slots};
  g_type = reinterpret_cast<PyTypeObject*>(owned(PyType_FromSpec(&spec)).release().ptr());
  m.attr("DType") = nb::handle(reinterpret_cast<PyObject*>(g_type));
  for (int i = 0; i < kDTypeCount; ++i) {
    PyObject* o = PyType_GenericAlloc(g_type, 0);
    if (!o) throw nb::python_error();
    reinterpret_cast<DTypeObject*>(o)->code = static_cast<DType>(i);
    g_objects[i] = o;
    m.attr(python_name(static_cast<DType>(i)).c_str()) = nb::handle(o);
  }
  m.def(
      "dtype",
      [](nb::handle o) { return nb::borrow(dtype_object(require_dtype(o.ptr(), "dtype"))); },
      nb::arg("name"), "The dtype object of a name, a NumPy dtype, or a Python number type.");
}

}  // namespace mycel::bind
