// An ONNX file as a graph in which open extents are known as such: the model is traced for one set
// of extents, and once more for each with that one changed; numbers that change with it follow from
// it.
#pragma once

#include "interop/script/recovered.h"
#include "tensor/shape.h"

namespace mycel::interop::script {

// `shapes`: extents of inputs by name, "" for the only input.
Recovered recover_onnx(const std::string& path, const std::map<std::string, Shape>& shapes);

}  // namespace mycel::interop::script
