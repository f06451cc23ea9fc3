// Tensors of ONNX files: element types, the places where a file keeps elements, and data that lies
// in files beside the model.
#pragma once

#include <string>

#include "interop/onnx/proto.h"
#include "tensor/tensor.h"

namespace mycel::interop::onnx {

// Numbers of TensorProto.DataType. UserError naming `owner` for those that Mycel has not: strings,
// floats of 8, 6 and 4 bits, integers of 4 and 2 bits.
DType dtype_of_code(int64_t code, const std::string& owner);
int code_of(DType t);
std::string name_of_code(int64_t code);  // "FLOAT16"

// Reads a tensor and frees the copy of its elements that the message holds. The number of elements
// is compared with what is there before memory is asked for.
Tensor read_tensor(pb::Tensor& t, const std::string& folder);
void write_tensor(pb::Tensor& into, const Tensor& t, const std::string& name);

}  // namespace mycel::interop::onnx
