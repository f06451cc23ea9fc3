// Layers, initializers, optimizers and metrics for Python: handles to the C++ objects, and the
// records from which mycel/nn makes its classes. Nothing is computed here.
#pragma once

#include <string>
#include <vector>

#include "bind/python.h"
#include "nn/args.h"
#include "nn/cell.h"

namespace mycel::bind {

// Arguments of a call as the C++ side wants them. `kwargs` may be null.
struct CallArgs {
  std::vector<nn::Arg> positional;
  nn::NamedArgs named;
};
CallArgs to_args(const nn::Signature& signature, nb::handle args, nb::handle kwargs);

// A Python cell, or any callable on tensors, as a C++ cell. One made from a C++ layer gives that
// layer.
nn::CellPtr to_cell(nb::handle o);
// The Python object behind a C++ cell: what to_cell was given, else null.
PyObject* python_cell(const nn::Cell& cell);

// What a signature says, for inspect.Signature: [(name, has_default, default, kind)].
nb::list describe(const nn::Signature& s);
nb::object from_arg(const nn::Arg& a);

// Tells a function under compilation that it reads all parameters of a cell.
void touch(const nn::Cell& cell);

// From a tuple of tensors (None for an absent one) and back: one result alone, several as a tuple.
Tensors to_tensors(nb::handle sequence, const char* what);
nb::object from_tensors(const Tensors& t);

void bind_nn_layers(nb::module_& m);
void bind_nn_optimizers(nb::module_& m);
void bind_nn_metrics(nb::module_& m);
void bind_nn_probability(nb::module_& m);
void bind_nn(nb::module_& m);

}  // namespace mycel::bind
