// Element types and tensors of GraphDefs.
#pragma once

#include <string>

#include "interop/tensorflow/proto.h"
#include "tensor/tensor.h"

namespace mycel::interop::tensorflow {

// False for types that Mycel has not (strings, resources, quantized ones).
bool parse_graph_dtype(int code, DType* out);
std::string graph_dtype_name(int code);

// A tensor as it lies in the file: all its elements, or fewer, of which the last stands for the
// rest (none: zeros). ValueError naming `owner`.
struct StoredTensor {
  Tensor values;  // flat
  Shape shape;
};
StoredTensor read_graph_tensor(const pb::Tensor& t, const std::string& owner);

}  // namespace mycel::interop::tensorflow
