// protobuf's classes for ONNX files, included in this one place.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include "interop/onnx/onnx.pb.h"
#pragma GCC diagnostic pop

namespace mycel::interop::onnx {

namespace pb = mycel::onnx_pb;

}  // namespace mycel::interop::onnx
