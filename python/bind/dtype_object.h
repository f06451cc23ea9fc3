// mycel.float32 and its siblings: one Python object per element type, compared by identity.
#pragma once

#include "bind/python.h"
#include "tensor/dtype.h"

namespace mycel::bind {

// Borrowed.
PyObject* dtype_object(DType t);
bool is_dtype_object(PyObject* o);
// From a dtype object, a NumPy dtype or scalar type, a Python type (bool, int, float, complex) or a
// name; false when it is none of them.
bool to_dtype(PyObject* o, DType* out);
// The same; TypeError naming `what` otherwise.
DType require_dtype(PyObject* o, const char* what);

void bind_dtype(nb::module_& m);

}  // namespace mycel::bind
