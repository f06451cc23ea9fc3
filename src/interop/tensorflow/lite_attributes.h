// The options table of a TFLite operator as attributes with TF's names.
#pragma once

#include "interop/tensorflow/graph.h"
#include "interop/tensorflow/tflite_generated.h"

namespace mycel::interop::tensorflow {

namespace fb = mycel::interop::tflite;

// The element types that Mycel has; kUnsupported naming the others. INT4 is read as int8.
DType dtype_of_code(int code, const std::string& owner);

// Fills attrs and graphs of `n`.
void read_attributes(const fb::Operator& from, Node& n);

}  // namespace mycel::interop::tensorflow
