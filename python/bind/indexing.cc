// x[…] and x[…] = v: Python index objects to runtime::Index. Assignment gives the tensor object a
// new value; other objects that share the old value keep it.
#include "runtime/indexing.h"

#include <vector>

#include "base/error.h"
#include "bind/convert.h"
#include "bind/tensor_object.h"

namespace mycel::bind {
namespace {

using runtime::Index;

runtime::Index from_slice(PyObject* o) {
  nb::object step = nb::handle(o).attr("step"), start = nb::handle(o).attr("start"),
             stop = nb::handle(o).attr("stop");
  Index i = Index::slice();
  if (!step.is_none()) i.step = to_int(step.ptr(), "indexing: slice step");
  if (i.step < 0) {
    i.begin = Index::kHigh;
    i.end = Index::kLow;
  }
  if (!start.is_none()) i.begin = to_int(start.ptr(), "indexing: slice start");
  if (!stop.is_none()) i.end = to_int(stop.ptr(), "indexing: slice stop");
  return i;
}

[[noreturn]] void bad_index(PyObject* o) {
  throw UserError(
      ErrorKind::kIndex, fmt::format("indexing: {} cannot be an index", kind_of(o)),
      "Allowed: ints, slices, None, ..., and lists, arrays or tensors of ints or bools.");
}

Index from_array(PyObject* o) {
  Tensor t = to_tensor(o, "indexing");
  if (PyList_Check(o) && t.size() == 0) t = Tensor::empty(DType::kInt64, t.shape());  // x[[]]
  if (t.rank() == 0 && is_int(t.dtype()) && t.concrete()) return Index::at(t.item_int());
  return Index::tensor(t);
}

Index from_item(PyObject* o) {
  if (o == Py_None) return Index::new_axis();
  if (o == Py_Ellipsis) return Index::ellipsis();
  if (PySlice_Check(o)) return from_slice(o);
  if (PyBool_Check(o)) return Index::tensor(weak_scalar(o, DType::kBool));
  if (PyLong_Check(o)) return Index::at(to_int(o, "indexing: position"));
  if (PyFloat_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) bad_index(o);
  if (is_tensor(o) || is_operand(o)) return from_array(o);
  if (PyIndex_Check(o)) return Index::at(to_int(o, "indexing: position"));
  bad_index(o);
}

std::vector<Index> from_index(PyObject* o) {
  std::vector<Index> index;
  if (!PyTuple_Check(o)) {
    index.push_back(from_item(o));
    return index;
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i)
    index.push_back(from_item(PyTuple_GetItem(o, i)));
  return index;
}

}  // namespace

PyObject* tensor_subscript(PyObject* self, PyObject* index) {
  return guarded([&] {
    std::vector<Index> items = from_index(index);
    const Tensor x = value_of(self);
    return wrap(runtime::get_item(x, items));
  });
}

int tensor_assign(PyObject* self, PyObject* index, PyObject* value) {
  return guarded_int([&] {
    if (!value) type_error("elements of a tensor cannot be deleted");
    std::vector<Index> items = from_index(index);
    const Tensor x = value_of(self);
    Tensor y = runtime::set_item(x, items, to_operand(value, x.dtype(), "indexing: value"));
    TensorObject* t = as_object(self);
    (t->param ? t->param->value : t->value) = std::move(y);
    return 0;
  });
}

}  // namespace mycel::bind
