#include "bind/tensor_object.h"

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/dtype_object.h"
#include "ir/core_ops.h"
#include "runtime/dispatch.h"
#include "runtime/trace.h"
#include "structmember.h"

namespace mycel::bind {

PyTypeObject* g_tensor_type = nullptr;
thread_local void (*g_on_read)(const nn::Parameter&) = nullptr;
thread_local const DType* g_compute_type = nullptr;

Tensor cast_parameter(const Tensor& t, DType to) {
  if (t.dtype() == to) return t;
  return runtime::call1(*ir::core_ops().cast, {t}, {to});
}

namespace {

// `with Computing(dtype):` Parameters are cast to dtype when ops compute with them.
class Computing {
 public:
  explicit Computing(nb::handle dtype)
      : dtype_(require_dtype(dtype.ptr(), "to_float: 'dst_type'")) {}
  void enter() { outer_ = std::exchange(g_compute_type, &dtype_); }
  void exit() { g_compute_type = outer_; }

 private:
  DType dtype_;
  const DType* outer_ = nullptr;
};

// Dead plain Tensor objects kept for reuse: making and freeing one on every op is the largest part
// of the glue's cost. Guarded by the GIL.
constexpr int kSpareObjects = 64;
PyObject* g_spare[kSpareObjects];
int g_spares = 0;

void tensor_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  TensorObject* t = as_object(self);
  if (t->weak) PyObject_ClearWeakRefs(self);
  t->value.~Tensor();
  t->param.~shared_ptr();
  if (type == g_tensor_type && g_spares < kSpareObjects) {
    g_spare[g_spares++] = self;
    return;  // keeps its reference to the type
  }
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

// -- properties
// --------------------------------------------------------------------------------------

const Shape& shape_of(PyObject* self) { return value_of(self).shape(); }

PyObject* get_dtype(PyObject* self, void*) {
  PyObject* o = dtype_object(value_of(self).dtype());
  Py_INCREF(o);
  return o;
}
PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return from_shape(shape_of(self)); });
}
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(value_of(self).rank()); }
// Of a shape that is known.
const Tensor& sized(PyObject* self, const char* what) {
  const Tensor& t = value_of(self);
  if (!t.shape().known()) {
    throw UserError(ErrorKind::kValue,
                    fmt::format("Tensor.{}: the shape {} has dims that are known only when the "
                                "compiled program runs",
                                what, t.shape().str()),
                    "ops.dyn_shape(x) gives the sizes as a tensor.");
  }
  return t;
}
PyObject* get_size(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLongLong(sized(self, "size").size()); });
}
PyObject* get_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(size_of(value_of(self).dtype()));
}
PyObject* get_nbytes(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromSize_t(sized(self, "nbytes").bytes()); });
}
PyObject* get_strides(PyObject* self, void*) {
  return guarded([&] {
    const Tensor& t = value_of(self);
    Shape strides = t.shape();
    int64_t step = static_cast<int64_t>(size_of(t.dtype()));
    for (int d = t.rank() - 1; d >= 0; --d) {
      strides.set(d, step);
      step *= t.dim(d);
    }
    return from_shape(strides);
  });
}
PyObject* get_const_arg(PyObject* self, void*) {
  return PyBool_FromLong(as_object(self)->constant);
}

PyGetSetDef tensor_getset[] = {
    {"dtype", get_dtype, nullptr, "Element type.", nullptr},
    {"shape", get_shape, nullptr,
     "Sizes of the dimensions, a tuple; -1 where unknown while compiling.", nullptr},
    {"ndim", get_ndim, nullptr, "Number of dimensions.", nullptr},
    {"size", get_size, nullptr, "Number of elements.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"strides", get_strides, nullptr, "Bytes from one element to the next along each dimension.",
     nullptr},
    {"const_arg", get_const_arg, nullptr, "Whether compiled graphs take this tensor by value.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

// -- conversions to Python
// ---------------------------------------------------------------------------

PyObject* element(const Tensor& t, int64_t i) {
  if (is_bool(t.dtype())) return PyBool_FromLong(element_as_int(t.raw(), t.dtype(), i) != 0);
  if (t.dtype() == DType::kUInt64) return PyLong_FromUnsignedLongLong(t.data<uint64_t>()[i]);
  if (is_int(t.dtype())) return PyLong_FromLongLong(element_as_int(t.raw(), t.dtype(), i));
  if (is_float(t.dtype())) return PyFloat_FromDouble(element_as_double(t.raw(), t.dtype(), i));
  DType part = real_part_of(t.dtype());
  return PyComplex_FromDoubles(element_as_double(t.raw(), part, 2 * i),
                               element_as_double(t.raw(), part, 2 * i + 1));
}

PyObject* nested_list(const Tensor& t, int dim, int64_t* next) {
  if (dim == t.rank()) return element(t, (*next)++);
  nb::object list = owned(PyList_New(t.dim(dim)));
  for (int64_t i = 0; i < t.dim(dim); ++i) {
    PyObject* item = nested_list(t, dim + 1, next);
    if (!item) throw nb::python_error();
    PyList_SetItem(list.ptr(), i, item);
  }
  return list.release().ptr();
}

PyObject* tensor_tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    Tensor t = runtime::concrete(value_of(self), "tolist()");
    int64_t next = 0;
    return nested_list(t, 0, &next);
  });
}

// The value of the only element as a Python number.
PyObject* tensor_number(PyObject* self, PyObject*) {
  return guarded([&] {
    Tensor t = runtime::concrete(value_of(self), "item()");
    if (t.size() != 1) {
      value_error("item: {} has {} elements; exactly 1 is needed", t.describe(), t.size());
    }
    return element(t, 0);
  });
}

PyObject* tensor_str(PyObject* self) {
  return guarded([&] {
    std::string s = runtime::primal(value_of(self)).str();
    return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
  });
}

// How the fields of a row lie: the column of the first one and their common width (0: not known).
struct Fields {
  size_t first = 0, width = 0;
};

// One line of Tensor::str() with commas. Fields are padded to one width and parted by a space,
// which tells where each ends; in a line with a summary's "..." commas go behind the words instead.
std::string line_with_commas(const std::string& line, Fields& row, bool row_done) {
  const size_t begin = line.find_first_not_of("[ ");
  if (begin == std::string::npos) return line;
  const size_t close = std::min(line.find(']', begin), line.size());
  // The parts of a complex number may be parted by a space too; its end is the j.
  const bool complex = line.find('j') != std::string::npos;
  auto ends_word = [&](size_t i) {
    return (complex ? line[i] == 'j' : line[i] != ' ') && (i + 1 == close || line[i + 1] == ' ');
  };
  size_t words = 0;
  for (size_t i = begin; i < close; ++i) words += ends_word(i);
  if (words == 0) return line;
  if (const size_t open = line.rfind('[', begin); open != std::string::npos) {
    row.first = open + 1;
    const size_t length = close - row.first + 1;
    row.width = length % words == 0 ? length / words - 1 : 0;
  }
  const size_t width = line.find("...") == std::string::npos ? row.width : 0;
  std::string out = line.substr(0, row.first);
  for (size_t i = row.first; i < close; ++i) {
    out += line[i];
    if (i + 1 >= close) continue;
    const bool word_ends = ends_word(i) && line.find_first_not_of(' ', i + 1) < close;
    if (width ? (i - row.first) % (width + 1) == width - 1 : word_ends) out += ',';
  }
  if (close == line.size() && !row_done) out += ',';
  return out + line.substr(close);
}

// "[1. 2.]" with commas, as NumPy's repr has them: between numbers, and behind rows.
std::string with_commas(const std::string& s) {
  if (s.find('[') == std::string::npos) return s;  // a number alone
  std::string out;
  Fields row;
  size_t at = 0;
  while (at < s.size()) {
    size_t end = std::min(s.find('\n', at), s.size());
    const std::string line = s.substr(at, end - at);
    const bool row_done = line.empty() || line.back() == ']';
    out += line_with_commas(line, row, row_done);
    // A row is done: a comma parts it from the next one, which an empty line may precede.
    if (end < s.size() && row_done && !line.empty()) out += ',';
    if (end < s.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

std::string tensor_text(const Tensor& t) {
  std::string dtype = nb::cast<std::string>(nb::str(nb::handle(dtype_object(t.dtype()))));
  std::string shape;
  for (int64_t n : t.shape()) shape += (shape.empty() ? "" : ", ") + std::to_string(n);
  std::string head = fmt::format("Tensor(shape=[{}], dtype={}", shape, dtype);
  Tensor p = runtime::primal(t);
  if (!p.concrete()) return head + ")";
  std::string values = with_commas(p.str());
  return head + ", value=" + (values.find('\n') != std::string::npos ? "\n" : " ") + values + ")";
}

PyObject* tensor_repr(PyObject* self) {
  return guarded([&] {
    std::string s = tensor_text(value_of(self));
    return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
  });
}

Py_ssize_t tensor_length(PyObject* self) {
  return guarded_int([&] {
    const Tensor& t = value_of(self);
    if (t.rank() == 0) type_error("len(): a tensor without dimensions has no length");
    if (t.dim(0) == kUnknownDim)
      value_error("len(): the length of {} is not known while compiling", t.describe());
    return static_cast<int>(t.dim(0));
  });
}

Py_hash_t tensor_hash(PyObject* self) {
  auto address = reinterpret_cast<uintptr_t>(self);
  return static_cast<Py_hash_t>((address >> 4) | (address << (8 * sizeof(address) - 4)));
}

PyObject* tensor_iter(PyObject* self) {
  if (value_of(self).rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a tensor without dimensions");
    return nullptr;
  }
  return PySeqIter_New(self);  // asks for self[0], self[1], … until IndexError
}

PyObject* tensor_item(PyObject* self, Py_ssize_t i) {
  PyObject* index = PyLong_FromSsize_t(i);
  if (!index) return nullptr;
  PyObject* item = tensor_subscript(self, index);
  Py_DECREF(index);
  return item;
}

PyMethodDef tensor_methods[] = {
    {"tolist", tensor_tolist, METH_NOARGS, "The values as nested Python lists of numbers."},
    {"_number", tensor_number, METH_NOARGS, "The only element as a Python number."},
    {nullptr, nullptr, 0, nullptr}};

const char* const kTensorDoc =
    "Tensor(input_data=None, dtype=None, shape=None, init=None, internal=False, "
    "const_arg=False)\n--\n\n"
    "An immutable array of numbers. input_data: a number, nested sequence, NumPy array or tensor; "
    "foreign\n"
    "memory is copied (Tensor.from_numpy shares it). Python floats become float32, ints int64, "
    "arrays\n"
    "keep their dtype unless dtype is given. With shape and init (an initializer or its name) "
    "instead of\n"
    "input_data the initializer makes the values; with shape alone, entries None or -1 allowed, "
    "the\n"
    "tensor has no values and describes the input of a graph.";

}  // namespace

PyObject* new_tensor(PyTypeObject* type, Tensor t) {
  PyObject* o;
  if (type == g_tensor_type && g_spares > 0) {
    o = g_spare[--g_spares];
    PyObject_Init(o, type);
    // PyObject_Init took a reference to the type that the spare object already had.
    Py_DECREF(reinterpret_cast<PyObject*>(type));
  } else {
    auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    o = alloc(type, 0);
    if (!o) return nullptr;
  }
  TensorObject* self = as_object(o);
  new (&self->value) Tensor(std::move(t));
  new (&self->param) nn::Parameter();
  self->weak = nullptr;
  self->constant = false;
  return o;
}

PyObject* wrap(Tensor t) {
  if (!t) Py_RETURN_NONE;
  return new_tensor(g_tensor_type, std::move(t));
}

void bind_tensor(nb::module_& m) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
      {Py_tp_getset, tensor_getset},
      {Py_tp_members, tensor_members},
      {Py_tp_methods, tensor_methods},
      {Py_tp_str, reinterpret_cast<void*>(tensor_str)},
      {Py_tp_repr, reinterpret_cast<void*>(tensor_repr)},
      {Py_tp_hash, reinterpret_cast<void*>(tensor_hash)},
      {Py_tp_richcompare, reinterpret_cast<void*>(tensor_compare)},
      {Py_tp_iter, reinterpret_cast<void*>(tensor_iter)},
      {Py_tp_doc, const_cast<char*>(kTensorDoc)},
      {Py_mp_length, reinterpret_cast<void*>(tensor_length)},
      {Py_mp_subscript, reinterpret_cast<void*>(tensor_subscript)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(tensor_assign)},
      {Py_sq_item, reinterpret_cast<void*>(tensor_item)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(tensor_get_buffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(tensor_release_buffer)}};
  for (const PyType_Slot* s = number_slots(); s->slot; ++s) slots.push_back(*s);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"mycel.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  g_tensor_type = reinterpret_cast<PyTypeObject*>(owned(PyType_FromSpec(&spec)).release().ptr());
  m.attr("Tensor") = nb::handle(reinterpret_cast<PyObject*>(g_tensor_type));
  // NumPy's operators leave `array + tensor` to Tensor.
  nb::setattr(nb::handle(reinterpret_cast<PyObject*>(g_tensor_type)), "__array_priority__",
              nb::int_(1000));
  nb::class_<Computing>(m, "Computing")
      .def(nb::init<nb::handle>(), nb::arg("dtype"))
      .def("__enter__", &Computing::enter)
      .def("__exit__", [](Computing& c, nb::args) { c.exit(); });
}

}  // namespace mycel::bind
