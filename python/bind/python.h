// What every file of the glue starts from: the Python API, ownership, and running C++ code so that
// its exceptions become Python's. The glue converts and calls; nothing is computed here.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace mycel::bind {

namespace nb = nanobind;

// Turns the C++ exception in flight into the Python error: call it in a catch block, holding the
// GIL. A UserError gets the user's source line if it has none yet.
void set_python_error() noexcept;

// f(), or null with the Python error set.
template <typename F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

// For slots that return an int: f(), or -1 with the Python error set.
template <typename F>
int guarded_int(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return -1;
  }
}

// Takes a new reference; a null one means that Python has raised.
inline nb::object owned(PyObject* o) {
  if (!o) throw nb::python_error();
  return nb::steal(o);
}

// Shared ownership of a Python object by C++ code that may drop it on any thread.
class Held {
 public:
  explicit Held(PyObject* o) : object_(o) { Py_INCREF(o); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held();
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

// Work below this many elements runs with the GIL held: taking it back costs more than the work.
constexpr int64_t kWorthReleasing = 1 << 14;

// f() with the GIL released when the work is worth it. f must not touch Python objects.
template <typename F>
auto unlocked(int64_t elements, F&& f) {
  if (elements < kWorthReleasing) return f();
  nb::gil_scoped_release release;
  return f();
}

}  // namespace mycel::bind
