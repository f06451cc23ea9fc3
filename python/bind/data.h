// Datasets for Python: handles to the C++ pipeline, and sources and functions written in Python.
#pragma once

#include "bind/python.h"
#include "data/dataset.h"

namespace mycel::bind {

// The C++ dataset behind a handle (_mycel.data.Pipeline).
data::DatasetPtr to_dataset(nb::handle o);

void bind_data(nb::module_& m);
void bind_train(nb::module_& m);

}  // namespace mycel::bind
