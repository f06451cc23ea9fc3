#include <new>

#include "base/error.h"
#include "bind/python.h"

namespace mycel::bind {
namespace {

PyObject* exception_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kValue:
      return PyExc_ValueError;
    case ErrorKind::kType:
      return PyExc_TypeError;
    case ErrorKind::kIndex:
      return PyExc_IndexError;
    case ErrorKind::kKey:
      return PyExc_KeyError;
    case ErrorKind::kAttribute:
      return PyExc_AttributeError;
    case ErrorKind::kRuntime:
      return PyExc_RuntimeError;
    case ErrorKind::kOs:
      return PyExc_OSError;
    case ErrorKind::kMemory:
      return PyExc_MemoryError;
    case ErrorKind::kUnsupported:
      return PyExc_NotImplementedError;
    case ErrorKind::kInterrupted:
      return PyExc_KeyboardInterrupt;
  }
  return PyExc_RuntimeError;
}

// Where the user's program stands, or "": mycel/_where.py reads the Python stack.
std::string user_location() noexcept {
  try {
    return nb::cast<std::string>(nb::module_::import_("mycel._where").attr("locate")());
  } catch (...) {
    PyErr_Clear();
    return {};
  }
}

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (UserError& e) {
    if (e.where().empty() && e.kind() != ErrorKind::kInterrupted) {
      std::string where = user_location();
      if (!where.empty()) e.set_where("At " + where);
    }
    PyErr_SetString(exception_of(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "out of memory");
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "internal error: an exception of an unknown type");
  }
}

Held::~Held() {
  // A process that ends may drop C++ objects after the interpreter has gone.
  if (!Py_IsInitialized()) return;
  nb::gil_scoped_acquire gil;
  Py_DECREF(object_);
}

}  // namespace mycel::bind
