// Tensors from arrays (the buffer protocol) and from nested sequences of numbers.
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/dtype_object.h"
#include "bind/tensor_object.h"
#include "ir/core_ops.h"
#include "runtime/dispatch.h"

namespace mycel::bind {
namespace {

// -- buffers
// -----------------------------------------------------------------------------------------

// The element type of a buffer; false for what Mycel lacks (text, dates, records, foreign byte
// order).
bool dtype_of_format(const char* format, Py_ssize_t itemsize, DType* out) {
  std::string_view f = format ? format : "B";
  if (!f.empty() && (f[0] == '@' || f[0] == '=')) f.remove_prefix(1);
  constexpr char kNative = std::endian::native == std::endian::little ? '<' : '>';
  if (f.size() > 1 && f[0] == kNative) f.remove_prefix(1);
  if (f == "Zf") return *out = DType::kComplex64, true;
  if (f == "Zd") return *out = DType::kComplex128, true;
  if (f.size() != 1) return false;
  constexpr DType kSigned[] = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64};
  constexpr DType kUnsigned[] = {DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64};
  const int log2 = std::countr_zero(static_cast<unsigned>(itemsize));
  switch (f[0]) {
    case '?':
      return *out = DType::kBool, true;
    case 'e':
      return *out = DType::kFloat16, true;
    case 'f':
      return *out = DType::kFloat32, true;
    case 'd':
      return *out = DType::kFloat64, true;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return *out = kSigned[log2], true;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return *out = kUnsigned[log2], true;
    default:
      return false;
  }
}

// A buffer held open; released under the GIL.
class Buffer {
 public:
  explicit Buffer(PyObject* o, const char* what) {
    if (PyObject_GetBuffer(o, &view_, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
      PyErr_Clear();
      type_error("{}: {} has elements that no tensor can hold", what, kind_of(o));
    }
    open_ = true;
    if (!dtype_of_format(view_.format, view_.itemsize, &dtype_)) {
      throw UserError(ErrorKind::kType,
                      fmt::format("{}: {} has elements of format '{}', which no tensor can hold",
                                  what, kind_of(o), view_.format ? view_.format : "?"),
                      "Convert the array to a number type of this machine's byte order first.");
    }
    shape_ = Shape(std::span<const int64_t>(reinterpret_cast<const int64_t*>(view_.shape),
                                            static_cast<size_t>(view_.ndim)));
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() {
    if (!open_ || !Py_IsInitialized()) return;
    nb::gil_scoped_acquire gil;
    PyBuffer_Release(&view_);
  }
  DType dtype() const { return dtype_; }
  bool row_major() const { return PyBuffer_IsContiguous(&view_, 'C') != 0; }
  bool aligned() const {
    return reinterpret_cast<uintptr_t>(view_.buf) % size_of(real_part_of(dtype_)) == 0;
  }
  void* data() const { return view_.buf; }
  const Shape& shape() const { return shape_; }

  Tensor copy() {
    Tensor t = Tensor::empty(dtype_, shape_);
    if (t.bytes() == 0) return t;
    if (row_major()) {
      const void* from = view_.buf;
      unlocked(t.size(), [&] { return std::memcpy(t.mutable_raw(), from, t.bytes()); });
    } else if (PyBuffer_ToContiguous(t.mutable_raw(), &view_, view_.len, 'C') != 0) {
      throw nb::python_error();
    }
    return t;
  }

 private:
  Py_buffer view_{};
  bool open_ = false;
  DType dtype_{};
  Shape shape_;
};

// bfloat16 arrays (ml_dtypes) have no buffer format: their bits are read as uint16.
bool is_bfloat16_array(PyObject* o) {
  if (!nb::hasattr(nb::handle(o), "dtype") || !nb::hasattr(nb::handle(o), "view")) return false;
  nb::object name = nb::getattr(nb::getattr(nb::handle(o), "dtype"), "name", nb::str(""));
  return nb::isinstance<nb::str>(name) && nb::cast<std::string>(name) == "bfloat16";
}

Tensor from_array(PyObject* o, const char* what) {
  if (is_bfloat16_array(o)) {
    nb::object bits = nb::handle(o).attr("view")("uint16");
    return Buffer(bits.ptr(), what).copy().bitcast(DType::kBFloat16);
  }
  if (PyObject_CheckBuffer(o)) return Buffer(o, what).copy();
  nb::object array = nb::handle(o).attr("__array__")();
  return Buffer(array.ptr(), what).copy();
}

// -- nested sequences
// --------------------------------------------------------------------------------

bool is_sequence(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }
bool is_array(PyObject* o) {
  return !PyFloat_Check(o) && !PyBytes_Check(o) && !PyByteArray_Check(o) && !PyUnicode_Check(o) &&
         (PyObject_CheckBuffer(o) || nb::hasattr(nb::handle(o), "__array__"));
}

// What a nested sequence holds: its shape and the dtype that holds all of its numbers.
struct Nest {
  Shape shape;
  bool any = false;
  DType dtype = DType::kFloat32;  // published: an empty list gives float32
  bool symbolic = false;          // a tensor inside is watched or has no value: stack it with ops

  void meet(DType t) {
    dtype = any ? promote(dtype, t) : t;
    any = true;
  }
};

[[noreturn]] void ragged(const char* what, const Shape& want) {
  throw UserError(ErrorKind::kValue,
                  fmt::format("{}: the nested sequence is ragged: its first parts say shape {}",
                              what, want.str()),
                  "Every inner sequence must have the same length.");
}

void scan_shape(PyObject* o, Nest& n) {
  while (is_sequence(o)) {
    n.shape.push_back(PySequence_Size(o));
    if (PySequence_Size(o) == 0) return;
    o = PyTuple_Check(o) ? PyTuple_GetItem(o, 0) : PyList_GetItem(o, 0);
  }
  if (is_tensor(o)) {
    for (int64_t d : value_of(o).shape()) n.shape.push_back(d);
  } else if (!is_number(o) && is_array(o)) {
    for (int64_t d : from_array(o, "Tensor").shape()) n.shape.push_back(d);
  }
}

void scan_types(PyObject* o, int dim, Nest& n, const char* what) {
  if (is_sequence(o)) {
    const Py_ssize_t size = PySequence_Size(o);
    if (dim >= n.shape.rank() || n.shape[dim] != size) ragged(what, n.shape);
    for (Py_ssize_t i = 0; i < size; ++i) {
      scan_types(PyTuple_Check(o) ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i), dim + 1, n, what);
    }
    return;
  }
  int rank = 0;
  if (PyBool_Check(o)) {
    n.meet(DType::kBool);
  } else if (PyFloat_Check(o)) {
    n.meet(DType::kFloat32);
  } else if (PyLong_Check(o)) {
    n.meet(DType::kInt64);
  } else if (PyComplex_Check(o)) {
    n.meet(DType::kComplex128);
  } else if (is_tensor(o)) {
    const Tensor& t = value_of(o);
    rank = t.rank();
    n.symbolic |= t.trace() || !t.concrete();
    n.meet(t.dtype());
  } else if (is_array(o)) {
    Tensor t = from_array(o, what);
    rank = t.rank();
    n.meet(t.dtype());
  } else {
    type_error("{}: a number was expected, got {}", what, kind_of(o));
  }
  if (dim + rank != n.shape.rank()) ragged(what, n.shape);
}

// Writes the numbers of `o` behind one another.
void fill(PyObject* o, Tensor& out, int64_t* next, const char* what) {
  if (is_sequence(o)) {
    const Py_ssize_t size = PySequence_Size(o);
    for (Py_ssize_t i = 0; i < size; ++i) {
      fill(PyTuple_Check(o) ? PyTuple_GetItem(o, i) : PyList_GetItem(o, i), out, next, what);
    }
    return;
  }
  const DType d = out.dtype();
  const size_t bytes = size_of(d);
  char* at = static_cast<char*>(out.mutable_raw()) + static_cast<size_t>(*next) * bytes;
  if (PyFloat_CheckExact(o) && is_float(d)) {
    set_element(out.mutable_raw(), d, (*next)++, PyFloat_AsDouble(o));
  } else if (PyLong_CheckExact(o) && (d == DType::kInt64)) {
    set_element(out.mutable_raw(), d, (*next)++, static_cast<int64_t>(to_int(o, what)));
  } else {
    Tensor t = to_tensor(o, d, what);
    if (*next + t.size() > out.size()) ragged(what, out.shape());
    std::memcpy(at, t.raw(), t.bytes());
    *next += t.size();
  }
}

Tensor stack_parts(PyObject* o, DType dtype, const char* what) {
  if (!is_sequence(o)) return to_tensor(o, dtype, what);
  Tensors parts;
  for (Py_ssize_t i = 0; i < PySequence_Size(o); ++i) {
    parts.push_back(stack_parts(owned(PySequence_GetItem(o, i)).ptr(), dtype, what));
  }
  return runtime::call1(ir::op_named("stack"), parts);
}

// The dtype in which the numbers are read when another is wanted: one that loses nothing on the
// way.
DType read_as(DType found, DType wanted) {
  if (is_float(found) && (wanted == DType::kFloat64 || wanted == DType::kComplex128)) {
    return DType::kFloat64;
  }
  return found == DType::kInt64 && wanted == DType::kUInt64 ? wanted : found;
}

Tensor from_sequence(PyObject* o, const char* what, const DType* wanted) {
  Nest n;
  scan_shape(o, n);
  scan_types(o, 0, n, what);
  if (wanted && !n.symbolic) n.dtype = read_as(n.dtype, *wanted);
  if (n.symbolic) return stack_parts(o, n.dtype, what);
  Tensor out = Tensor::empty(n.dtype, n.shape);
  int64_t next = 0;
  fill(o, out, &next, what);
  return out;
}

// Tensor(shape=…, init=…): the initializer makes the values; its own module knows how.
Tensor from_initializer(PyObject* init, PyObject* shape, PyObject* dtype) {
  nb::object make = nb::module_::import_("mycel.common.initializer").attr("initializer");
  nb::object t = make(nb::handle(init), nb::handle(shape), nb::handle(dtype));
  if (!is_tensor(t.ptr())) type_error("Tensor: init gave {}, no tensor", kind_of(t.ptr()));
  return value_of(t.ptr());
}

// The shape of a graph's input: None and -1 stand for sizes known later.
Shape placeholder_shape(PyObject* o) {
  if (PyIndex_Check(o) && !is_sequence(o)) return {to_int(o, "Tensor: 'shape'")};
  if (!is_sequence(o))
    type_error("Tensor: 'shape' must be an int or a sequence of ints, got {}", kind_of(o));
  Shape s;
  for (Py_ssize_t i = 0; i < PySequence_Size(o); ++i) {
    nb::object d = owned(PySequence_GetItem(o, i));
    s.push_back(d.is_none() ? kUnknownDim : to_int(d.ptr(), "Tensor: 'shape'"));
  }
  return s;
}

Tensor make_value(PyObject* data, PyObject* dtype, PyObject* shape, PyObject* init) {
  if (init != Py_None) {
    if (data != Py_None) type_error("Tensor: give input_data or init, not both");
    if (shape == Py_None || dtype == Py_None) type_error("Tensor: init needs shape and dtype");
    return from_initializer(init, shape, dtype);
  }
  if (data == Py_None) {
    if (shape == Py_None || dtype == Py_None) {
      throw UserError(ErrorKind::kType, "Tensor: no values given",
                      "Give input_data, or shape, dtype and init, or shape and dtype for the input "
                      "of a graph.");
    }
    return Tensor::abstract(require_dtype(dtype, "Tensor"), placeholder_shape(shape));
  }
  Tensor t = dtype == Py_None ? to_tensor(data, "Tensor")
                              : to_tensor(data, require_dtype(dtype, "Tensor: 'dtype'"), "Tensor");
  if (shape == Py_None) return t;
  Shape want = to_shape(shape, "Tensor: 'shape'");
  if (!(want == t.shape()))
    value_error("Tensor: input_data has shape {}, 'shape' says {}", t.shape().str(), want.str());
  return t;
}

}  // namespace

Tensor to_tensor(PyObject* o, const char* what) {
  if (is_tensor(o)) return value_of(o);
  if (PyBool_Check(o)) return weak_scalar(o, DType::kBool);
  if (PyFloat_CheckExact(o)) return weak_scalar(o, DType::kFloat32);
  if (PyLong_CheckExact(o)) return weak_scalar(o, DType::kInt64);
  if (PyComplex_CheckExact(o)) return weak_scalar(o, DType::kComplex128);
  if (is_sequence(o)) return from_sequence(o, what, nullptr);
  if (PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o))
    return from_array(o, what);
  if (!PyUnicode_Check(o) && nb::hasattr(nb::handle(o), "__array__")) return from_array(o, what);
  if (is_number(o)) return weak_scalar(o, PyFloat_Check(o) ? DType::kFloat32 : DType::kInt64);
  throw UserError(ErrorKind::kType, fmt::format("{}: {} cannot become a tensor", what, kind_of(o)),
                  "Allowed: numbers, nested lists or tuples of numbers, NumPy arrays, tensors.");
}

Tensor from_sequence(PyObject* o, DType wanted, const char* what) {
  return from_sequence(o, what, &wanted);
}

Tensor share_buffer(PyObject* o, const char* what) {
  auto buffer = std::make_shared<Buffer>(o, what);
  if (!buffer->row_major() || !buffer->aligned()) return buffer->copy();
  return Tensor::wrap(buffer->data(), buffer->dtype(), buffer->shape(), [buffer] {});
}

// Tensor(input_data, dtype, shape, init, internal, const_arg).
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"input_data", "dtype",     "shape", "init",
                                  "internal",   "const_arg", nullptr};
    PyObject *data = Py_None, *dtype = Py_None, *shape = Py_None, *init = Py_None;
    int internal = 0, constant = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOOpp:Tensor", const_cast<char**>(names),
                                     &data, &dtype, &shape, &init, &internal, &constant)) {
      return nullptr;
    }
    if (internal) value_error("Tensor: 'internal' is for the framework itself; leave it out");
    PyObject* o = new_tensor(type, make_value(data, dtype, shape, init));
    if (o) as_object(o)->constant = constant != 0;
    return o;
  });
}

}  // namespace mycel::bind
