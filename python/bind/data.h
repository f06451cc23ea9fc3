// Datasets for Python: handles to the C++ pipeline, sources and functions written in Python, and
// the records from which mycel/dataset makes its classes.
#pragma once

#include "bind/python.h"
#include "data/dataset.h"
#include "data/option.h"
#include "data/transform.h"

namespace mycel::bind {

// The C++ dataset behind a handle (_mycel.data.Pipeline), and a handle.
data::DatasetPtr to_dataset(nb::handle o);
nb::object from_dataset(data::DatasetPtr d);

// A value of a row from a Tensor, array, number, str, bytes, sequence of these or PIL image.
// TypeError naming `what` otherwise.
data::Value to_value(nb::handle o, const char* what);
// A NumPy array that nobody else sees; strings as str.
nb::object from_value(const data::Value& v);
// The same for what is given to users who asked for tensors: strings stay arrays.
nb::object tensor_from_value(const data::Value& v);
// The values of a row from a sequence.
data::Row to_row(nb::handle values, const char* what);

// A Python function on the arrays of a row as a transform: f(*arrays) -> array or tuple.
data::TransformPtr python_transform(nb::handle f);
// The C++ transform behind a handle, or python_transform of a callable.
data::TransformPtr to_transform(nb::handle o, const char* what);

data::Option to_option(nb::handle o, const std::string& what);
// [(name, has default, default, choice or None, kind)], for inspect.Signature.
nb::list describe(const data::OptionSpecs& specs);

void bind_data(nb::module_& m);
void bind_data_records(nb::module_& data);
void bind_data_mindrecord(nb::module_& data);
void bind_data_arrow(nb::module_& data);
void bind_data_graph(nb::module_& data);
void bind_train(nb::module_& m);

}  // namespace mycel::bind
