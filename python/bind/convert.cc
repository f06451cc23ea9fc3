#include "bind/convert.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "bind/dtype_object.h"
#include "bind/tensor_object.h"
#include "ir/core_ops.h"
#include "runtime/dispatch.h"
#include "runtime/trace.h"

namespace mycel::bind {
namespace {

bool has_method(PyObject* o, const char* name) {
  return nb::hasattr(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(o))), name);
}

// A 0-d object of another library that counts as a number: a NumPy scalar.
bool is_numpy_scalar(PyObject* o) {
  return has_method(o, "__array_interface__") && has_method(o, "itemsize") &&
         PyObject_CheckBuffer(o) && !PySequence_Check(o);
}

bool is_sequence(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

// An int as int64; false (no error set) when it does not fit.
bool fits_int64(PyObject* number, int64_t* out) {
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (v == -1 && PyErr_Occurred()) throw nb::python_error();
  *out = v;
  return overflow == 0;
}

Tensor int_scalar(PyObject* number, DType d) {
  int64_t v = 0;
  if (is_float(d) || is_complex(d)) return Tensor::scalar(d, PyLong_AsDouble(number));
  if (fits_int64(number, &v)) return Tensor::scalar(d, v);
  if (d == DType::kUInt64) {
    unsigned long long u = PyLong_AsUnsignedLongLong(number);
    if (!PyErr_Occurred()) return Tensor::scalar(d, static_cast<int64_t>(u));
    PyErr_Clear();
  }
  value_error("{} does not fit {}", nb::cast<std::string>(nb::str(nb::handle(number))), name_of(d));
}

Tensor complex_scalar(PyObject* number, DType d) {
  Tensor t = Tensor::empty(d, {});
  set_element(t.mutable_raw(), real_part_of(d), 0, PyComplex_RealAsDouble(number));
  set_element(t.mutable_raw(), real_part_of(d), 1, PyComplex_ImagAsDouble(number));
  return t;
}

}  // namespace

std::string kind_of(PyObject* o) {
  if (o == Py_None) return "None";
  if (is_tensor(o)) return "Tensor " + value_of(o).describe();
  std::string name =
      nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(o))).attr("__name__"));
  if (is_sequence(o) && PySequence_Size(o) > 0) {
    nb::object first = owned(PySequence_GetItem(o, 0));
    return name + " of " + kind_of(first.ptr());
  }
  return name;
}

bool is_number(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_numpy_scalar(o);
}

bool is_operand(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_sequence(o) ||
         (PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o) &&
          !PyUnicode_Check(o)) ||
         has_method(o, "__array__");
}

Tensor weak_scalar(PyObject* o, DType like) {
  if (PyBool_Check(o)) return Tensor::scalar(like, static_cast<int64_t>(o == Py_True));
  if (PyFloat_Check(o)) {
    return Tensor::scalar(is_float(like) || is_complex(like) ? like : DType::kFloat32,
                          PyFloat_AsDouble(o));
  }
  if (PyLong_Check(o)) return int_scalar(o, is_bool(like) ? DType::kInt64 : like);
  if (PyComplex_Check(o)) {
    bool wide = like == DType::kFloat64 || like == DType::kComplex128;
    return complex_scalar(o, wide ? DType::kComplex128 : DType::kComplex64);
  }
  nb::object number = nb::handle(o).attr("item")();  // a NumPy scalar counts as the number it holds
  if (is_numpy_scalar(number.ptr())) type_error("{} is no number", kind_of(o));
  return weak_scalar(number.ptr(), like);
}

Tensor to_operand(PyObject* o, DType like, const char* what) {
  if (is_tensor(o)) return value_of(o);
  if (is_number(o)) return weak_scalar(o, like);
  return to_tensor(o, what);
}

Tensor to_tensor(PyObject* o, DType dtype, const char* what) {
  if (is_number(o) && !is_numpy_scalar(o)) {
    Tensor t = weak_scalar(o, dtype);
    if (t.dtype() == dtype) return t;
    return runtime::call1(*ir::core_ops().cast, {t}, {dtype});
  }
  Tensor t = is_sequence(o) ? from_sequence(o, dtype, what) : to_tensor(o, what);
  return t.dtype() == dtype ? t : runtime::call1(*ir::core_ops().cast, {t}, {dtype});
}

int64_t to_int(PyObject* o, const char* what) {
  if (PyBool_Check(o) || !PyIndex_Check(o))
    type_error("{} must be an int, got {}", what, kind_of(o));
  if (is_tensor(o) && !is_int(value_of(o).dtype()))
    type_error("{} must be an int, got {}", what, kind_of(o));
  nb::object number = owned(PyNumber_Index(o));
  int64_t v = 0;
  if (!fits_int64(number.ptr(), &v)) {
    value_error("{} is {}, which does not fit 64 bits", what,
                nb::cast<std::string>(nb::str(number)));
  }
  return v;
}

double to_real(PyObject* o, const char* what) {
  if (PyFloat_Check(o)) return PyFloat_AsDouble(o);
  if (PyBool_Check(o) || PyUnicode_Check(o) || !(is_number(o) || is_tensor(o))) {
    type_error("{} must be a number, got {}", what, kind_of(o));
  }
  double v = PyFloat_AsDouble(o);
  if (v == -1 && PyErr_Occurred()) throw nb::python_error();
  return v;
}

std::string to_string(PyObject* o, const char* what) {
  if (!PyUnicode_Check(o)) type_error("{} must be a str, got {}", what, kind_of(o));
  return nb::cast<std::string>(nb::handle(o));
}

std::vector<int64_t> to_ints(PyObject* o, const char* what) {
  if (is_tensor(o) && value_of(o).rank() == 1) {
    Tensor t = runtime::concrete(value_of(o), what);
    if (!is_int(t.dtype())) type_error("{} must be ints, got {}", what, t.describe());
    std::vector<int64_t> v;
    for (int64_t i = 0; i < t.size(); ++i) v.push_back(element_as_int(t.raw(), t.dtype(), i));
    return v;
  }
  if (PyIndex_Check(o) && !PyBool_Check(o) && !(PySequence_Check(o) && !is_tensor(o)))
    return {to_int(o, what)};
  if (PyUnicode_Check(o) || !PySequence_Check(o)) {
    type_error("{} must be an int or a sequence of ints, got {}", what, kind_of(o));
  }
  std::vector<int64_t> v;
  Py_ssize_t n = PySequence_Size(o);
  if (n < 0) throw nb::python_error();
  for (Py_ssize_t i = 0; i < n; ++i)
    v.push_back(to_int(owned(PySequence_GetItem(o, i)).ptr(), what));
  return v;
}

Shape to_shape(PyObject* o, const char* what) {
  std::vector<int64_t> dims = to_ints(o, what);
  return Shape(std::span<const int64_t>(dims));
}

PyObject* from_shape(const Shape& s) {
  PyObject* tuple = PyTuple_New(s.rank());
  if (!tuple) return nullptr;
  for (int d = 0; d < s.rank(); ++d) PyTuple_SetItem(tuple, d, PyLong_FromLongLong(s[d]));
  return tuple;
}

namespace {

// ((before, after), ...) as a flat list, which may also be given as such.
std::vector<int64_t> to_pairs(PyObject* o, const char* what) {
  if (is_tensor(o) && value_of(o).rank() == 2 && value_of(o).dim(1) == 2) {
    Tensor flat = runtime::concrete(value_of(o), what);
    return to_ints(owned(wrap(flat.view(Shape{flat.size()}))).ptr(), what);
  }
  const bool rows = !is_tensor(o) && !PyUnicode_Check(o) && PySequence_Check(o) &&
                    PySequence_Size(o) > 0 &&
                    PySequence_Check(owned(PySequence_GetItem(o, 0)).ptr());
  if (!rows) return to_ints(o, what);
  std::vector<int64_t> v;
  for (Py_ssize_t i = 0; i < PySequence_Size(o); ++i) {
    nb::object row = owned(PySequence_GetItem(o, i));
    std::vector<int64_t> pair = to_ints(row.ptr(), what);
    if (pair.size() != 2)
      value_error("{} must hold pairs of ints, got {}", what, nb::cast<std::string>(nb::repr(row)));
    v.insert(v.end(), pair.begin(), pair.end());
  }
  return v;
}

// Numbers of a sequence: ints when all of them are, else floats.
ir::Attr numbers(PyObject* o, const char* what) {
  bool real = false;
  std::vector<double> v;
  if (PyUnicode_Check(o) || !PySequence_Check(o)) {
    type_error("{} must be a number or a sequence of numbers, got {}", what, kind_of(o));
  }
  Py_ssize_t n = PySequence_Size(o);
  if (n < 0) throw nb::python_error();
  for (Py_ssize_t i = 0; i < n; ++i) {
    nb::object item = owned(PySequence_GetItem(o, i));
    real |= !PyIndex_Check(item.ptr());
    v.push_back(to_real(item.ptr(), what));
  }
  if (!real) return ir::Attr(ir::Attr::Ints(v.begin(), v.end()));
  return ir::Attr(v);
}

}  // namespace

ir::Attr to_attr(PyObject* o, const ir::AttrSpec& spec, const std::string& owner) {
  if (o == Py_None && spec.optional) return {};
  if (o == Py_None && spec.has_default) {
    type_error("{}: '{}' must not be None; leave it out for {}", owner, spec.name,
               spec.default_value.str());
  }
  const std::string what = fmt::format("{}: '{}'", owner, spec.name);
  switch (spec.kind) {
    case ir::AttrKind::kBool:
      if (PyBool_Check(o)) return ir::Attr(o == Py_True);
      if (is_tensor(o) && is_bool(value_of(o).dtype())) return ir::Attr(PyObject_IsTrue(o) == 1);
      if (is_numpy_scalar(o))
        return to_attr(nb::object(nb::handle(o).attr("item")()).ptr(), spec, owner);
      type_error("{} must be True or False, got {}", what, kind_of(o));
    case ir::AttrKind::kInt:
      return ir::Attr(to_int(o, what.c_str()));
    case ir::AttrKind::kFloat:
      return ir::Attr(to_real(o, what.c_str()));
    case ir::AttrKind::kString:
      return ir::Attr(to_string(o, what.c_str()));
    case ir::AttrKind::kDType:
      return ir::Attr(require_dtype(o, what.c_str()));
    case ir::AttrKind::kTensor:
      return ir::Attr(to_tensor(o, what.c_str()));
    case ir::AttrKind::kInts:
      if (spec.pairs) return ir::Attr(to_pairs(o, what.c_str()));
      if (PyIndex_Check(o) && !PySequence_Check(o)) return ir::Attr(to_int(o, what.c_str()));
      return ir::Attr(to_ints(o, what.c_str()));
    case ir::AttrKind::kFloats:
      if (is_number(o)) return ir::Attr(to_real(o, what.c_str()));
      return numbers(o, what.c_str());
    default:
      type_error("{} cannot be given from Python", what);
  }
}

PyObject* from_attr(const ir::Attr& a) {
  if (a.none()) Py_RETURN_NONE;
  if (a.is<bool>()) return PyBool_FromLong(a.boolean());
  if (a.is<int64_t>()) return PyLong_FromLongLong(a.integer());
  if (a.is<double>()) return PyFloat_FromDouble(a.real());
  if (a.is<std::string>()) return PyUnicode_FromString(a.string().c_str());
  if (a.is<DType>()) {
    PyObject* o = dtype_object(a.dtype());
    Py_INCREF(o);
    return o;
  }
  if (a.is<Tensor>()) return wrap(a.tensor());
  const bool ints = a.is<ir::Attr::Ints>();
  if (!ints && !a.is<ir::Attr::Floats>()) type_error("{} has no form in Python", a.str());
  const size_t n = ints ? a.ints().size() : a.floats().size();
  nb::object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(n)));
  for (size_t i = 0; i < n; ++i) {
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i),
                    ints ? PyLong_FromLongLong(a.ints()[i]) : PyFloat_FromDouble(a.floats()[i]));
  }
  return tuple.release().ptr();
}

}  // namespace mycel::bind
