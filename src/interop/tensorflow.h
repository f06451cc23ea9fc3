// TFLite files and frozen TensorFlow graphs (GraphDef, "PB") in. What is read is the same kind of
// model as an ONNX file gives (interop/onnx.h): a function on tensors that runs compiled or op by
// op. What reads the formats is in libmycel_tensorflow, loaded with the first call.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interop/onnx.h"

namespace mycel::interop {

// UserError kOs when the file cannot be opened; kValue naming offset, tensor or node when it is
// damaged; kUnsupported naming the operator that Mycel cannot run. Quantized ops compute what the
// published reference kernels compute, bit for bit.
std::shared_ptr<OnnxModel> load_tflite(const std::string& path);
std::shared_ptr<OnnxModel> parse_tflite(std::string_view bytes);

// `inputs`, `outputs`: names of nodes ("x", "x:0"). Empty: the placeholders in the order of the
// file; the nodes whose results nothing reads.
std::shared_ptr<OnnxModel> load_tensorflow(const std::string& path,
                                           const std::vector<std::string>& inputs = {},
                                           const std::vector<std::string>& outputs = {});
std::shared_ptr<OnnxModel> parse_tensorflow(std::string_view bytes,
                                            const std::vector<std::string>& inputs = {},
                                            const std::vector<std::string>& outputs = {});

struct TensorflowOp {
  std::string lite, graph;  // its names in the two formats; "": not there
  bool quantized = false;   // TFLite's integers with a scale are read too
};
std::vector<TensorflowOp> tensorflow_ops();

}  // namespace mycel::interop

namespace mycel {
using interop::load_tensorflow;
using interop::load_tflite;
using interop::parse_tensorflow;
using interop::parse_tflite;
}  // namespace mycel
