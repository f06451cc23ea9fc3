// Memory shared with others: the buffer protocol, NumPy and DLPack.
//
// A tensor's values never change under its holder, so every view given out is read-only and keeps
// the memory alive; `tensor.asnumpy().copy()` is the way to an array to write to. The other way
// round, Tensor(array) copies, while from_numpy and from_dlpack share memory whose owner may still
// write to it.
#include <array>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/dtype_object.h"
#include "bind/tensor_object.h"
#include "runtime/trace.h"
#include "tensor/dlpack.h"

namespace mycel::bind {
namespace {

// What a Py_buffer of ours points into.
struct Export {
  Tensor tensor;
  std::array<Py_ssize_t, kMaxRank> shape, strides;
};

const char* format_of(DType t) {
  constexpr const char* kFormats[kDTypeCount] = {"?", "b", "h",     "i", "q", "B",  "H", "I",
                                                 "Q", "e", nullptr, "f", "d", "Zf", "Zd"};
  return kFormats[static_cast<int>(t)];
}

PyObject* numpy() { return nb::module_::import_("numpy").release().ptr(); }

// A read-only array over the tensor's memory. bfloat16, which NumPy lacks, is widened to float32.
nb::object to_numpy(const Tensor& watched, const char* what) {
  Tensor t = runtime::concrete(watched, what);
  if (t.dtype() == DType::kBFloat16) {
    Tensor wide = Tensor::empty(DType::kFloat32, t.shape());
    const auto* bits = static_cast<const uint16_t*>(t.raw());
    float* out = wide.mutable_data<float>().data();
    for (int64_t i = 0; i < t.size(); ++i) out[i] = bfloat16_to_float(bits[i]);
    t = wide;
  }
  static PyObject* asarray = nb::object(nb::handle(numpy()).attr("asarray")).release().ptr();
  nb::object view = owned(PyMemoryView_FromObject(owned(wrap(t)).ptr()));
  return nb::handle(asarray)(view);
}

void release_capsule(PyObject* capsule) {
  // A consumer renames the capsule; the deleter is then its duty.
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    auto* m = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"));
    m->deleter(m);
  } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto* m =
        static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    m->deleter(m);
  }
}

nb::object to_dlpack(nb::handle self, nb::object stream, nb::object max_version,
                     nb::object dl_device, nb::object copy) {
  if (!stream.is_none())
    value_error("__dlpack__: a CPU tensor takes no stream, got {}", kind_of(stream.ptr()));
  if (!dl_device.is_none() && !nb::make_tuple(1, 0).equal(dl_device)) {
    PyErr_SetString(PyExc_BufferError, "__dlpack__: only the CPU, device (1, 0), is available");
    throw nb::python_error();
  }
  Tensor t = runtime::concrete(value_of(self.ptr()), "__dlpack__()");
  if (copy.ptr() == Py_True) {
    Tensor fresh = Tensor::empty(t.dtype(), t.shape());
    if (t.bytes()) std::memcpy(fresh.mutable_raw(), t.raw(), t.bytes());
    t = fresh;
  }
  bool versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
  if (versioned)
    return owned(PyCapsule_New(dlpack::export_versioned(t), "dltensor_versioned", release_capsule));
  return owned(PyCapsule_New(dlpack::export_tensor(t), "dltensor", release_capsule));
}

Tensor import_capsule(nb::handle capsule) {
  PyObject* c = capsule.ptr();
  if (PyCapsule_IsValid(c, "dltensor_versioned")) {
    Tensor t = dlpack::import_tensor(
        static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(c, "dltensor_versioned")));
    PyCapsule_SetName(c, "used_dltensor_versioned");
    return t;
  }
  if (PyCapsule_IsValid(c, "dltensor")) {
    Tensor t =
        dlpack::import_tensor(static_cast<dlpack::Managed*>(PyCapsule_GetPointer(c, "dltensor")));
    PyCapsule_SetName(c, "used_dltensor");
    return t;
  }
  type_error("from_dlpack: {} is no DLPack capsule that can still be used", kind_of(c));
}

// Anything with __dlpack__, or a capsule.
Tensor from_dlpack(nb::handle source) {
  if (PyCapsule_CheckExact(source.ptr())) return import_capsule(source);
  if (!nb::hasattr(source, "__dlpack__"))
    type_error("from_dlpack: {} has no __dlpack__ method", kind_of(source.ptr()));
  nb::object make = source.attr("__dlpack__");
  nb::object capsule;
  try {
    capsule = make(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& e) {  // a library from before DLPack 1.0
    if (!e.matches(PyExc_TypeError)) throw;
    capsule = make();
  }
  return import_capsule(capsule);
}

}  // namespace

int tensor_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded_int([&] {
    if (flags & PyBUF_WRITABLE) {
      PyErr_SetString(PyExc_BufferError, "a tensor's memory cannot be written to: copy it first");
      return -1;
    }
    auto e = std::make_unique<Export>();
    e->tensor = runtime::concrete(value_of(self), "buffer");
    const Tensor& t = e->tensor;
    const char* format = format_of(t.dtype());
    if (!format) {
      PyErr_SetString(PyExc_BufferError,
                      "the buffer protocol has no bfloat16: convert to float32 first");
      return -1;
    }
    Py_ssize_t step = static_cast<Py_ssize_t>(size_of(t.dtype()));
    view->itemsize = step;
    for (int d = t.rank() - 1; d >= 0; --d) {
      e->shape[d] = t.dim(d);
      e->strides[d] = step;
      step *= t.dim(d);
    }
    view->buf = const_cast<void*>(t.raw());
    view->len = static_cast<Py_ssize_t>(t.bytes());
    view->readonly = 1;
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->ndim = t.rank();
    view->shape = flags & PyBUF_ND ? e->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? e->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = e.release();
    Py_INCREF(self);
    view->obj = self;
    return 0;
  });
}

void tensor_release_buffer(PyObject*, Py_buffer* view) {
  delete static_cast<Export*>(view->internal);
}

void bind_buffers(nb::module_& m) {
  m.def(
      "asnumpy", [](nb::handle t) { return to_numpy(value_of(t.ptr()), "asnumpy()"); },
      nb::arg("tensor"));
  m.def(
      "from_numpy",
      [](nb::handle a) { return nb::steal(wrap(share_buffer(a.ptr(), "from_numpy"))); },
      nb::arg("array"));
  m.def("to_dlpack", to_dlpack, nb::arg("tensor"), nb::arg("stream").none(),
        nb::arg("max_version").none(), nb::arg("dl_device").none(), nb::arg("copy").none());
  m.def(
      "from_dlpack", [](nb::handle s) { return nb::steal(wrap(from_dlpack(s))); },
      nb::arg("source"));
}

}  // namespace mycel::bind
