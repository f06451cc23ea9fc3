// Entry: what a public Python function of the package is wrapped in. It calls the function; when
// that raises, the package's own frames are taken out of the traceback, so that a user reads only
// lines of the user's program. MYCEL_DEBUG=1 leaves all frames.
#include <cstddef>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>

#include "base/config.h"
#include "base/timeline.h"
#include "bind/python.h"
#include "structmember.h"

namespace mycel::bind {
namespace {

struct EntryObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* function;
};

std::string g_package;  // folder of the package, with a slash

// "net.py:12 in construct": the innermost frame of this thread that is not the package's.
std::string user_line() {
  // A thread that Python does not know has no frames, and must not wait for the lock.
  if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return "";
  nb::gil_scoped_acquire gil;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  std::string out;
  try {
    nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    for (; frame.is_valid() && !frame.is_none(); frame = frame.attr("f_back")) {
      nb::object code = frame.attr("f_code");
      const auto file = nb::cast<std::string>(code.attr("co_filename"));
      if (file.starts_with(g_package)) continue;
      const char* name = nb::hasattr(code, "co_qualname") ? "co_qualname" : "co_name";
      out = file + ":" + std::to_string(nb::cast<int64_t>(frame.attr("f_lineno"))) + " in " +
            nb::cast<std::string>(code.attr(name));
      break;
    }
  } catch (...) {
    PyErr_Clear();
  }
  PyErr_Restore(type, value, trace);
  return out;
}

bool ours(nb::handle traceback) {
  nb::object file = traceback.attr("tb_frame").attr("f_code").attr("co_filename");
  return nb::cast<std::string>(file).starts_with(g_package);
}

// Relinks the traceback of the error that is set, without our frames.
void hide_frames() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (!trace) return PyErr_Restore(type, value, trace);
  PyErr_NormalizeException(&type, &value, &trace);
  std::vector<nb::object> kept;
  nb::object next = nb::steal(trace);
  while (next.is_valid() && !next.is_none()) {
    if (!ours(next)) kept.push_back(next);
    next = next.attr("tb_next");
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    nb::setattr(kept[i], "tb_next", i + 1 < kept.size() ? kept[i + 1] : nb::none());
  }
  PyObject* first = kept.empty() ? nullptr : kept[0].release().ptr();
  // The exception may hold its traceback already (it was re-raised): replace it too.
  PyException_SetTraceback(value, first ? first : Py_None);
  PyErr_Restore(type, value, first);
}

PyObject* entry_call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  PyObject* result =
      PyObject_Vectorcall(reinterpret_cast<EntryObject*>(self)->function, args, nargsf, keywords);
  if (!result && !debug()) {
    try {
      hide_frames();
    } catch (...) {
      set_python_error();
    }
  }
  return result;
}

PyObject* entry_get(PyObject* self, PyObject* instance, PyObject*) {
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

// Name, documentation, signature and the rest are the function's.
PyObject* entry_getattr(PyObject* self, PyObject* name) {
  PyObject* function = reinterpret_cast<EntryObject*>(self)->function;
  if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) {
    Py_INCREF(function);
    return function;
  }
  if (PyUnicode_CompareWithASCIIString(name, "__class__") != 0) {
    PyObject* found = PyObject_GetAttr(function, name);
    if (found) return found;
    PyErr_Clear();
  }
  return PyObject_GenericGetAttr(self, name);
}

PyObject* entry_repr(PyObject* self) {
  return PyObject_Repr(reinterpret_cast<EntryObject*>(self)->function);
}

PyObject* entry_reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(reinterpret_cast<EntryObject*>(self)->function, "__qualname__");
}

PyObject* entry_new(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* function;
  if (!PyArg_ParseTuple(args, "O:entry", &function)) return nullptr;
  auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* o = alloc(type, 0);
  if (!o) return nullptr;
  Py_INCREF(function);
  reinterpret_cast<EntryObject*>(o)->call = entry_call;
  reinterpret_cast<EntryObject*>(o)->function = function;
  return o;
}

int entry_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<EntryObject*>(self)->function);
  return 0;
}

int entry_clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<EntryObject*>(self)->function);
  return 0;
}

void entry_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  entry_clear(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(EntryObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {{"__reduce__", entry_reduce, METH_NOARGS, "Pickles as its global name."},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void bind_entry(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(entry_new)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(entry_dealloc)},
                                {Py_tp_traverse, reinterpret_cast<void*>(entry_traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(entry_clear)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(entry_get)},
                                {Py_tp_getattro, reinterpret_cast<void*>(entry_getattr)},
                                {Py_tp_repr, reinterpret_cast<void*>(entry_repr)},
                                {Py_tp_members, members},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  constexpr unsigned kFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                              Py_TPFLAGS_METHOD_DESCRIPTOR;
  static PyType_Spec spec = {"mycel._mycel.entry", sizeof(EntryObject), 0, kFlags, slots};
  timeline::set_where(user_line);
  m.attr("entry") = owned(PyType_FromSpec(&spec));
  m.def(
      "set_package_folder", [](const std::string& folder) { g_package = folder + "/"; },
      nb::arg("folder"));
}

}  // namespace mycel::bind
