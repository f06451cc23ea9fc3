// The bytes of an ONNX file walked before protobuf reads them: every field lies inside its message,
// nesting is bounded, and what the messages would take as objects stays in proportion to the bytes.
// protobuf says only that something is wrong; this says where.
#pragma once

#include <string_view>

namespace mycel::interop::onnx {

// ValueError naming the offset.
void check_wire(std::string_view bytes);

}  // namespace mycel::interop::onnx
