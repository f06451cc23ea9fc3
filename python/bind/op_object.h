// Ops as Python callables. `Op` is a function object for one record; `Primitive` is the published
// class form of the same record: constructed with some attributes, called with operands and the
// others. Both bind their arguments from the record's signature.
#pragma once

#include <vector>

#include "bind/python.h"
#include "ir/op.h"
#include "tensor/tensor.h"

namespace mycel::bind {

// Arguments by place: operands first, then attributes. Borrowed pointers; null where not given.
struct Arguments {
  explicit Arguments(const ir::Op& o) : op(o), slots(o.inputs.size() + o.attrs.size(), nullptr) {}
  const ir::Op& op;
  std::vector<PyObject*> slots;
  std::vector<PyObject*> variadic;  // operands of the last, variadic input
};

// Runs the op on bound arguments; defaults fill what is missing. TypeError when an operand is
// missing.
PyObject* run_op(const Arguments& a);

// The callable of a record; always the same object. Borrowed.
PyObject* op_object(const ir::Op& op);
void bind_ops(nb::module_& m);
void bind_primitive(nb::module_& m);

// The interned names of an op's parameters: operands, then attributes.
const std::vector<PyObject*>& parameter_names(const ir::Op& op);

// Fills `a` from a vectorcall: positional values go to the places listed in `order`, keywords by
// name to any place that is listed. TypeErrors in `name`'s name.
void bind_arguments(Arguments& a, const std::vector<int>& order, const char* name,
                    PyObject* const* args, size_t count, PyObject* keywords);
// The places a caller sees: all but the key of a random op, which is drawn from the random state.
std::vector<int> visible_places(const ir::Op& op);

}  // namespace mycel::bind
